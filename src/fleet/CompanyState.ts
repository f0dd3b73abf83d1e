/** A company of a fleet: its row, what a turn of it can end with, and what each end does to the row. */
import * as Duration from "effect/Duration"
import * as Match from "effect/Match"
import * as Schema from "effect/Schema"
import { type ErrorKind, type ListError, retryAfterOf } from "../ApiError.ts"
import { CompanyId } from "../Ids.ts"
import { printable } from "../internal/text/printable.ts"
import { openWord, Seconds } from "../internal/wire/schema.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { backoff, longestWait } from "./Schedule.ts"

/**
 * Whether a company is synced.
 *
 * - `active`: on its schedule.
 * - `paused`: an operator paused it.
 * - `blocked`: it failed in a way that only a person can cure; `reason` says how.
 * - `quarantined`: it ended its process several times, or failed with a defect five times in a row.
 */
export const FleetState = Schema.Literals(["active", "paused", "blocked", "quarantined"])

export type FleetState = typeof FleetState.Type

/** What the sync of a company is at: `first` until a first sync run is complete, `sweep` within a sweep, else `increment`. */
export const FleetPhase = Schema.Literals(["first", "increment", "sweep"])

export type FleetPhase = typeof FleetPhase.Type

/** An error that a turn ended with. */
export const CompanyError = Schema.Struct({
  /** When, by the clock of the database. */
  at: Schema.DateTimeUtcFromString,
  /** The tag of the error, with its reason for a `TokenError` or a `SyncError`: `SyncError.Store`. */
  tag: Schema.String,
  /** Its message: one printable line of at most 500 characters. */
  text: Schema.String
})

export type CompanyError = typeof CompanyError.Type

/** What is known of a company in a fleet: an element of `fleet list --json`. */
export const CompanyStatus = Schema.Struct({
  /** The company. */
  companyId: CompanyId,
  /** Whether it is synced, and why not. */
  state: openWord(FleetState),
  /** What its next turn continues or begins. */
  phase: openWord(FleetPhase),
  /** Why it is blocked or quarantined, or who paused it (`FleetOperator`); `None` if that is not known, and while it is active. */
  reason: Schema.OptionFromNullOr(Schema.String),
  /** The interval of its syncs; encoded as `everySeconds`. */
  every: Seconds,
  /** When it is due. */
  nextAt: Schema.DateTimeUtcFromString,
  /** The start of the last complete sync run: the copy has every change before it. `None` before the first one. */
  lastOkAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromString),
  /**
   * How much older than its interval the last complete sync run is, or the company if there was none. At least 0; encoded as
   * `lateSeconds`.
   */
  late: Seconds,
  /** Failed turns in a row. */
  failures: Schema.Int,
  /** The error of the last turn that failed; `None` if a sync run was completed since. */
  lastError: Schema.OptionFromNullOr(CompanyError),
  /** Rows that turns have written since the company was added: not the rows of the copy. */
  rows: Schema.Int
}).pipe(Schema.encodeKeys({ every: "everySeconds", late: "lateSeconds" }))

export type CompanyStatus = typeof CompanyStatus.Type

/** Why a turn failed: a tag that is counted, a line for a person, and how long the service asks to wait. */
export interface Failure {
  readonly tag: string
  readonly text: string
  /** Zero, or absent: it does not say. */
  readonly retryAfter?: Duration.Duration
}

/** What a turn ended with. Each kind has its row in `rules`. */
export type Outcome =
  | { readonly _tag: "Complete"; readonly isResumed: boolean }
  /** Its pages are used up. `isEmpty`: none of them had a row. */
  | { readonly _tag: "TurnOver"; readonly isEmpty: boolean }
  | { readonly _tag: "Transient"; readonly failure: Failure }
  | { readonly _tag: "StoreFailed"; readonly failure: Failure }
  | { readonly _tag: "Throttled"; readonly failure: Failure }
  | { readonly _tag: "Refused"; readonly failure: Failure }
  | { readonly _tag: "Invalid"; readonly failure: Failure }
  | { readonly _tag: "NoCredential"; readonly failure: Failure; readonly reason: "InvalidClient" | "Rejected" }
  | { readonly _tag: "Unreadable"; readonly failure: Failure }
  | { readonly _tag: "TooManyMissing"; readonly failure: Failure }
  | { readonly _tag: "Defect"; readonly failure: Failure }

