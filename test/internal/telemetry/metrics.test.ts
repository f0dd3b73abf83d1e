/** What is counted and logged, without ids. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, Metric, References } from "effect"
import { TestClock } from "effect/testing"
import { pageRead, renewed, retrying } from "../../../src/internal/telemetry/metrics.ts"

/** The values of all metrics by name and labels, after `self`. */
const metricsAfter = (self: Effect.Effect<unknown>) =>
  Effect.andThen(self, Metric.snapshot).pipe(
    Effect.map((all) =>
      Object.fromEntries(all.map(({ attributes, id, state }) => {
        const { unit: _, ...labels } = { ...attributes }
        return [[id, ...Object.values(labels)].join(" "), "count" in state ? state.count : undefined]
      }))
    ),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

describe("pageRead", () => {
  it.effect("counts pages and rows, and records the seconds since the start", () =>
    Effect.gen(function*() {
      const metrics = yield* Metric.snapshot.pipe(
        (snapshot) =>
          Effect.gen(function*() {
            const started = yield* Clock.monotonicTimeNanos
            yield* TestClock.adjust("1500 millis")
            yield* pageRead(200, started)
            yield* pageRead(50, yield* Clock.monotonicTimeNanos)
            return yield* snapshot
          }),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
      const stateOf = (name: string) => metrics.find(({ id }) => id === name)?.state

      assert.deepInclude(stateOf("time_punches_pages"), { count: 2 })
      assert.deepInclude(stateOf("time_punches_punches"), { count: 250 })
      assert.deepInclude(stateOf("time_punches_page_duration_seconds"), { count: 2, sum: 1.5, max: 1.5 })
    }))
})

const second = { attempt: 2, attempts: 4 }

describe("retrying", () => {
  it.effect("counts retries by what and reason, and adds up their waits", () =>
    Effect.gen(function*() {
      const metrics = yield* metricsAfter(
        Effect.all([
          retrying({ what: "page", reason: "503", delay: 250, ...second }),
          retrying({ what: "page", reason: "503", delay: 500, ...second }),
          retrying({ what: "token", reason: "Timeout", delay: 250, ...second })
        ])
      )

      assert.deepStrictEqual(metrics, {
        "time_punches_retries page 503": 2,
        "time_punches_retries token Timeout": 1,
        "time_punches_retry_wait_seconds": 1
      })
    }))

  it.effect.each([["Debug", 999], ["Warn", 1000], ["Warn", 40_000]] as const)(
    "logs at %s with a wait of %d ms",
    ([level, delay]) =>
      Effect.gen(function*() {
        const lines: Array<readonly [string, unknown]> = []
        const logger = Logger.make(({ logLevel, message }) => void lines.push([logLevel, message]))
        yield* retrying({ what: "page", reason: "503", delay, ...second }).pipe(
          Effect.provide(Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Trace")))
        )

        assert.deepStrictEqual(lines.map(([level]) => level), [level])
        assert.match(String(lines[0]?.[1]), /^page failed \(503\), next attempt in \d+(ms|s)/)
      })
  )
})

describe("renewed", () => {
  it.effect("counts token requests by outcome", () =>
    Effect.gen(function*() {
      const metrics = yield* metricsAfter(Effect.all([renewed("issued"), renewed("issued"), renewed("Throttled")]))

      assert.deepStrictEqual(metrics, {
        "time_punches_token_renewals issued": 2,
        "time_punches_token_renewals Throttled": 1
      })
    }))
})
