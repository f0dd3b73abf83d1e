/** Why one try of a page failed, before it is known where in the run that was. */
import type * as Option from "effect/Option"
import type * as ApiError from "../ApiError.ts"
import type { CompanyId, Cursor } from "../Ids.ts"
import type { Retry } from "../internal/resilience/retry.ts"

/** What every listing error says of its place. */
export interface Where {
  readonly companyId: CompanyId
  readonly resumeFrom: Option.Option<Cursor>
  readonly pagesCompleted: number
  readonly attempts: number
}

export interface Failure {
  /** How it may be tried again; `undefined` is for good. */
  readonly retry: Retry | undefined
  /** Whether the credential was refused, which a fresh one may cure. */
  readonly unauthorized: boolean
  readonly error: (at: Where) => ApiError.ListError
}