export type OutcomeTag = Outcome["_tag"]

/** What the decision needs of the row, as it is when the turn ends. */
export interface RowAtEnd {
  readonly state: FleetState
  readonly every: number
  readonly failures: number
  /** The tag of the failures in a row of which `tagCount` are counted since `tagSince`. */
  readonly tag: string | undefined
  readonly tagCount: number
  readonly tagSince: number | undefined
}

/** What the decision needs of the fleet. All times are in milliseconds, by the clock of the database. */
export interface EndContext {
  readonly now: number
  /** From 0 to 1, for the backoff. */
  readonly random: number
  /** Whether the turn has stored a page. */
  readonly isPaged: boolean
  readonly credentials: "shared" | "perCompany"
  /** Whether any pause holds that is not the operator's: a probe then counts no strikes, nor does what it judges. */
  readonly isPaused: boolean
  /** Other companies whose turns were throttled in the last minute, without a success of any company since. */
  readonly throttledOthers: number
  /** Companies, with this one, that ended `Unauthorized` within the longer of a minute and the interval, without a success since. */
  readonly unauthorized: number
  /** Whether another process, which is granted a token, had a success within the longer of a minute and the interval. */
  readonly isServedElsewhere: boolean
  /** Active companies. */
  readonly active: number
}

/** When a company is due next. */
export type Next =
  | { readonly _tag: "Now" }
  | { readonly _tag: "Slot" }
  | { readonly _tag: "In"; readonly millis: number }

/** A pause of the whole fleet. Without `millis` it holds until a probe succeeds. */
export interface NewPause {
  readonly reason: "RateLimited" | "Unauthorized" | "InvalidClient" | "Rejected"
  readonly millis: number | undefined
}

/** What the end of a turn does to its row. */
export interface Decision {
  readonly state: FleetState
  readonly reason: string | undefined
  readonly next: Next
  readonly failures: number
  readonly strike: { readonly tag: string; readonly count: number; readonly since: number } | undefined
  /** What becomes of the last error: it is cleared, unless that of a sweep must stay; kept; or replaced. */
  readonly error: "clear" | "keep" | Failure
  readonly pause: NewPause | undefined
}

/** What the end of a turn does to an active row, before its state is considered. */
type Verdict = Omit<Decision, "state" | "reason"> & {
  readonly transition: "stays" | "blocked" | "quarantined"
}

const minute = 60_000

/** The rule of each kind of end. A kind without a rule does not compile. */
const judge = (outcome: Outcome, row: RowAtEnd, context: EndContext): Verdict =>
  Match.valueTags(outcome, {
    Complete: ({ isResumed }): Verdict => ({ ...quiet, next: isResumed ? { _tag: "Now" } : { _tag: "Slot" } }),
    TurnOver: ({ isEmpty }): Verdict => ({
      ...quiet,
      next: isEmpty ? { _tag: "In", millis: emptyWait } : { _tag: "Now" },
      failures: context.isPaged ? 0 : row.failures,
      error: "keep"
    }),
    Transient: ({ failure }): Verdict => failed(failure, row, context),
    StoreFailed: ({ failure }): Verdict => {
      const verdict = failed(failure, row, context)
      return { ...verdict, next: within(verdict.next, longestStoreWait) }
    },
    Throttled: ({ failure }): Verdict => {
      const verdict = failed(failure, row, context)
      const millis = demandedBy(failure)
      return {
        ...verdict,
        next: millis > 0 ? { _tag: "In", millis } : notBefore(verdict.next, minute * (1 + 0.2 * context.random)),
        pause: context.throttledOthers < 2
          ? undefined
          : { reason: "RateLimited", millis: Math.min(Math.max(minute, millis), 15 * minute) }
      }
    },
    Refused: ({ failure }): Verdict => {
      const verdict = failed(failure, row, context)
      if (failure.tag === "Unauthorized" && context.unauthorized >= Math.min(10, Math.max(context.active, 1))) {
        return { ...verdict, pause: { reason: "Unauthorized", millis: undefined } }
      }
      return { ...verdict, ...strikes(failure, row, context, 3, "blocked", Math.max(15 * minute, 2 * row.every)) }
    },
    Invalid: ({ failure }): Verdict => ({ ...failed(failure, row, context), transition: "blocked" }),
    NoCredential: ({ failure, reason }): Verdict => {
      const verdict = failed(failure, row, context)
      return context.credentials === "perCompany"
        ? { ...verdict, transition: "blocked" }
        : {
          ...verdict,
          next: { _tag: "Now" },
          pause: context.isServedElsewhere ? undefined : { reason, millis: undefined }
        }
    },
    Unreadable: ({ failure }): Verdict => ({
      ...failed(failure, row, context),
      ...strikes(failure, row, context, 3, "blocked")
    }),
    TooManyMissing: ({ failure }): Verdict => ({ ...quiet, error: failure }),
    Defect: ({ failure }): Verdict => ({
      ...failed(failure, row, context),
      ...strikes(failure, row, context, 5, "quarantined")
    })
  })

