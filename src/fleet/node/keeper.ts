/** The housekeeping of a fleet: old runs, minutes and versions go, and what an operator watches is read. One process does it. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { InvalidRequest } from "../../ApiError.ts"
import { dayMillis } from "../../internal/wire/instant.ts"
import { pruneHistory } from "../../sql/history.ts"
import type { SyncError } from "../../sync/SyncError.ts"
import type { Settings } from "../Settings.ts"
import type { FleetStore } from "../store/FleetStore.ts"
import { overloadText } from "../store/runners.ts"
import { elapsed, makeLoop } from "./loop.ts"
import * as metrics from "./metrics.ts"

/** How often the keeper works, in milliseconds. */
const every = 60_000
/** How often it reads what an operator watches, in milliseconds: as often as metrics are exported by default. */
const watchEvery = 10_000
/** A reading that takes longer is an old one. */
const patience = 5000
/** How often the log says that the intervals need more requests than the limit gives, in milliseconds. */
const overloadEvery = 3_600_000

/** Whether versions are pruned now, once a day. Pure. */
export const isPruning = (now: number, prunedAt: number | undefined, historyDays: number | undefined): boolean =>
  historyDays !== undefined && (prunedAt === undefined || Math.abs(now - prunedAt) >= dayMillis)

/** Nothing else depends on the keeper: what fails is tried again later. What it reads is a metric of its process, while it is the keeper. */
export const makeKeeper = (store: FleetStore, settings: Settings) => {
  let prunedAt: number | undefined
  let overloadSaidAt = -Infinity
  const runOnce: Effect.Effect<void, SqlError | SyncError | InvalidRequest> = Effect.gen(function*() {
    yield* store.correctTimes(settings)
    yield* store.trim
    const overload = overloadText(yield* store.requests)
    const at = yield* elapsed
    if (overload !== undefined && at - overloadSaidAt >= overloadEvery) {
      overloadSaidAt = at
      yield* Effect.logWarning(`${overload}: companies become late. Lengthen the intervals, or raise the limit`)
    }
    const now = yield* DateTime.now
    if (settings.historyDays === undefined || !isPruning(now.epochMilliseconds, prunedAt, settings.historyDays)) return
    const before = DateTime.subtract(now, { days: settings.historyDays })
    for (const company of yield* store.companies) {
      yield* Effect.provideService(pruneHistory(company, { before }), SqlClient.SqlClient, store.sql)
    }
    prunedAt = now.epochMilliseconds
  })
  const watch = store.gauges.pipe(
    Effect.timeout(patience),
    Effect.tapCause(() => metrics.unknown),
    Effect.flatMap(metrics.watched)
  )
  return Effect.raceFirst(
    makeLoop("the keeper of the fleet", every, runOnce).run,
    makeLoop("the watch of the fleet", watchEvery, watch).run
  ).pipe(
    // Another process is the keeper then.
    Effect.ensuring(metrics.unknown)
  )
}
