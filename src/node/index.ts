/** The names of the `./node` subpath: the transport for Node. */
export * as NodeTransport from "./NodeTransport.ts"
