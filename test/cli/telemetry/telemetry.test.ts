/** What a collector receives of the real command, and that it disturbs nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { defaultCompany, defaultOAuthClient, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { pages } from "../../docs/support/pages.ts"
import { type Answer, Collector, type Export, metricsOf, objectsWith, spansOf } from "../../support/collector.ts"
import { canary, findHidden } from "../canaries.ts"
import { ended, environmentOf, start, started } from "../child.ts"
import { cli, environment, temporaryFolder } from "../support.ts"

const { guid, id } = defaultCompany
/** A company that the service does not have. */
const unknown = `${id + 1}=3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f61`

const punches = generatePunches({ count: 300, companyId: id, deletedShare: 0 })
  .map((punch) => Object.assign(punch, { notes: `${canary} was late` }))

/** The service with two pages of punches, and a collector that answers so. */
const served = (answer: Answer = 200) =>
  Layer.merge(
    FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches }))),
    Collector.layerAnswering(answer)
  )

const key = "Vendor5Key6Of7Us"

/** The variables of a run that a collector receives. */
const variablesOf = Effect.gen(function*() {
  const { url } = yield* FakeServer
  const collector = yield* Collector
  return {
    ...environmentOf(url),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${encodeURIComponent(key)}`
  }
})

/** What of a run is in what was exported and must not be. */
const leaksOf = (exports: ReadonlyArray<Export>) =>
  Effect.map(Effect.flatMap(FakeService, ({ requests }) => requests), (requests) => {
    const sent = (read: (request: typeof requests[number]) => string | undefined) =>
      requests.map(read).filter((text) => text !== undefined)
    const hidden = [
      canary,
      guid,
      key,
      defaultOAuthClient.clientSecret,
      ...sent(({ headers }) => headers["authorization"]?.replace("Bearer ", "")),
      ...sent(({ query }) => query["cursor"])
    ]
    assert.isAbove(hidden.length, 5)
    return exports.flatMap(({ path, text }) =>
      hidden.filter((each) => findHidden(text, each)).map((each) => `${path}: ${each}`)
    )
  })

/** The metrics of a fleet that the page of metrics names. */
const ofFleet = [
  ...(pages.find(({ path }) => path === "docs/10-looking-inside.md")?.text ?? "").matchAll(
    /^- `(time_punches_fleet_\w+)`:/gm
  )
].map(([, name = ""]) => name)

const pathsOf = (exports: ReadonlyArray<Export>) => new Set(exports.map(({ path }) => path))

const listed = (parent: string | undefined) => [
  ["POST", "TokenCache.renew"],
  ["TokenCache.renew", undefined],
  ["GET", "TimePunches.page"],
  ["TimePunches.page", "TimePunches.list"],
  ["GET", "TimePunches.page"],
  ["TimePunches.page", "TimePunches.list"],
  ["TimePunches.list", parent]
]

describe("a collector", () => {
  it.live("receives the spans and metrics of sync and export, under the name of the command, and nothing private", () =>
    Effect.gen(function*() {
      const env = yield* variablesOf
      const collector = yield* Collector
      const folder = yield* temporaryFolder
      const synced = yield* ended(start(["sync", "--database", `${folder}/a.db`], env))
      const afterSync = yield* collector.exports
      const age = metricsOf(afterSync).get("time_punches_copy_age_seconds") ?? NaN
      const exported = yield* ended(start(["export", "--output", `${folder}/a.csv`], env))
      const all = yield* collector.exports
      const afterExport = all.slice(afterSync.length)
      const familiesOf = (exports: ReadonlyArray<Export>) => spansOf(exports).map(({ name, parent }) => [name, parent])

      assert.deepStrictEqual([synced.code, exported.code], [0, 0])
      assert.sameDeepMembers(familiesOf(afterSync), [
        ...listed("Sync.run"),
        // The look for deleted punches.
        ["GET", "TimePunches.page"],
        ["TimePunches.page", "Sync.run"],
        ["Sync.run", undefined]
      ])
      assert.sameDeepMembers(familiesOf(afterExport), listed(undefined))
      assert.isAtLeast(age, 0)
      // Seconds.
      assert.isBelow(age, 60)
      for (const exports of [afterSync, afterExport]) {
        assert.strictEqual(metricsOf(exports).get("time_punches_punches"), 300)
        assert.isTrue(exports.every(({ headers }) => headers["x-key"] === key))
        const resource = objectsWith(exports.map(({ body }) => body), "key", "value")
        assert.deepInclude(resource, { key: "service.name", value: { stringValue: "time-punches" } })
      }
      assert.deepStrictEqual(yield* leaksOf(all), [])
    }).pipe(Effect.scoped, Effect.provide(served())))

  it.live("receives the turns of a fleet down to the pages, its metrics and its log, and nothing private", () =>
    Effect.gen(function*() {
      const env = yield* variablesOf
      const folder = yield* temporaryFolder
      const database = ["--database", `${folder}/a.db`]
      yield* ended(start(["fleet", "add", `${id}=${guid}`, unknown, ...database], env))
      const fleet = yield* started(["fleet", "run", "--verbose", ...database], {
        ...env,
        OTEL_METRIC_EXPORT_INTERVAL: "200",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test"
      })
      const { exports } = yield* Collector
      yield* Effect.repeat(Effect.delay(exports, "100 millis"), {
        until: (all) =>
          metricsOf(all).get("time_punches_punches") === 300 &&
          // The company that is unknown has failed, too.
          (metricsOf(all).get("time_punches_fleet_turn_duration_seconds") ?? 0) >= 2
      })
      const metrics = metricsOf(yield* exports)
      fleet.child.kill("SIGTERM")
      const { code, stderr } = yield* ended(fleet)
      const all = yield* exports
      const spans = spansOf(all)
      const resource = objectsWith(all.map(({ body }) => body), "key", "value")

      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(pathsOf(all), new Set(["/v1/traces", "/v1/metrics", "/v1/logs"]))
      for (
        const [name, ...parents] of [
          ["Fleet.turn", undefined],
          ["Sync.run", "Fleet.turn"],
          ["TimePunches.list", "Sync.run"],
          // Without a list: the look for deleted punches.
          ["TimePunches.page", "TimePunches.list", "Sync.run"],
          ["GET", "TimePunches.page"]
        ]
      ) {
        const some = spans.filter((span) => span.name === name)
        assert.isNotEmpty(some, name)
        assert.deepStrictEqual([...new Set(some.map((span) => span.parent))], parents, name)
      }
      // Of an error no text, which the service writes.
      const failed = objectsWith(all, "spanId", "status").map(({ status }) => status)
        .flatMap((status) =>
          typeof status === "object" && status !== null && "message" in status ? [status.message] : []
        )
      assert.deepStrictEqual(new Set(failed), new Set(["Forbidden", "HttpClientError.StatusCodeError"]))
      // The statements of its loops would be more than all others.
      assert.deepStrictEqual(spans.filter(({ name }) => String(name).startsWith("sql.")), [])
      assert.include(JSON.stringify(objectsWith(all, "severityText", "body")), "the fleet runs")
      const missing = ofFleet.filter((name) => !metrics.has(name))
      // Nothing has happened that these count.
      assert.sameMembers(
        missing,
        ["refused_writes", "lost_turns", "helped_claims", "repeated_starts", "failed_statements"].map((name) =>
          `time_punches_fleet_${name}`
        )
      )
      assert.isBelow(metrics.get("time_punches_fleet_claim_age_seconds") ?? NaN, 60)
      assert.deepInclude(resource, { key: "deployment.environment.name", value: { stringValue: "test" } })
      assert.deepStrictEqual(yield* leaksOf(all), [])
    }).pipe(Effect.scoped, Effect.provide(served())))

  it.live("receives the age of a copy also from a pass that fails", () =>
    Effect.gen(function*() {
      const env = { ...yield* variablesOf, OTEL_TRACES_EXPORTER: "none" }
      const sync = ["sync", "--database", `${yield* temporaryFolder}/a.db`]
      yield* ended(start(sync, env))
      yield* Effect.flatMap(FakeService, (service) => service.inject(Fault.status(403)))
      yield* Effect.sleep("2 seconds")
      const { code } = yield* ended(start(sync, env))
      const age = metricsOf(yield* (yield* Collector).exports).get("time_punches_copy_age_seconds")

      assert.strictEqual(code, 5)
      assert.isAtLeast(age ?? NaN, 2)
    }).pipe(Effect.scoped, Effect.provide(served())))

  it.live("receives protobuf, compressed, if the variables say so", () =>
    Effect.gen(function*() {
      const env = {
        ...yield* variablesOf,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
        OTEL_METRICS_EXPORTER: "none"
      }
      const { code } = yield* ended(start(["export", "--output", "-"], env))
      const all = yield* (yield* Collector).exports

      assert.strictEqual(code, 0)
      assert.deepStrictEqual(all.map(({ path }) => path), ["/v1/traces"])
      assert.strictEqual(all[0]?.headers["content-type"], "application/x-protobuf")
      assert.strictEqual(all[0]?.headers["content-encoding"], "gzip")
      assert.include(all[0]?.text, "TimePunches.page")
      assert.deepStrictEqual(yield* leaksOf(all), [])
    }).pipe(Effect.scoped, Effect.provide(served())))

  /** How long a run holds up its end before such a collector, in milliseconds. */
  const heldUp = (answer: Answer | "away") =>
    Effect.gen(function*() {
      const env = yield* variablesOf
      const away = answer === "away" ? { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" } : {}
      const folder = yield* temporaryFolder
      const running = yield* started(["sync", "--database", `${folder}/a.db`], { ...env, ...away })
      yield* Effect.promise(() => running.printed("first load"))
      const printedAt = performance.now()
      const { code, stderr, stdout } = yield* ended(running)

      assert.strictEqual(code, 0)
      assert.match(stdout, /^first load: 300 punches, 2 pages, 300 written, 0 unchanged, watermark \S+\n$/)
      assert.strictEqual(stderr, "")
      return performance.now() - printedAt
    }).pipe(Effect.scoped, Effect.provide(served(answer === "away" ? 200 : answer)))

  it.live("changes neither output nor exit code, and holds up the end for two seconds at most", () =>
    Effect.gen(function*() {
      const waits = yield* Effect.forEach(["silent", "headers"] as const, heldUp)
      // A request may take ten seconds until then.
      assert.isBelow(Math.max(...waits), 9000)
      for (const answer of [500, 429, "away"] as const) {
        assert.isBelow(yield* heldUp(answer), Math.min(...waits), `${answer}`)
      }
    }))

  it.live("holds up the end of a fleet for two seconds at most", () =>
    Effect.gen(function*() {
      const env = yield* variablesOf
      const database = ["--database", `${yield* temporaryFolder}/a.db`]
      yield* ended(start(["fleet", "add", `${id}=${guid}`, ...database], env))
      const fleet = yield* started(["fleet", "run", ...database], env)
      const { exports } = yield* Collector
      // A request hangs already. The end of the turns and of the process comes on top.
      yield* Effect.repeat(Effect.delay(exports, "100 millis"), { until: (all) => all.length > 0 })
      fleet.child.kill("SIGTERM")
      const { code, stderr } = yield* ended(fleet)

      assert.strictEqual(code, 0, stderr)
      assert.notInclude(stderr, "cut off")
    }).pipe(Effect.scoped, Effect.provide(served("silent"))))

  it.live("receives nothing if the exporter is disabled, or no variable names it", () =>
    Effect.gen(function*() {
      const { OTEL_EXPORTER_OTLP_ENDPOINT, ...others } = yield* variablesOf
      const disabled = { ...others, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: "true" }
      const codes = yield* Effect.forEach(
        [others, disabled],
        (env) => Effect.map(ended(start(["export", "--output", "-"], env)), ({ code }) => code)
      )

      assert.deepStrictEqual(codes, [0, 0])
      assert.deepStrictEqual(yield* (yield* Collector).exports, [])
    }).pipe(Effect.scoped, Effect.provide(served())))
})

describe("a variable of OpenTelemetry", () => {
  const commands = [["sync", "--database", "a.db"], ["export", "--output", "-"], ["fleet", "run", "--database", "a.db"]]

  const invalid: ReadonlyArray<readonly [name: string, value: string, mustBe: string]> = [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "an address of http or https"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", `http://u:${canary}@h/`, "without user"],
    ["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", `http://h/?key=${canary}`, "query"],
    ["OTEL_EXPORTER_OTLP_HEADERS", canary, "headers as name=value"],
    ["OTEL_EXPORTER_OTLP_HEADERS", `x-key=${canary}%0Ax: y`, "visible ASCII"],
    ["OTEL_EXPORTER_OTLP_METRICS_HEADERS", `x-key=${canary}%`, "headers as name=value"],
    ["OTEL_RESOURCE_ATTRIBUTES", `${canary}`, "attributes as name=value"],
    ["OTEL_RESOURCE_ATTRIBUTES", `a=%${canary}`, "percent-encoded"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/json or http/protobuf"],
    ["OTEL_TRACES_EXPORTER", "console", "otlp or none"],
    ["OTEL_SDK_DISABLED", "1", "true or false"],
    ["OTEL_EXPORTER_OTLP_COMPRESSION", "br", "gzip or none"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "2s", "a whole number"],
    ["OTEL_METRIC_EXPORT_INTERVAL", "0", "a whole number"],
    ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "-1", "a whole number"],
    ["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "lowmemory", "cumulative or delta"]
  ]

  it.live.each(invalid)(
    "ends a run with 3 before anything is sent if it is not valid: %s=%s",
    ([name, value, mustBe]) =>
      Effect.gen(function*() {
        const env = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", [name]: value }
        for (const command of commands) {
          const { code, stderr, stdout } = yield* cli(command, { env })

          assert.strictEqual(code, 3, stderr)
          assert.include(stderr, `${name} must be`)
          assert.include(stderr, mustBe)
          assert.notInclude(stderr, canary)
          assert.strictEqual(stdout, "")
        }
        assert.deepStrictEqual(yield* (yield* FakeService).requests, [])
      }).pipe(Effect.provide(FakeService.layer({ punches: [] })))
  )
})
