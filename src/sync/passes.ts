/**
 * The batches of a call, each when the caller pulls it: completes the pass that is running, then does what the call is for.
 * `nextRequest` and `step` decide; `makePasses` reads what they ask for.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { isRefused, type ListError } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import { monotonicMillis } from "../internal/resilience/retry.ts"
import { twoListings, usualSpelling } from "../internal/wire/spelling.ts"
import { type Lenient, RunLenient } from "../listing/contradiction.ts"
import { RunSpelling } from "../listing/spelling.ts"
import { RunVersions } from "../listing/version.ts"
import { mostEmptyPages } from "../listing/walk.ts"
import type { Page } from "../Page.ts"
import type { PunchFilter } from "../PunchFilter.ts"
import { TimePunches } from "../TimePunches.ts"
import type { Batch } from "./Batch.ts"
import {
  blankCheckpoint,
  type Checkpoint,
  instant,
  type PassKind,
  type RunningPass,
  type SweepWindow
} from "./Checkpoint.ts"
import { afterLook, askingOf, isLookDue, look, warningOf, withSpelling } from "./look.ts"
import {
  begin,
  contains,
  isAtFirstPage,
  isPowerOfTwo,
  otherListings,
  type Reads,
  restart,
  stepPage,
  unsorted,
  withVersion
} from "./pass.ts"
import { SyncError, withCheckpoint } from "./SyncError.ts"
import { CursorLost } from "./SyncReason.ts"

/** What a call is for: one pass of whatever kind is due, or a sweep of a window. */
export type Goal =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Sweep"; readonly window: SweepWindow; readonly allowMissing: boolean }

/** A call, validated. */
export interface Call extends Reads {
  readonly company: Company
  readonly goal: Goal
  readonly prefetchPages: number
  /** The most pages of the service that the call may read. */
  readonly maxPages: number
  /** The monotonic clock in milliseconds, from which on no further page is read. */
  readonly deadline: number
  /** Random, so that no two calls write the same text. */
  readonly writer: string
}

/** What a call knows between two requests. */
interface CallProgress {
  /** The checkpoint of the last batch, or the one that the call began with. */
  readonly checkpoint: Checkpoint
  /** What the last pass reads. */
  readonly kind: PassKind
  /** Pages of the service, also those that were discarded. */
  readonly pages: number
  readonly restarts: number
  /** How many times the listing has given up on empty pages since the last row. */
  readonly emptyRuns: number
}

/** A pass is running. */
export interface Reading extends CallProgress {
  readonly _tag: "Reading"
  readonly running: RunningPass
  /** Whether the call has done what it is for once the pass is complete. */
  readonly isAnswer: boolean
  /** Whether the checkpoint has `running`. `false` after the pass began again, until its next batch. */
  readonly isStored: boolean
  /** The monotonic clock when the attempt began, in milliseconds; `None` if an earlier call began it. */
  readonly begunAt: Option.Option<number>
  /** Why the first request of the pass was refused, in one listing or in the first of two. */
  readonly refusal?: ListError
}

/** Where a call stands between two requests. */
export type State =
  | Reading
  /** No pass is running, and the one that the call is for has not begun. */
  | CallProgress & { readonly _tag: "Due" }
  /** The call has done what it is for. */
  | CallProgress & { readonly _tag: "Complete" }
  /** The pass began again too often. That is stored, and remains to be said. */
  | CallProgress & { readonly _tag: "Lost"; readonly error: SyncError }

/** What a call does next. */
export type Request =
  /** Reads the next page of the pass of this state. */
  | { readonly _tag: "Read"; readonly state: Reading }
  /** Stops here, but first stores the pass that began again. */
  | { readonly _tag: "Store"; readonly state: State; readonly batch: Batch }
  /** Stops here, or is complete. */
  | { readonly _tag: "End" }
  | { readonly _tag: "Fail"; readonly error: SyncError }

