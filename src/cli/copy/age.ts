/** How old the copies of a run are, as a metric that is read when it is exported. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { CompanyId } from "../../Ids.ts"
import { SyncStore } from "../../sync/SyncStore.ts"

const age = Metric.gauge("time_punches_copy_age_seconds", {
  description: "Since the last complete sync run of the copies that this process keeps; of several the oldest one",
  attributes: { unit: "s" }
})

/** Gives what reads the age of the copy of a company: as it is when the metric is exported. The series ends with the scope. */
export const watchAges = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  const context = yield* Effect.context()
  const completed = new Map<CompanyId, number>()
  let series: Metric.Registration | undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => series?.remove()))
  return Effect.fnUntraced(function*(company: CompanyId) {
    const store = yield* SyncStore
    const stored = yield* store.load(company)
    const completedAt = Option.getOrUndefined(Option.flatMap(stored, ({ completedAt }) => completedAt))
    if (completedAt === undefined) return
    completed.set(company, completedAt.epochMilliseconds)
    series ??= Metric.registerUnsafe(age, context, {
      get: () => ({ value: (clock.currentTimeMillisUnsafe() - Math.min(...completed.values())) / 1000 }),
      update: constVoid,
      modify: constVoid
    })
  })
})
