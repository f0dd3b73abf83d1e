/** The `./report` subpath: the punches of a period, or a close, as one page of HTML. It needs `echarts`. */
export { type CloseListing, closeListing, type CloseReportOptions, toHtmlCloseReport } from "./close.ts"
export { type ReportOptions, reportWindow, toHtmlReport } from "./report.ts"