/** What the outcome of a request does. */
export interface Step {
  readonly state: State
  /** `None`: the page was discarded, or there was none. */
  readonly batch: Option.Option<Batch>
  /** Whether the attempt has ended: the next request begins another one. */
  readonly isEnded: boolean
}

/** How often a pass may begin again before its cursors count as lost. */
const maxRestarts = 3

/** How often the attempt continues behind a hundred empty pages. A service that filters after paging sends many of them. */
const maxEmptyRuns = 1000

/** The state of a call before its first request. */
export const initialState = (call: Call, from: Option.Option<Checkpoint>): State => {
  const checkpoint = Option.getOrElse(from, () => blankCheckpoint(call.company.id, call.writer))
  const kind = Option.isNone(checkpoint.watermark) ? "first" : "increment"
  const isAnswer = Option.exists(checkpoint.running, (running) => answers(running, call.goal))
  return stateWith({ checkpoint, kind, pages: 0, restarts: 0, emptyRuns: 0 }, isAnswer, Option.none(), "Due")
}

/** The state that reads the pass of the checkpoint, or without one that is running, `idle`. */
const stateWith = (
  known: CallProgress,
  isAnswer: boolean,
  begunAt: Reading["begunAt"],
  idle: "Due" | "Complete"
): State =>
  Option.match(known.checkpoint.running, {
    onNone: (): State => ({ ...known, _tag: idle }),
    onSome: (running) => readingOf(known, running, isAnswer, begunAt)
  })

const readingOf = (
  known: CallProgress,
  running: RunningPass,
  isAnswer: boolean,
  begunAt: Reading["begunAt"]
): Reading => ({ ...known, _tag: "Reading", kind: running.kind, running, isAnswer, isStored: true, begunAt })

/** What a call does next, at this time of the monotonic clock. The first request is always sent. */
export const nextRequest = (call: Call, state: State, monotonic: number): Request => {
  if (state._tag === "Lost") return { _tag: "Fail", error: withCheckpoint(state.error, Option.some(state.checkpoint)) }
  if (state._tag === "Complete") return { _tag: "End" }
  const isFirstRequest = state.pages === 0 && state.restarts === 0
  if (isFirstRequest || (state.pages < call.maxPages && monotonic < call.deadline)) {
    const reading = state._tag === "Reading" ? state : beginDue(call, state)
    const begins = isAtFirstPage(reading.running)
    return { _tag: "Read", state: begins ? { ...reading, begunAt: Option.some(monotonic) } : reading }
  }
  if (state._tag === "Due" || state.isStored) return { _tag: "End" }
  // A call that may read one page would discard it, and the next call too, for ever.
  const { pass } = state.checkpoint
  const running = Option.some({ ...state.running, pass })
  return { _tag: "Store", ...emit(state, { ...state.checkpoint, writer: call.writer, running }, pass) }
}

/** When the outcome of a request was there, by both clocks, in milliseconds. */
export interface Now {
  readonly local: number
  readonly monotonic: number
}

/** What the outcome of a request for a page does, or the failure that ends the call. */
export const step = (
  call: Call,
  state: Reading,
  outcome: Result.Result<Page, ListError>,
  now: Now
): Result.Result<Step, ListError> =>
  Result.isFailure(outcome)
    ? stepFailure(call, state, outcome.failure)
    : Result.succeed(stepKept(call, state, outcome.success, now))

/** The attempt has ended without a batch. */
const discarded = (state: Reading): Step => ({ state, batch: Option.none(), isEnded: true })

