/** The `./report` subpath: the punches of a period as one page of HTML. It needs `echarts`. */
export type { NameOf } from "./page.ts"
export { type ReportOptions, reportWindow, toHtmlReport } from "./report.ts"
