/** The `./report` subpath: the punches of a period as one page of HTML. A close has its own in `./close`. */
export * as Report from "./report.ts"