/** A request failed: the attempt continues in another listing, or the pass begins again, or the call ends. */
const stepFailure = (call: Call, state: Reading, failure: ListError): Result.Result<Step, ListError> => {
  const isFirstRefused = Option.isNone(failure.resumeFrom) && isRefused(failure)
  if (state.running.sorted === true && isFirstRefused) {
    return Result.succeed(discarded({ ...state, running: unsorted(state.running) }))
  }
  if (isFirstRefused && isAtFirstPage(state.running)) {
    // The refusal of a plain listing says more: it is not about deleted punches.
    if (state.refusal !== undefined) return Result.fail(state.running.deleted === undefined ? state.refusal : failure)
    return Result.succeed(discarded({ ...state, running: otherListings(state.running, call), refusal: failure }))
  }
  if (isEmptyRun(failure) && state.emptyRuns < maxEmptyRuns) {
    return Result.succeed(discarded({ ...state, emptyRuns: state.emptyRuns + 1 }))
  }
  const pages = isCycle(failure) ? state.pages + 1 : state.pages
  return isCursorRefused(failure)
    ? Result.succeed(beginAgain(call, { ...state, pages }, failure.message))
    : Result.fail(failure)
}

/** A page was read: its rows are emitted, or it is discarded and the pass begins again. */
const stepKept = (call: Call, state: Reading, page: Page, now: Now): Step => {
  const { goal, overlap, sortById, writer } = call
  const emptyRuns = page.items.length > 0 ? 0 : state.emptyRuns
  const { refusal: _, ...known } = state
  const { begunAt, running } = known
  const spelling = running.deleted === undefined ? page.spelling : twoListings
  const checkpoint = withVersion(withSpelling(state.checkpoint, spelling), page)
  const read: Reading = { ...known, checkpoint, pages: state.pages + 1, emptyRuns }
  const elapsed = Option.map(begunAt, (begunAt) => now.monotonic - begunAt)
  const verdict = stepPage(read.checkpoint, running, page, { overlap, sortById, writer, now: now.local, elapsed })
  switch (verdict._tag) {
    case "Cycle":
      return beginAgain(call, read, "the cursors of the sync run lead in a circle")
    case "Earlier":
      return discarded({ ...read, running: verdict.running, isStored: false })
    case "Kept": {
      const { began = Option.none(), checkpoint, passId } = verdict
      const unknown = Option.some(page.unknown)
      const allowed = read.isAnswer && goal._tag === "Sweep" && goal.allowMissing
      const missing = Option.map(
        Option.all([verdict.missing, running.before]),
        ([window, before]) => ({ window, before, allowed })
      )
      const { batch, state } = emit(read, checkpoint, passId, { punches: page.items, missing, began, unknown })
      return { state, batch: Option.some(batch), isEnded: Option.isNone(page.cursor.next) }
    }
  }
}

/** A batch that has only a checkpoint. */
export const noRows = { punches: [], missing: Option.none(), began: Option.none(), unknown: Option.none() }

/** The batch with this checkpoint, and the state behind it. */
const emit = (
  state: Reading,
  checkpoint: Checkpoint,
  passId: number,
  rows: Pick<Batch, "punches" | "missing" | "began" | "unknown"> = noRows
): { readonly state: State; readonly batch: Batch } => {
  const { begunAt, emptyRuns, isAnswer, kind, pages, restarts } = state
  const known: CallProgress = { checkpoint, kind, pages, restarts, emptyRuns }
  return {
    batch: { companyId: checkpoint.companyId, kind, pass: passId, checkpoint, ...rows },
    state: stateWith(known, isAnswer, begunAt, isAnswer ? "Complete" : "Due")
  }
}

/** The pass from its first page again. When its cursors count as lost, it is dropped, and the next call begins a new one. */
const beginAgain = (call: Call, state: Reading, detail: string): Step => {
  const running = restart(state.running, Option.isSome(state.begunAt))
  const begun = { ...state, running, restarts: state.restarts + 1, isStored: false }
  if (running.restarts <= maxRestarts) return discarded(begun)
  const { checkpoint } = state
  const emitted = emit(begun, { ...checkpoint, writer: call.writer, running: Option.none() }, checkpoint.pass)
  const error = new SyncError({ companyId: call.company.id, reason: new CursorLost({ detail }) })
  return { state: { ...emitted.state, _tag: "Lost", error }, batch: Option.some(emitted.batch), isEnded: true }
}

