/**
 * The batches of a call, each when the caller pulls it: completes the pass that is running, then does what the call is for.
 * `nextRequest` and `step` decide; `makePasses` reads what they ask for.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ListError } from "../ApiError.ts"
import type { Company } from "../Company.ts"
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
  type Window
} from "./Checkpoint.ts"
import { begin, contains, restart, stepPage } from "./pass.ts"
import { SyncError, withCheckpoint } from "./SyncError.ts"

/** What a call is for: one pass of whatever kind is due, or a sweep of a window. */
export type Goal =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Sweep"; readonly window: Window; readonly acceptGone: boolean }

/** A call, validated. */
export interface Call {
  readonly company: Company
  readonly goal: Goal
  /** Milliseconds that an increment reads again before the watermark. */
  readonly overlap: number
  readonly prefetchPages: number
  /** The most pages of the service that the call may read. */
  readonly maxPages: number
  /** The monotonic clock in milliseconds, from which on no further page is read. */
  readonly deadline: number
  /** Random, so that no two calls write the same text. */
  readonly writer: string
}

/** What a call knows between two requests. */
interface Known {
  /** The checkpoint of the last batch, or the one that the call began with. */
  readonly checkpoint: Checkpoint
  /** What the last pass reads. */
  readonly kind: PassKind
  /** Pages of the service, also those that were discarded. */
  readonly pages: number
  readonly restarts: number
}

/** A pass is running. */
export interface Reading extends Known {
  readonly _tag: "Reading"
  readonly running: RunningPass
  /** Whether the call has done what it is for once the pass is complete. */
  readonly isAnswer: boolean
  /** Whether the checkpoint has `running`. `false` after the pass began again, until its next batch. */
  readonly isStored: boolean
}

/** Where a call stands between two requests. */
export type State =
  | Reading
  /** No pass is running, and the one that the call is for has not begun. */
  | Known & { readonly _tag: "Due" }
  /** The call has done what it is for. */
  | Known & { readonly _tag: "Complete" }
  /** The pass began again too often. That is stored, and remains to be said. */
  | Known & { readonly _tag: "Lost"; readonly error: SyncError }

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

/** The state of a call before its first request. */
export const initialState = (call: Call, from: Option.Option<Checkpoint>): State => {
  const checkpoint = Option.getOrElse(from, () => blankCheckpoint(call.company.id, call.writer))
  const known: Known = { checkpoint, kind: "increment", pages: 0, restarts: 0 }
  return Option.match(checkpoint.running, {
    onNone: (): State => ({ ...known, _tag: "Due" }),
    onSome: (running): State => ({
      ...known,
      _tag: "Reading",
      kind: running.kind,
      running,
      isAnswer: answers(running, call.goal),
      isStored: true
    })
  })
}

/** What a call does next, at this time of the monotonic clock. It reads at least one page. */
export const nextRequest = (call: Call, state: State, monotonic: number): Request => {
  if (state._tag === "Lost") return { _tag: "Fail", error: withCheckpoint(state.error, Option.some(state.checkpoint)) }
  if (state._tag === "Complete") return { _tag: "End" }
  if (state.pages === 0 || (state.pages < call.maxPages && monotonic < call.deadline)) {
    return { _tag: "Read", state: state._tag === "Reading" ? state : beginDue(call, state) }
  }
  if (state._tag === "Due" || state.isStored) return { _tag: "End" }
  // A call that may read one page would discard it, and the next call too, for ever.
  const { pass } = state.checkpoint
  const running = Option.some({ ...state.running, pass })
  return { _tag: "Store", ...emit(state, { ...state.checkpoint, writer: call.writer, running }, pass) }
}

/** What the outcome of a request for a page does, at this local time; or the failure that ends the call. */
export const step = (
  call: Call,
  state: Reading,
  outcome: Result.Result<Page, ListError>,
  now: number
): Result.Result<Step, ListError> => {
  if (Result.isFailure(outcome)) {
    const { failure } = outcome
    const pages = isCycle(failure) ? state.pages + 1 : state.pages
    return isCursorRefused(failure)
      ? Result.succeed(beginAgain(call, { ...state, pages }, failure.message))
      : Result.fail(failure)
  }
  const { goal, overlap, writer } = call
  const page = outcome.success
  const read = { ...state, pages: state.pages + 1 }
  const { running } = read
  const judged = stepPage(read.checkpoint, running, page, { overlap, writer, now })
  switch (judged._tag) {
    case "Cycle":
      return Result.succeed(beginAgain(call, read, "the cursors of the pass lead in a circle"))
    case "Earlier":
      return Result.succeed({
        state: { ...read, running: judged.running, isStored: false },
        batch: Option.none(),
        isEnded: true
      })
    case "Kept": {
      const { checkpoint, passId } = judged
      const accepted = read.isAnswer && goal._tag === "Sweep" && goal.acceptGone
      const gone = Option.map(
        Option.all([judged.gone, running.before]),
        ([window, before]) => ({ window, before, accepted })
      )
      const { batch, state } = emit(read, checkpoint, passId, { punches: page.items, gone })
      return Result.succeed({ state, batch: Option.some(batch), isEnded: Option.isNone(page.cursor.next) })
    }
  }
}