const quiet: Verdict = {
  transition: "stays",
  next: { _tag: "Slot" },
  failures: 0,
  strike: undefined,
  error: "clear",
  pause: undefined
}

/** The wait behind a turn of empty pages: a service whose cursors lead nowhere would be asked as fast as it answers. */
const emptyWait = 5000

/** The longest wait after a failure of the database, which other turns show as soon as it is over. */
const longestStoreWait = 30_000

/** Services of this kind block for a minute, and do not say so: an earlier turn would only be refused. */
const notBefore = (next: Next, millis: number): Next =>
  next._tag === "In" ? { _tag: "In", millis: Math.max(next.millis, Math.floor(millis)) } : next

const within = (next: Next, millis: number): Next =>
  next._tag === "In" ? { _tag: "In", millis: Math.min(next.millis, millis) } : next

/** The milliseconds that the service asks to wait. Zero is also what a date of the past says: a page ignores it too. */
const demandedBy = ({ retryAfter = Duration.zero }: Failure): number =>
  Math.min(Duration.toMillis(retryAfter), longestWait)

const failed = (failure: Failure, row: RowAtEnd, { isPaged, random }: EndContext): Verdict => {
  const before = isPaged ? 0 : row.failures
  const millis = backoff(row.every, before, random)
  return {
    ...quiet,
    next: notBefore({ _tag: "In", millis }, demandedBy(failure)),
    failures: before + 1,
    error: failure
  }
}

/** The failures of one tag in a row. None is counted while a pause holds: the fault is not the company's. */
const struck = ({ tag }: Failure, row: RowAtEnd, { isPaused, now }: EndContext): Decision["strike"] => {
  if (isPaused) {
    return row.tag === undefined ? undefined : { tag: row.tag, count: row.tagCount, since: row.tagSince ?? now }
  }
  return row.tag === tag
    ? { tag, count: row.tagCount + 1, since: row.tagSince ?? now }
    : { tag, count: 1, since: now }
}

/** The failures of one tag in a row, and what the company becomes once these are `most`, over `age` milliseconds. */
const strikes = (
  failure: Failure,
  row: RowAtEnd,
  context: EndContext,
  most: number,
  transition: "blocked" | "quarantined",
  age = -Infinity
): Pick<Verdict, "strike" | "transition"> => {
  const strike = struck(failure, row, context)
  const isOut = strike !== undefined && strike.count >= most && context.now - strike.since >= age
  return { strike, transition: isOut ? transition : "stays" }
}

/** What the end of a turn does to its row. A state that was set while the turn ran stays. */
export const decide = (outcome: Outcome, row: RowAtEnd, context: EndContext): Decision => {
  const { transition, ...verdict } = judge(outcome, row, context)
  return row.state === "active" && transition !== "stays"
    ? { ...verdict, state: transition, reason: outcomeName(outcome) }
    : { ...verdict, state: row.state, reason: undefined }
}