/** The pass that a call begins if none is running. */
const beginDue = (call: Call, known: CallProgress): Reading => {
  const { goal } = call
  const { checkpoint } = known
  const running = Option.isNone(checkpoint.watermark)
    ? begin(checkpoint, "first", call)
    : goal._tag === "Sweep"
    ? begin(checkpoint, "sweep", call, { window: goal.window })
    : begin(checkpoint, "increment", call)
  return readingOf(known, running, true, Option.none())
}

/** Whether a call has done what it is for once this pass is complete. */
const answers = ({ kind, window }: RunningPass, goal: Goal): boolean =>
  goal._tag === "Pass" || kind === "first" ||
  (kind !== "increment" && Option.exists(window, (window) => contains(window, goal.window)))

/**
 * What the pass asks for. No other filter: an increment never hears of a row that is edited out of it. No other order: a row
 * that moves in it is skipped. The service may hold instants finer than a millisecond, so a sweep asks for a second more on
 * each side.
 */
export const filterOf = ({ deleted, kind, since, sorted, window }: RunningPass): PunchFilter => {
  const { gte, lt } = Option.getOrElse(kind === "sweep" ? window : Option.none(), (): SweepWindow => ({}))
  const clockedIn = {
    gte: gte === undefined ? undefined : instant(gte.epochMilliseconds - 1000),
    lte: lt === undefined ? undefined : instant(lt.epochMilliseconds + 1000)
  }
  return {
    deleted: deleted === "again" ? "exclude" : deleted ?? "include",
    modifiedSince: Option.getOrUndefined(since),
    clockedIn: gte === undefined && lt === undefined ? undefined : clockedIn,
    sortBy: sorted === true ? [["id", "asc"]] : undefined
  }
}

/** Statuses besides 422 with which a service says that it does not know a cursor. */
const unknownCursor: ReadonlyArray<number> = [400, 404, 410]

const isCycle = (error: ListError) => error._tag === "PaginationError" && error.reason === "CursorCycle"

const isEmptyRun = (error: ListError) => error._tag === "PaginationError" && error.reason === "EmptyPages"

/** Whether a request failed because of the cursor that it carried. The text of the problem does not matter. */
const isCursorRefused = (error: ListError): boolean =>
  isCycle(error) ||
  (Option.isSome(error.resumeFrom) &&
    (error._tag === "UnprocessableEntity" ||
      (error._tag === "UnexpectedStatus" && unknownCursor.includes(error.status))))

