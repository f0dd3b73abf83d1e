/** The batches of a call, each when the caller pulls it: finishes the pass that is running, then does what the call is for. */
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
import { begin, contains, restart, step } from "./pass.ts"
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
  /** Random, so that no two calls write the same text. */
  readonly writer: string
}

/** What a call has done so far. */
export interface Progress {
  /** What the last pass reads. */
  readonly kind: PassKind
  /** Pages of the service, also those that were discarded. */
  readonly pages: number
  readonly restarts: number
  /** Whether the call has done what it is for. */
  readonly complete: boolean
}

export interface Passes {
  /** The next batch. `None`: the call is complete, or has read as many pages as it may. */
  readonly next: Effect.Effect<Option.Option<Batch>, ListError | SyncError>
  readonly progress: () => Progress
}

/** How often a pass may begin again before its cursors count as lost. */
const mostRestarts = 3

export const makePasses = (
  call: Call,
  from: Option.Option<Checkpoint>
): Effect.Effect<Passes, never, TimePunches | Scope.Scope> =>
  Effect.gen(function*() {
    const service = yield* TimePunches
    const scope = yield* Effect.scope
    const { company, goal, overlap, writer } = call

    let checkpoint = Option.getOrElse(from, () => blankCheckpoint(call.company.id, call.writer))
    let running = Option.getOrUndefined(checkpoint.running)
    let kind: PassKind = running?.kind ?? "increment"
    /** Whether the call has done what it is for once `running` is complete. */
    let isAnswer = running !== undefined && answers(running, goal)
    let complete = false
    let highest = checkpoint.pass
    let pages = 0
    let restarts = 0
    let attempt:
      | { readonly scope: Scope.Closeable; readonly pull: Effect.Effect<Page | undefined, ListError> }
      | undefined
    let lost: SyncError | undefined
    /** Whether the pass began again since the last batch, so that no checkpoint has what it continues with. */
    let isAhead = false

    const open = Effect.fnUntraced(function*(running: RunningPass) {
      const inner = yield* Scope.fork(scope)
      const listed = service.pages(company, filterOf(running), { from: running.cursor, pageSize: 200 })
      const bounded = call.maxPages === Infinity ? listed : Stream.take(listed, call.maxPages - pages)
      const ahead = call.prefetchPages === 0
        ? bounded
        : Stream.bufferArray(bounded, { capacity: call.prefetchPages - 1 })
      const chunks = yield* Scope.provide(Stream.toPull(ahead), inner)
      let chunk: ReadonlyArray<Page> = []
      let at = 0
      const pull: Effect.Effect<Page | undefined, ListError> = Effect.suspend(() =>
        at < chunk.length
          ? Effect.succeed(chunk[at++])
          : Pull.matchEffect(chunks, {
            onSuccess: (pages) => {
              chunk = pages
              at = 0
              return pull
            },
            onFailure: Effect.failCause,
            onDone: () => Effect.undefined
          })
      )
      return { scope: inner, pull }
    })

    const close = Effect.suspend(() => {
      const ended = attempt
      attempt = undefined
      return ended === undefined ? Effect.void : Scope.close(ended.scope, Exit.void)
    })

    const emit = (kind: PassKind, pass: number, next: Checkpoint, rest: Pick<Batch, "punches" | "gone">): Batch => {
      checkpoint = next
      running = Option.getOrUndefined(next.running)
      isAhead = false
      return { company: company.id, kind, pass, checkpoint: next, ...rest }
    }

    const beginAgain = Effect.fnUntraced(function*(pass: RunningPass, why: string) {
      yield* close
      running = restart(pass)
      restarts++
      isAhead = true
      if (running.restarts <= mostRestarts) return yield* next
      lost = new SyncError({ reason: "CursorLost", companyId: company.id, detail: why })
      const without: Checkpoint = { ...checkpoint, pass: highest, writer, running: Option.none() }
      return Option.some(emit(pass.kind, highest, without, { punches: [], gone: Option.none() }))
    })

    /**
     * A pass that began again is stored before the call stops. Else a call that may read one page would discard it, and the
     * next call too, for ever.
     */
    const stop = (): Option.Option<Batch> => {
      if (!isAhead || running === undefined) return Option.none()
      const begun: Checkpoint = { ...checkpoint, writer, running: Option.some({ ...running, pass: highest }) }
      return Option.some(emit(running.kind, highest, begun, { punches: [], gone: Option.none() }))
    }

    const judge = Effect.fnUntraced(function*(pass: RunningPass, page: Page) {
      const judged = step(checkpoint, pass, page, { overlap, highest, writer, now: yield* Clock.currentTimeMillis })
      switch (judged._tag) {
        case "Cycle":
          return yield* beginAgain(pass, "the cursors of the pass lead in a circle")
        case "Earlier":
          yield* close
          running = judged.running
          isAhead = true
          return yield* next
        case "Page": {
          highest = Math.max(highest, judged.pass)
          if (Option.isNone(page.cursor.next)) yield* close
          const gone = Option.flatMap(judged.gone, (window) =>
            Option.map(pass.before, (before) => ({
              window,
              before,
              accepted: isAnswer && goal._tag === "Sweep" && goal.acceptGone
            })))
          const batch = emit(pass.kind, judged.pass, judged.checkpoint, { punches: page.items, gone })
          if (running === undefined) complete = isAnswer
          return Option.some(batch)
        }
      }
    })

    const next: Passes["next"] = Effect.suspend(() => {
      if (lost !== undefined) return Effect.fail(withCheckpoint(lost, Option.some(checkpoint)))
      if (complete || pages >= call.maxPages) return Effect.as(close, stop())
      if (running === undefined) {
        running = due(checkpoint, goal, overlap)
        isAnswer = true
      }
      const pass = running
      kind = pass.kind
      return Effect.gen(function*() {
        attempt ??= yield* open(pass)
        const read = yield* Effect.result(attempt.pull)
        if (Result.isFailure(read)) {
          if (isCycle(read.failure)) pages++
          if (isCursorRefused(read.failure)) return yield* beginAgain(pass, read.failure.message)
          yield* close
          return yield* Effect.fail(read.failure)
        }
        if (read.success === undefined) {
          return yield* Effect.die(new Error("TimePunches.pages ended before a page without a next cursor"))
        }
        pages++
        return yield* judge(pass, read.success)
      })
    })

    return { next, progress: () => ({ kind, pages, restarts, complete }) }
  })