/** What `fleet_run` keeps of an end. */
export const outcomeName = (outcome: Outcome): string => "failure" in outcome ? outcome.failure.tag : outcome._tag

/** Tags of runs that were throttled. */
export const throttledTags: ReadonlyArray<string> = ["RateLimited", "TokenError.Throttled"]

/** Characters of an error that are kept. */
const mostText = 500

const failureOf = (tag: string, text: string): Failure => ({ tag, text: printable(text).slice(0, mostText) })

const syncOutcomes: { readonly [R in SyncError["reason"]["_tag"]]: (failure: Failure) => Outcome } = {
  Checkpoint: (failure) => ({ _tag: "Invalid", failure }),
  // Of a rollout: a process of that release may take the next turn, so the company waits little and is never blocked.
  NewerCheckpoint: (failure) => ({ _tag: "StoreFailed", failure }),
  CursorLost: (failure) => ({ _tag: "Unreadable", failure }),
  // The turn has tried again already.
  Superseded: (failure) => ({ _tag: "Transient", failure }),
  TooManyMissing: (failure) => ({ _tag: "TooManyMissing", failure }),
  Store: (failure) => ({ _tag: "StoreFailed", failure })
}

const outcomes: { readonly [K in ErrorKind]: (failure: Failure, error: ListError) => Outcome } = {
  // A limit of the caller says nothing of the company.
  request: (failure, error) => ({ _tag: error._tag === "LimitReached" ? "Transient" : "Invalid", failure }),
  credential: (failure, error) =>
    error._tag === "TokenError" && (error.reason === "InvalidClient" || error.reason === "Rejected")
      ? { _tag: "NoCredential", failure, reason: error.reason }
      : { _tag: "Refused", failure },
  permission: (failure) => ({ _tag: "Refused", failure }),
  throttled: (failure) => ({ _tag: "Throttled", failure }),
  service: (failure) => ({ _tag: "Transient", failure }),
  answer: (failure) => ({ _tag: "Unreadable", failure })
}

/** In a fleet the guid comes with its company, and from no variable. */
const textOf = (error: ListError | SyncError): string =>
  error._tag === "InvalidRequest" && error.field === "company.guid"
    ? `no guid, which an OAuth client must send: add the company again as ${error.companyId}=GUID, then resume it`
    : error.message

/** What an error of a sync is to the fleet. An error without a kind does not compile. */
export const outcomeOf = (error: ListError | SyncError): Outcome => {
  const tag = error._tag === "SyncError"
    ? `SyncError.${error.reason._tag}`
    : error._tag === "TokenError"
    ? `TokenError.${error.reason}`
    : error._tag
  const failure = failureOf(tag, textOf(error))
  return error._tag === "SyncError"
    ? syncOutcomes[error.reason._tag](failure)
    : outcomes[error.kind]({ ...failure, retryAfter: retryAfterOf(error) }, error)
}

/** A turn that did not end in time. */
export const deadline: Outcome = {
  _tag: "Transient",
  failure: failureOf("Deadline", "the turn did not end three minutes after its deadline")
}

/** A turn that died. What it died of may hold anything, so only its message is kept. */
export const defectOf = (message: string): Outcome => ({ _tag: "Defect", failure: failureOf("Defect", message) })

/** Which pass a turn was at when it ended. */
export interface PhaseAtEnd {
  readonly phase: FleetPhase
  /** Whether a sweep, or the first pass that stands for one, was completed: the next slot of the sweeps is taken. */
  readonly isSwept: boolean
}

/** The phase after a turn, from the phase before it and what it was at last; `undefined` if it did nothing. */
export const phaseAfter = (
  before: FleetPhase,
  outcome: Outcome,
  at: "first" | "increment" | "sweep" | undefined
): PhaseAtEnd => {
  if (outcome._tag === "Complete") return { phase: "increment", isSwept: before === "first" || at === "sweep" }
  if (outcome._tag === "TooManyMissing") return { phase: "increment", isSwept: true }
  return { phase: before === "first" || at === undefined ? before : at, isSwept: false }
}