/** The batches of a call. */
export const makePasses = (call: Call, from: Option.Option<Checkpoint>) =>
  Effect.gen(function*() {
    const service = yield* TimePunches
    const scope = yield* Effect.scope
    const versions = (yield* RunVersions) ?? new Map()
    const lenient: Lenient = { seen: undefined }
    let isWarned = false
    let state = initialState(call, from)
    let attempt: { readonly scope: Scope.Closeable; readonly pull: Pull.Pull<readonly [Page], ListError> } | undefined

    const open = Effect.fnUntraced(function*({ checkpoint, pages, running }: Reading) {
      const inner = yield* Scope.fork(scope)
      const asked = askingOf(checkpoint)
      const known = { spelling: asked === twoListings ? usualSpelling : asked, isOnly: false }
      const listed = service.pages(call.company, filterOf(running), { cursor: running.cursor }).pipe(
        Stream.provideService(RunSpelling, known),
        Stream.provideService(RunVersions, versions),
        Stream.provideService(RunLenient, lenient)
      )
      const bounded = call.maxPages === Infinity ? listed : Stream.take(listed, call.maxPages - pages)
      const ahead = call.prefetchPages === 0
        ? bounded
        : Stream.bufferArray(bounded, { capacity: call.prefetchPages - 1 })
      const pull = yield* Scope.provide(Stream.toPull(Stream.rechunk(ahead, 1)), inner)
      return { scope: inner, pull: Effect.map(pull, ([page]) => [page] as const) }
    })

    const close = Effect.suspend(() => {
      const ended = attempt
      attempt = undefined
      return ended === undefined ? Effect.void : Scope.close(ended.scope, Exit.void)
    })

    /** The checkpoint of a batch, after the look that the end of its pass is due. */
    const looked = Effect.fnUntraced(
      function*({ kind, window }: RunningPass, { began, checkpoint }: Batch, now: number) {
        if (Option.isNone(began) || !isLookDue(kind, checkpoint, now)) return checkpoint
        const asked = askingOf(checkpoint)
        const isTwice = asked === twoListings
        const seen = yield* look(service, call.company, isTwice ? usualSpelling : asked).pipe(
          Effect.provideService(RunVersions, versions),
          Effect.provideService(RunLenient, { seen: undefined })
        )
        // A spelling that changed within the sweep has no look.
        const isWhole = kind === "confirm" && checkpoint.looked !== undefined &&
          Option.exists(window, ({ gte, lt }) => gte === undefined && lt === undefined)
        if (isTwice) {
          // Two listings hide nothing. Once one of both shows deleted punches, it is enough.
          const after = afterLook(checkpoint, { _tag: "shown" }, isWhole, now)
          return seen._tag === "shown" ? withSpelling(after, usualSpelling) : after
        }
        const warning = warningOf(call.company, seen, asked)
        if (warning !== undefined) yield* Effect.logWarning(warning)
        return afterLook(checkpoint, seen, isWhole, now)
      }
    )

    /** The next batch. `None`: the call is complete, or may read no further page. */
    const next: Effect.Effect<Option.Option<Batch>, ListError | SyncError> = Effect.gen(function*() {
      while (true) {
        const request = nextRequest(call, state, yield* monotonicMillis)
        if (request._tag !== "Read") yield* close
        switch (request._tag) {
          case "End":
            return Option.none()
          case "Fail":
            return yield* request.error
          case "Store":
            state = request.state
            return Option.some(request.batch)
          case "Read": {
            attempt ??= yield* open(request.state)
            const outcome = yield* Effect.result(Pull.catchDone(attempt.pull, () => endedEarly))
            if (lenient.seen !== undefined && !isWarned) {
              isWarned = true
              yield* Effect.logWarning(
                `company ${call.company.id}: the service ignores a filter: rows contradict what was sent at ${lenient.seen}`
              )
            }
            const now = { local: yield* Clock.currentTimeMillis, monotonic: yield* monotonicMillis }
            const stepped = step(call, request.state, Result.map(outcome, ([page]) => page), now)
            if (Result.isFailure(stepped) || stepped.success.isEnded) yield* close
            if (Result.isFailure(stepped)) return yield* stepped.failure
            const { batch } = stepped.success
            state = stepped.success.state
            if (state.emptyRuns > request.state.emptyRuns) yield* pause(call, state.emptyRuns, now.monotonic)
            if (Option.isNone(batch)) continue
            const checkpoint = yield* looked(request.state.running, batch.value, now.local)
            state = { ...state, checkpoint }
            return Option.some({ ...batch.value, checkpoint })
          }
        }
      }
    })

    return { next, state: () => state }
  })

/**
 * Waits behind a hundred empty pages, ever longer, from 0.1 to 5 seconds, and says so: a service whose cursors lead nowhere
 * would else be sent a hundred thousand requests as fast as it answers them. It does not wait past the deadline of the call.
 */
const pause = ({ company, deadline }: Call, emptyRuns: number, monotonic: number): Effect.Effect<void> => {
  const wait = Duration.millis(Math.max(0, Math.min(100 * 2 ** (emptyRuns - 1), 5000, deadline - monotonic)))
  const message =
    `company ${company.id}: ${emptyRuns * mostEmptyPages} pages in a row were empty, the next is requested in ` +
    Duration.format(wait)
  // A line for each wait would be a thousand of them.
  const isWarning = emptyRuns >= 8 && isPowerOfTwo(emptyRuns)
  return Effect.andThen(isWarning ? Effect.logWarning(message) : Effect.logDebug(message), Effect.sleep(wait))
}

const endedEarly = Effect.die(new Error("TimePunches.pages ended before a page without a next cursor"))
