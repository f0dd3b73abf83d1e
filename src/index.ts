/** The names that an application imports, flat. */
export * from "./ApiError.ts"
export * from "./ApiVersion.ts"
export * from "./Backfill.ts"
export * from "./Credentials.ts"
export * from "./Endpoints.ts"
export * from "./Ids.ts"
export * as Labor from "./Labor.ts"
export * from "./OAuthScope.ts"
export { Page, PageCursor } from "./Page.ts"
export * as Period from "./Period.ts"
export type {
  Company,
  Criteria,
  Dates,
  EmployeeApprovalStatus,
  Filter,
  Flag,
  ListOptions,
  PageOptions,
  Range
} from "./PunchFilter.ts"
export * from "./RetryPolicy.ts"
export * from "./TimePunch.ts"
export * from "./TimePunches.ts"
export * from "./TokenCache.ts"
export * from "./TokenEndpoint.ts"
export * from "./TracePropagation.ts"
export * as WorkedTime from "./WorkedTime.ts"
