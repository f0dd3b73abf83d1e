/** START HERE. Keeps a copy of a company's punches complete: the changes since the last pass, and sweeps for the rest. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ListError } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import type { TimePunches } from "../TimePunches.ts"
import type { Batch } from "./Batch.ts"
import type { Checkpoint } from "./Checkpoint.ts"
import { execute } from "./execute.ts"
import { validateCheckpoint, validateOptions, validateSweep } from "./options.ts"
import { type Call, type Goal, makePasses } from "./passes.ts"
import type { SyncError } from "./SyncError.ts"
import type { ChangesOptions, RunOptions, SweepChangesOptions, SweepOptions, SyncSummary } from "./SyncOptions.ts"
import type { SyncStore } from "./SyncStore.ts"

const pass: Effect.Effect<Goal> = Effect.succeed({ _tag: "Pass" })

/**
 * Completes the pass that is running, or else does one: a first load where there is no watermark, an increment where there
 * is one. Then it ends. Rows and checkpoint of a batch belong together: store both, or neither, before the next is pulled.
 * Fails with a `SyncError` or a `ListError`; a later call continues from the last checkpoint that was stored.
 *
 * @since 0.1.0
 */
export const changes = (
  company: CompanyId | Company,
  from: Option.Option<Checkpoint>,
  options?: ChangesOptions
): Stream.Stream<Batch, SyncError | ListError, TimePunches> =>
  Stream.unwrap(Effect.gen(function*() {
    const { call } = yield* validateOptions(company, options)
    return yield* batches({ ...call, goal: yield* pass }, from)
  }))

/**
 * Lists a window of clock-ins without `modified_since`, then the changes since, to find what increments cannot see: rows
 * that were removed or withdrawn, edited breaks. With the last batch comes `gone`: the consumer marks those rows, and
 * holds to the limit. A pass that is running is completed first. Without a watermark it is a first load.
 *
 * @since 0.1.0
 */
export const sweepChanges = (
  company: CompanyId | Company,
  from: Checkpoint,
  options?: SweepChangesOptions
): Stream.Stream<Batch, SyncError | ListError, TimePunches> =>
  Stream.unwrap(Effect.gen(function*() {
    const { call } = yield* validateOptions(company, options)
    return yield* batches({ ...call, goal: yield* validateSweep(company, options) }, Option.some(from))
  }))

/**
 * Carries one pass into the store: completes what is running, or does what `changes` does. On failure all that was committed
 * stays, and the next call continues there. Run it on a schedule; two calls at once are safe, one of them is `Superseded`.
 *
 * @since 0.1.0
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
 *
 * @since 0.1.0
 */
export const sweep = (
  company: CompanyId | Company,
  options: SweepOptions = {}
): Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore> =>
  Effect.gen(function*() {
    const { call, duration } = yield* validateOptions(company, options)
    return yield* execute({ ...call, goal: yield* validateSweep(company, options) }, duration, options)
  }).pipe(Effect.withSpan("Sync.sweep"))

const batches = (call: Call, from: Option.Option<Checkpoint>) =>
  Effect.gen(function*() {
    yield* validateCheckpoint(call, from)
    const passes = yield* makePasses(call, from)
    return Stream.unfold(
      undefined,
      () => Effect.map(passes.next, (batch) => Option.isNone(batch) ? undefined : [batch.value, undefined] as const)
    )
  })
