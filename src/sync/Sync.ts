/**
 * START HERE. Keeps a copy of a company's punches complete. The first pass is a full load, an increment reads what has
 * changed since, and a sweep reconciles: it finds what no increment can see.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ListError } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { unknownOf } from "../internal/wire/unknown.ts"
import type { TimePunches } from "../TimePunches.ts"
import type { Batch } from "./Batch.ts"
import { blankCheckpoint, type Checkpoint, type PassKind } from "./Checkpoint.ts"
import { type Call, makePasses, noRows } from "./passes.ts"
import { type SyncError, withCheckpoint } from "./SyncError.ts"
import {
  callOf,
  readKeys,
  sweepCallOf,
  type SweepOptions,
  type SweepReadOptions,
  type SyncOptions,
  type SyncReadOptions,
  type SyncSummary,
  validateCheckpoint
} from "./SyncOptions.ts"
import { SyncStore } from "./SyncStore.ts"

/**
 * Carries one pass into the store: completes the pass that is running, or begins the one that is due: a first load or an
 * increment. After a failure everything that was committed stays, and the next call continues there. Run it on a schedule;
 * of two calls at once, one fails with `Superseded` and no row is lost.
 *
 * It needs a `SyncStore`: provide `SqlStore.layer` of `effect-time-punches/sql`, or a store of yours. Without one the compiler
 * names `SyncStore` as a requirement that is left.
 */
export const run = (
  company: CompanyId | Company,
  options: SyncOptions = {}
): Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore> =>
  Effect.flatMap(callOf(company, options), (call) => execute(call, options)).pipe(Effect.withSpan("Sync.run"))

/**
 * A sweep reconciles; the first pass is a full load. Lists a window of clock-ins, then marks the rows of the copy that the
 * service no longer shows there. It first completes a running increment; a running sweep whose window contains this one
 * is completed instead, and is the answer. Without a watermark it does the first load. Fails with `TooManyMissing` if too many
 * rows are missing; the rest of the sweep is stored.
 */
export const sweep = (
  company: CompanyId | Company,
  options: SweepOptions = {}
): Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore> =>
  Effect.flatMap(sweepCallOf(company, options), (call) => execute(call, options)).pipe(Effect.withSpan("Sync.sweep"))

/**
 * The batches of one pass, for a store of the caller's own: completes the pass that is running, or begins the one that is due,
 * a first load or an increment, and ends. Store the rows and the checkpoint of a batch together, or neither, before the next
 * is pulled. Fails with a `SyncError` or a `ListError`; a later call continues from the last checkpoint that was stored.
 */
export const batches = (
  company: CompanyId | Company,
  from: Option.Option<Checkpoint>,
  options?: SyncReadOptions
): Stream.Stream<Batch, SyncError | ListError, TimePunches> =>
  Stream.unwrap(Effect.flatMap(callOf(company, options, readKeys), (call) => batchesOf(call, from)))

/**
 * The batches of a sweep: lists a window of clock-ins without `modified_since`, then the changes since, to find what
 * increments cannot see: rows that were removed or withdrawn, edited breaks. `missing` comes with the last batch: the caller
 * marks those rows and applies the limit. It first completes a pass that is running. Without a watermark it is a first load.
 */
export const sweepBatches = (
  company: CompanyId | Company,
  from: Checkpoint,
  options?: SweepReadOptions
): Stream.Stream<Batch, SyncError | ListError, TimePunches> =>
  Stream.unwrap(
    Effect.flatMap(sweepCallOf(company, options, { ...readKeys, window: true }), (call) =>
      batchesOf(call, Option.some(from)))
  )

const batchesOf = Effect.fnUntraced(function*(call: Call, from: Option.Option<Checkpoint>) {
  yield* validateCheckpoint(call, from)
  const passes = yield* makePasses(call, from)
  return Stream.unfold(
    undefined,
    () => Effect.map(passes.next, (batch) => Option.isNone(batch) ? undefined : [batch.value, undefined] as const)
  )
})