/** The batch with this checkpoint, and the state behind it. */
const emit = (
  state: Reading,
  checkpoint: Checkpoint,
  passId: number,
  rows: Pick<Batch, "punches" | "gone"> = { punches: [], gone: Option.none() }
): { readonly state: State; readonly batch: Batch } => {
  const { isAnswer, kind, pages, restarts } = state
  const known: Known = { checkpoint, kind, pages, restarts }
  return {
    batch: { company: checkpoint.company, kind, pass: passId, checkpoint, ...rows },
    state: Option.match(checkpoint.running, {
      onNone: (): State => ({ ...known, _tag: isAnswer ? "Complete" : "Due" }),
      onSome: (running): State => ({
        ...known,
        _tag: "Reading",
        kind: running.kind,
        running,
        isAnswer,
        isStored: true
      })
    })
  }
}

/** The pass from its first page again. When its cursors count as lost, it is dropped, and the next call begins it anew. */
const beginAgain = (call: Call, state: Reading, detail: string): Step => {
  const running = restart(state.running)
  const begun = { ...state, running, restarts: state.restarts + 1, isStored: false }
  if (running.restarts <= maxRestarts) return { state: begun, batch: Option.none(), isEnded: true }
  const { checkpoint } = state
  const emitted = emit(begun, { ...checkpoint, writer: call.writer, running: Option.none() }, checkpoint.pass)
  const error = new SyncError({ reason: "CursorLost", companyId: call.company.id, detail })
  return { state: { ...emitted.state, _tag: "Lost", error }, batch: Option.some(emitted.batch), isEnded: true }
}

/** The pass that a call begins if none is running. */
const beginDue = ({ goal, overlap }: Call, { checkpoint, ...known }: Known): Reading => {
  const running = Option.isNone(checkpoint.watermark)
    ? begin(checkpoint, "first", overlap)
    : goal._tag === "Sweep"
    ? begin(checkpoint, "sweep", overlap, { window: goal.window })
    : begin(checkpoint, "increment", overlap)
  return { ...known, _tag: "Reading", checkpoint, kind: running.kind, running, isAnswer: true, isStored: true }
}

/** Whether a call has done what it is for once this pass is complete. */
const answers = ({ kind, window }: RunningPass, goal: Goal): boolean =>
  goal._tag === "Pass" || kind === "first" ||
  (kind !== "increment" && Option.exists(window, (window) => contains(window, goal.window)))

/**
 * What the pass asks for. No other filter and no order: an increment never hears of a row that is edited out of a filter,
 * and skips a row that moves in an order. The service may hold instants finer than a millisecond, so a sweep asks for a
 * second more on each side.
 */
export const filterOf = ({ kind, since, window }: RunningPass): PunchFilter => {
  if (kind !== "sweep") return { deleted: "include", modifiedSince: Option.getOrUndefined(since) }
  const { gte, lt } = Option.getOrElse(window, (): Window => ({}))
  const clockedIn = {
    gte: gte === undefined ? undefined : instant(gte.epochMilliseconds - 1000),
    lte: lt === undefined ? undefined : instant(lt.epochMilliseconds + 1000)
  }
  return { deleted: "include", clockedIn: gte === undefined && lt === undefined ? undefined : clockedIn }
}

/** Statuses besides 422 with which a service says that it does not know a cursor. */
const unknownCursor: ReadonlyArray<number> = [400, 404, 410]

const isCycle = (error: ListError) => error._tag === "PaginationError" && error.reason === "CursorCycle"

/** Whether a request failed because of the cursor that it carried. The text of the problem does not matter. */
const isCursorRefused = (error: ListError): boolean =>
  isCycle(error) ||
  (Option.isSome(error.resumeFrom) &&
    (error._tag === "UnprocessableEntity" ||
      (error._tag === "UnexpectedStatus" && unknownCursor.includes(error.status))))

/** The monotonic clock, in milliseconds. */
export const monotonicNow = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** The batches of a call. */
export interface Passes {
  /** The next batch. `None`: the call is complete, or may read no further page. */
  readonly next: Effect.Effect<Option.Option<Batch>, ListError | SyncError>
  readonly state: () => State
}

export const makePasses = (
  call: Call,
  from: Option.Option<Checkpoint>
): Effect.Effect<Passes, never, TimePunches | Scope.Scope> =>
  Effect.gen(function*() {
    const service = yield* TimePunches
    const scope = yield* Effect.scope
    let state = initialState(call, from)
    let attempt: { readonly scope: Scope.Closeable; readonly pull: Pull.Pull<readonly [Page], ListError> } | undefined

    const open = Effect.fnUntraced(function*({ pages, running }: Reading) {
      const inner = yield* Scope.fork(scope)
      const listed = service.pages(call.company, filterOf(running), { from: running.cursor, pageSize: 200 })
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

    const next: Passes["next"] = Effect.gen(function*() {
      while (true) {
        const request = nextRequest(call, state, yield* monotonicNow)
        if (request._tag !== "Read") yield* close
        switch (request._tag) {
          case "End":
            return Option.none()
          case "Fail":
            return yield* Effect.fail(request.error)
          case "Store":
            state = request.state
            return Option.some(request.batch)
          case "Read": {
            attempt ??= yield* open(request.state)
            const outcome = yield* Effect.result(Pull.catchDone(attempt.pull, () => endedEarly))
            const stepped = step(
              call,
              request.state,
              Result.map(outcome, ([page]) => page),
              yield* Clock.currentTimeMillis
            )
            if (Result.isFailure(stepped) || stepped.success.isEnded) yield* close
            if (Result.isFailure(stepped)) return yield* Effect.fail(stepped.failure)
            state = stepped.success.state
            if (Option.isSome(stepped.success.batch)) return stepped.success.batch
          }
        }
      }
    })

    return { next, state: () => state }
  })

const endedEarly = Effect.die(new Error("TimePunches.pages ended before a page without a next cursor"))
