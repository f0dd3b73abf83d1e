/** The `./payroll` subpath: periods, worked time, cost, the issues to resolve before a period is closed, and payroll files. It needs no service. */
export * as Labor from "./Labor.ts"
export { PayCalendar, PayPeriod } from "./PayCalendar.ts"
export * as PayrollFile from "./PayrollFile.ts"
export * as Period from "./Period.ts"
export * as PeriodCheck from "./PeriodCheck.ts"
export * as WorkedTime from "./WorkedTime.ts"
