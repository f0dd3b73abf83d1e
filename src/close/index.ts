/** The `./close` subpath: payroll periods of a copy that are closed, corrected and voided, and their report. */
export * as Close from "./Close.ts"
export * as CloseRecord from "./CloseRecord.ts"
export { type CloseListing, closeListing, type CloseReportOptions, toHtmlCloseReport } from "./report.ts"
