/** The library with its defaults over its own transport for Node. */
import { NodeTransport } from "../../dist/node/index.js"
import { listing } from "./ours.ts"

export const transport = NodeTransport.layer()

export const lean = listing(transport)

export const ahead = listing(transport, { prefetchPages: 1 })