/** Carries the batches of a call into the store: joins them, commits them, counts what they did. */
const execute = Effect.fnUntraced(
  function*(call: Call, { claim = false, onCommit = () => Effect.succeed(true) }: SyncOptions) {
    const store = yield* SyncStore
    const { company, writer } = call
    const loaded = yield* store.load(company.id)
    yield* validateCheckpoint(call, loaded)
    let stored = loaded
    const counts = { punches: 0, written: 0, unchanged: 0, missing: 0 }
    let lateness = 0

    const put = Effect.fnUntraced(function*(batch: Batch) {
      const committed = yield* store.commit(batch, stored)
      if (batch.kind === "increment") lateness = Math.max(lateness, latenessOf(committed.oldestModified, stored))
      stored = Option.some(batch.checkpoint)
      counts.punches += batch.punches.length
      counts.written += committed.written
      counts.unchanged += committed.unchanged
      counts.missing += committed.missing
    })

    /** A refused mark must not hold up the increments: the rows of the page are stored without it, then the call fails. */
    const commit = (batch: Batch): Effect.Effect<void, SyncError> =>
      put(batch).pipe(
        Effect.catchIf(
          (error) => error.reason._tag === "TooManyMissing",
          (error) => Effect.andThen(put({ ...batch, missing: Option.none() }), Effect.fail(error))
        ),
        Effect.mapError((error) => withCheckpoint(error, stored))
      )

    if (claim) {
      yield* commit(claimOf({ ...Option.getOrElse(loaded, () => blankCheckpoint(company.id, writer)), writer }))
    }

    const passes = yield* makePasses(call, stored)
    /** Batches of one attempt that are read and not yet committed. */
    let joined: ReadonlyArray<Batch> = []
    /** Whether all that was read is committed. */
    let isWhole = true

    const summary = (): SyncSummary => {
      const { _tag, kind, pages, restarts } = passes.state()
      return {
        kind: kind === "confirm" ? "sweep" : kind,
        complete: _tag === "Complete" && isWhole,
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

    if (claim && !(yield* onCommit(summary()))) return summary()
    while (true) {
      const next = yield* Effect.result(passes.next)
      if (Result.isFailure(next)) {
        yield* flush
        return yield* next.failure
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
      const isFull = joined.length >= store.pagesPerCommit || Option.isSome(batch.missing)
      if (isFull && !(yield* flush)) return summary()
    }
  },
  Effect.scoped
)

/** The batch of a claim: no rows, and a checkpoint whose text no older call can replace. */
const claimOf = (checkpoint: Checkpoint): Batch => {
  const { companyId, pass, running, watermark } = checkpoint
  const due = Option.isNone(watermark) ? "first" : "increment"
  const kind = Option.match(running, { onNone: () => due, onSome: ({ kind }): PassKind => kind })
  return { companyId, kind, pass, checkpoint, ...noRows }
}

const isOneAttempt = (joined: ReadonlyArray<Batch>, { kind, pass }: Batch): boolean =>
  joined.every((batch) => batch.kind === kind && batch.pass === pass)

/** The batches of one attempt as one: all rows in order, the last checkpoint, the unknown fields of all pages. */
const join = (batches: ReadonlyArray<Batch>): Batch | undefined => {
  const last = batches.at(-1)
  const unknown = batches.flatMap((batch) => Option.toArray(batch.unknown))
  return last === undefined ? undefined : {
    ...last,
    punches: batches.flatMap(({ punches }) => punches),
    unknown: unknown.length === 0 ? Option.none() : Option.some(unknownOf(...unknown))
  }
}

/** Milliseconds by which a change is older than the watermark before it. */
const latenessOf = (
  oldest: Option.Option<{ readonly epochMilliseconds: number }>,
  stored: Option.Option<Batch["checkpoint"]>
): number =>
  Option.match(Option.all([Option.flatMap(stored, ({ watermark }) => watermark), oldest]), {
    onNone: () => 0,
    onSome: ([watermark, modified]) => watermark.epochMilliseconds - modified.epochMilliseconds
  })
