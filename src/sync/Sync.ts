/** START HERE. Keeps a copy of a company's punches complete: the changes since the last pass, and sweeps for the rest. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ListError } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { monotonicMillis } from "../internal/resilience/retry.ts"
import type { TimePunches } from "../TimePunches.ts"
import type { Batch } from "./Batch.ts"
import type { Checkpoint } from "./Checkpoint.ts"
import { type Call, type Goal, makePasses } from "./passes.ts"
import { type SyncError, withCheckpoint } from "./SyncError.ts"
import {
  type BatchesOptions,
  type RunOptions,
  type SweepBatchesOptions,
  type SweepOptions,
  type SyncSummary,
  validateCheckpoint,
  validateOptions,
  validateSweep
} from "./SyncOptions.ts"
import { SyncStore } from "./SyncStore.ts"

// MERGED execute.ts: Carries the batches of a call into the store: joins them, commits them, counts what they did.

export const execute = (
  call: Call,
  duration: number,
  { claim = false, onCommit = () => Effect.succeed(true) }: RunOptions
): Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore> =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* SyncStore
    const end = (yield* monotonicMillis) + duration
    const { company, writer } = call
    const loaded = yield* store.load(company.id)
    yield* validateCheckpoint(call, loaded)
    let stored = loaded
    let from = loaded
    const counts = { punches: 0, written: 0, unchanged: 0, gone: 0 }
    let lateness = 0

    const put = Effect.fnUntraced(function*(batch: Batch) {
      const committed = yield* store.commit(batch, stored)
      if (batch.kind === "increment") lateness = Math.max(lateness, between(committed.oldestModified, stored))
      stored = Option.some(batch.checkpoint)
      counts.punches += batch.punches.length
      counts.written += committed.written
      counts.unchanged += committed.unchanged
      counts.gone += committed.gone
    })

    /** A refused mark must not hold up the increments: the rows of the page are stored without it, then the call fails. */
    const commit = (batch: Batch): Effect.Effect<void, SyncError> =>
      put(batch).pipe(
        Effect.catchIf(
          (error) => error.reason === "TooManyGone",
          (error) => Effect.andThen(put({ ...batch, gone: Option.none() }), Effect.fail(error))
        ),
        Effect.mapError((error) => withCheckpoint(error, stored))
      )

    if (claim && Option.isSome(loaded)) {
      const checkpoint = { ...loaded.value, writer }
      const kind = Option.match(checkpoint.running, { onNone: () => "increment" as const, onSome: ({ kind }) => kind })
      const { pass } = checkpoint
      yield* commit({ company: company.id, kind, pass, punches: [], checkpoint, gone: Option.none() })
      from = Option.some(checkpoint)
    }

    const passes = yield* makePasses(call, from)
    /** Batches of one attempt that are read and not yet committed. */
    let joined: ReadonlyArray<Batch> = []
    /** Whether all that was read is committed. */
    let isWhole = true

    const summary = (): SyncSummary => {
      const { complete, kind, pages, restarts } = passes.progress()
      return {
        kind: kind === "confirm" ? "sweep" : kind,
        complete: complete && isWhole,
        resumed: Option.exists(loaded, ({ running }) => Option.isSome(running)),
        pages,
        ...counts,
        restarts,
        watermark: Option.flatMap(stored, ({ watermark }) => watermark),
        lateness: lateness === 0 ? Option.none() : Option.some(Duration.millis(lateness))
      }
    }

    /** Commits what is joined, and says whether to continue. */
    const flush = Effect.suspend(() => {
      const batch = join(joined)
      joined = []
      return batch === undefined ? Effect.succeed(true) : Effect.flatMap(commit(batch), () => onCommit(summary()))
    })

    if (claim && Option.isSome(loaded) && !(yield* onCommit(summary()))) return summary()
    while (true) {
      const next = yield* Effect.result(passes.next)
      if (Result.isFailure(next)) {
        yield* flush
        return yield* Effect.fail(next.failure)
      }
      if (Option.isNone(next.success)) {
        yield* flush
        return summary()
      }
      const batch = next.success.value
      isWhole = false
      if (!isOneAttempt(joined, batch) && !(yield* flush)) return summary()
      joined = [...joined, batch]
      isWhole = true
      const isFull = joined.length >= store.pagesPerCommit || Option.isSome(batch.gone)
      if (isFull && !(yield* flush)) return summary()
      if ((yield* monotonicMillis) >= end) {
        yield* flush
        return summary()
      }
    }
  }))