/** Whether a call has done what it is for once this pass is complete. */
const answers = ({ kind, window }: RunningPass, goal: Goal): boolean =>
  goal._tag === "Pass" || kind === "first" ||
  (kind !== "increment" && Option.exists(window, (window) => contains(window, goal.window)))

/** The pass that a call begins where none is running. */
const due = (checkpoint: Checkpoint, goal: Goal, overlap: number): RunningPass => {
  if (Option.isNone(checkpoint.watermark)) return begin(checkpoint, "first", overlap)
  return goal._tag === "Sweep"
    ? begin(checkpoint, "sweep", overlap, { window: goal.window })
    : begin(checkpoint, "increment", overlap)
}

/**
 * No filter but these, and no order: a row that is edited out of a filter is never heard of again, and a row that moves in
 * an order is passed over. The service may hold instants finer than a millisecond: a sweep asks for a second more.
 */
const filterOf = ({ kind, since, window }: RunningPass): PunchFilter => {
  if (kind !== "sweep") return { deleted: "include", modifiedSince: Option.getOrUndefined(since) }
  const { gte, lt } = Option.getOrElse(window, (): Window => ({}))
  const clockedIn = {
    gte: gte === undefined ? undefined : instant(gte.epochMilliseconds - 1000),
    lte: lt === undefined ? undefined : instant(lt.epochMilliseconds + 1000)
  }
  return { deleted: "include", clockedIn: gte === undefined && lt === undefined ? undefined : clockedIn }
}

/** Statuses beside 422 with which a service says that it does not know a cursor. */
const unknownCursor: ReadonlyArray<number> = [400, 404, 410]

const isCycle = (error: ListError) => error._tag === "PaginationError" && error.reason === "CursorCycle"

/** Whether a request failed because of the cursor that it carried. The text of the problem does not matter. */
const isCursorRefused = (error: ListError): boolean =>
  isCycle(error) ||
  (Option.isSome(error.resumeFrom) &&
    (error._tag === "UnprocessableEntity" ||
      (error._tag === "UnexpectedStatus" && unknownCursor.includes(error.status))))
