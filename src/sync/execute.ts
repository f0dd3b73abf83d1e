/** Carries the batches of a call into the store: joins them, commits them, counts what they did. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ListError } from "../ApiError.ts"
import type { TimePunches } from "../TimePunches.ts"
import type { Batch } from "./Batch.ts"
import { validateCheckpoint } from "./options.ts"
import { type Call, makePasses } from "./passes.ts"
import { type SyncError, withCheckpoint } from "./SyncError.ts"
import type { RunOptions, SyncSummary } from "./SyncOptions.ts"
import { SyncStore } from "./SyncStore.ts"

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

export const execute = (
  call: Call,
  duration: number,
  { claim = false, onCommit = () => Effect.succeed(true) }: RunOptions
): Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore> =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* SyncStore
    const end = (yield* now) + duration
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
      if ((yield* now) >= end) {
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
