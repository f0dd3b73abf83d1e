/** The `./report` subpath: the punches of a period, or a close, as one page of HTML. */
export { type CloseListing, closeListing, type CloseReportOptions, toHtmlCloseReport } from "./close.ts"
export type { NameOf } from "./page.ts"
export { type ReportOptions, reportWindow, toHtmlReport } from "./report.ts"
