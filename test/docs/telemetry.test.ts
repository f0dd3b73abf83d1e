/** What a collector receives from a run: nested spans, metrics, logs, and nothing private. */
import { assert, describe, it, vi } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { app } from "../../docs/examples/app.ts"
import { loopback } from "../../docs/examples/loopback.ts"
import { logsToStderr, main, telemetry, withoutSql } from "../../docs/examples/telemetry.ts"
import { Endpoints } from "../../src/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { defaultCompany, defaultOAuthClient, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { Collector, metricsOf, objectsWith, spansOf } from "../support/collector.ts"
import { environment } from "./support/examples.ts"

/** The fake service with two pages of punches, a collector, and the environment that points to both. */
const served = ConfigProvider.layer(Effect.gen(function*() {
  const { baseUrl } = yield* Endpoints
  const { url } = yield* Collector
  return ConfigProvider.fromUnknown({ ...environment(baseUrl), OTEL_EXPORTER_OTLP_ENDPOINT: url })
})).pipe(
  Layer.provideMerge(Layer.merge(
    loopback({ punches: generatePunches({ count: 300, companyId: defaultCompany.id, deletedShare: 0 }) }),
    Collector.layer
  ))
)

/** With a separate metric registry, because a process shares its default one. */
const run = Effect.provide(main, Layer.provideMerge(app, telemetry)).pipe(
  Effect.provideService(Metric.MetricRegistry, new Map())
)

describe("docs/examples/telemetry.ts", () => {
  it.live("exports the spans, metrics and logs of a run", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(503), { requests: 2 })
      yield* run
      const exports = yield* (yield* Collector).exports
      const spans = spansOf(exports)
      const familyOf = (child: string) => spans.filter(({ name }) => name === child).map(({ parent }) => parent)

      assert.deepStrictEqual(familyOf("count"), [undefined])
      assert.deepStrictEqual(familyOf("TimePunches.list"), ["count"])
      assert.deepStrictEqual(familyOf("TimePunches.page"), ["TimePunches.list", "TimePunches.list"])
      assert.deepStrictEqual(familyOf("GET"), ["TimePunches.page", "TimePunches.page", "TimePunches.page"])
      assert.deepStrictEqual(familyOf("TokenCache.renew"), [undefined])
      assert.deepStrictEqual(familyOf("POST"), ["TokenCache.renew"])
      assert.strictEqual(new Set(spans.map(({ traceId }) => traceId)).size, 2)

      // From 1, as messages count them.
      const counted = /"key":"time_punches\.page","value":\{"\w+":"?(\d+)/g
      const pages = [...JSON.stringify(exports).matchAll(counted)].map(([, page]) => Number(page))
      assert.deepStrictEqual(pages.toSorted(), [1, 2])

      const metrics = metricsOf(exports)
      assert.strictEqual(metrics.get("time_punches_pages"), 2)
      assert.strictEqual(metrics.get("time_punches_punches"), 300)
      assert.strictEqual(metrics.get("time_punches_page_duration_seconds"), 2)
      assert.strictEqual(metrics.get("time_punches_retries"), 1)
      assert.strictEqual(metrics.get("time_punches_token_renewals"), 1)

      const logs = objectsWith(exports.filter(({ path }) => path === "/v1/logs"), "severityText", "body")
      assert.include(JSON.stringify(logs), "300 punches")
    }).pipe(Effect.provide(served)))

  it.live("writes the logs to standard error on request, of a page and of a token", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.retryAfter("1"), { target: "token", times: 1 })
      yield* service.inject(Fault.retryAfter("1"), { target: "page", times: 1 })
      const [out, error] = [vi.spyOn(console, "log"), vi.spyOn(console, "error").mockImplementation(() => {})]
      const lines = yield* Effect.provide(main, Layer.provideMerge(app, logsToStderr)).pipe(
        Effect.map(() => [out, error].map(({ mock }) => mock.calls.map((words) => words.join(" ")))),
        Effect.ensuring(Effect.sync(() => [out, error].forEach((spy) => spy.mockRestore())))
      )

      assert.deepStrictEqual(
        lines.map((each) => each.map((line) => /(token|page) failed|300 punches/.exec(line)?.[0])),
        [[], ["token failed", "page failed", "300 punches"]]
      )
    }).pipe(Effect.provide(served)))

  it.live("exports the statements of SQLite, and leaves them out on request", () =>
    Effect.gen(function*() {
      const statement = SqlClient.SqlClient.use((sql) => sql.withTransaction(sql`SELECT 1`)).pipe(
        Effect.withSpan("store"),
        Effect.provide(NodeSqlite.layer({ filename: ":memory:" }))
      )
      const collector = yield* Collector
      const namesBy = (layer: typeof telemetry) =>
        Effect.gen(function*() {
          const before = spansOf(yield* collector.exports).length
          yield* Effect.provide(statement, layer)
          return spansOf(yield* collector.exports).slice(before).map(({ name }) => name).toSorted()
        })

      assert.deepStrictEqual(yield* namesBy(telemetry), ["sql.transaction", "sqlite", "store"])
      assert.deepStrictEqual(yield* namesBy(Layer.provideMerge(withoutSql, telemetry)), ["store"])
    }).pipe(Effect.provide(served)))

  it.live("exports no secret, no guid and no cursor", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* run
      const exported = JSON.stringify(yield* (yield* Collector).exports)
      const requests = yield* service.requests
      const cursor = requests.map(({ query }) => query["cursor"]).find((text) => text !== undefined)
      const token = requests.map(({ headers }) => headers["authorization"]).find((text) => text !== undefined)

      assert.isDefined(cursor)
      assert.isDefined(token)
      for (
        const hidden of [
          cursor,
          encodeURIComponent(cursor),
          token.slice(7),
          defaultOAuthClient.clientSecret,
          defaultCompany.guid
        ]
      ) {
        assert.notInclude(exported, hidden)
      }
    }).pipe(Effect.provide(served)))
})
