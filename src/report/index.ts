/** The `./report` subpath: the punches of a period as one page of HTML. A close has its own in `./close`. */
export type { NameOf } from "./page.ts"
export { type ReportOptions, reportWindow, toHtmlReport } from "./report.ts"
