/** The `./report` subpath: the punches of a period as one page of HTML. A close has its own in `./close`. */
export type { NameLookup } from "./page.ts"
export { queryWindow, type ReportOptions, toHtmlReport } from "./report.ts"