const isOneAttempt = (joined: ReadonlyArray<Batch>, { kind, pass }: Batch): boolean =>
  joined.every((batch) => batch.kind === kind && batch.pass === pass)

/** The batches of one attempt as one: all rows in order, the last checkpoint. */
const join = (batches: ReadonlyArray<Batch>): Batch | undefined => {
  const last = batches.at(-1)
  return last === undefined ? undefined : { ...last, punches: batches.flatMap(({ punches }) => punches) }
}

/** Milliseconds by which a change is older than the watermark before it. */
const between = (
  oldest: Option.Option<{ readonly epochMilliseconds: number }>,
  stored: Option.Option<Batch["checkpoint"]>
): number =>
  Option.match(Option.all([Option.flatMap(stored, ({ watermark }) => watermark), oldest]), {
    onNone: () => 0,
    onSome: ([watermark, modified]) => watermark.epochMilliseconds - modified.epochMilliseconds
  })

const pass: Effect.Effect<Goal> = Effect.succeed({ _tag: "Pass" })

/**
 * Completes the pass that is running, or else does one: a first load where there is no watermark, an increment where there
 * is one. Then it ends. Rows and checkpoint of a batch belong together: store both, or neither, before the next is pulled.
 * Fails with a `SyncError` or a `ListError`; a later call continues from the last checkpoint that was stored.
 */
export const batches = (
  company: CompanyId | Company,
  from: Option.Option<Checkpoint>,
  options?: BatchesOptions
): Stream.Stream<Batch, SyncError | ListError, TimePunches> =>
  Stream.unwrap(Effect.gen(function*() {
    const { call } = yield* validateOptions(company, options)
    return yield* batchesOf({ ...call, goal: yield* pass }, from)
  }))

/**
 * Lists a window of clock-ins without `modified_since`, then the changes since, to find what increments cannot see: rows
 * that were removed or withdrawn, edited breaks. With the last batch comes `gone`: the consumer marks those rows, and
 * holds to the limit. A pass that is running is completed first. Without a watermark it is a first load.
 */
export const sweepBatches = (
  company: CompanyId | Company,
  from: Checkpoint,
  options?: SweepBatchesOptions
): Stream.Stream<Batch, SyncError | ListError, TimePunches> =>
  Stream.unwrap(Effect.gen(function*() {
    const { call } = yield* validateOptions(company, options)
    return yield* batchesOf({ ...call, goal: yield* validateSweep(company, options) }, Option.some(from))
  }))

/**
 * Carries one pass into the store: completes what is running, or does what `changes` does. On failure all that was committed
 * stays, and the next call continues there. Run it on a schedule; two calls at once are safe, one of them is `Superseded`.
 */
export const run = (
  company: CompanyId | Company,
  options: RunOptions = {}
): Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore> =>
  Effect.gen(function*() {
    const { call, duration } = yield* validateOptions(company, options)
    return yield* execute({ ...call, goal: yield* pass }, duration, options)
  }).pipe(Effect.withSpan("Sync.run"))

/**
 * Carries a sweep into the store: lists a window of clock-ins, then marks the rows of the copy that the service no longer
 * shows there. A running increment is completed first; a running sweep of a window that contains this one is completed and
 * is the answer. Fails with `TooManyGone` where too many rows are missing; the rest of the sweep is stored.
 */
export const sweep = (
  company: CompanyId | Company,
  options: SweepOptions = {}
): Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore> =>
  Effect.gen(function*() {
    const { call, duration } = yield* validateOptions(company, options)
    return yield* execute({ ...call, goal: yield* validateSweep(company, options) }, duration, options)
  }).pipe(Effect.withSpan("Sync.sweep"))

const batchesOf = (call: Call, from: Option.Option<Checkpoint>) =>
  Effect.gen(function*() {
    yield* validateCheckpoint(call, from)
    const passes = yield* makePasses(call, from)
    return Stream.unfold(
      undefined,
      () => Effect.map(passes.next, (batch) => Option.isNone(batch) ? undefined : [batch.value, undefined] as const)
    )
  })
