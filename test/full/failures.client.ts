/** A process that lists from a faulty service until enough runs have failed; prints its heap, handles and warnings. */
import { Console, Effect, Layer, Option, Redacted, References, Result, Stream } from "effect"
import { CompanyGuid, CompanyId, Credentials, Endpoints, RetryPolicy, TimePunches } from "../../src/index.ts"
import { defaultCompany, defaultOAuthClient } from "../../src/testing/index.ts"
import { transports } from "../simulation/sockets.ts"

const [, , url = "", transport = "", count = "0"] = process.argv

const [, http] = transports.find(([name]) => name === transport) ?? transports[0] ?? []
if (http === undefined || globalThis.gc === undefined) throw new Error("needs a transport and --expose-gc")
const collect = globalThis.gc

const company = { id: CompanyId.make(defaultCompany.id), guid: CompanyGuid.make(defaultCompany.guid) }

const client = TimePunches.layer.pipe(
  Layer.provide(RetryPolicy.layer({
    attempts: 2,
    attemptTimeout: "60 millis",
    baseDelay: 0,
    throttleDelay: 0,
    budget: Infinity
  })),
  Layer.provide(Credentials.layerOAuth({
    clientId: defaultOAuthClient.clientId,
    clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
  })),
  Layer.provide(Endpoints.layer({ baseUrl: url })),
  Layer.provide(http)
)

const tags = new Map<string, number>()
const warnings: Array<string> = []
process.on("warning", (warning) => warnings.push(warning.name))
process.on("unhandledRejection", () => warnings.push("unhandledRejection"))

let failures = 0
let from = Option.none<never>()

/** Lists until there are `total` failures. */
const failUntil = (total: number) =>
  Effect.whileLoop({
    while: () => failures < total,
    body: () => Effect.result(Stream.runDrain(TimePunches.list(company, {}, { pageSize: 10, cursor: from }))),
    step: (result) => {
      if (Result.isSuccess(result)) return
      failures++
      tags.set(result.failure._tag, (tags.get(result.failure._tag) ?? 0) + 1)
    }
  })

const heapNow = Effect.gen(function*() {
  // The last requests release their memory a moment after their end.
  yield* Effect.sleep("100 millis")
  collect()
  collect()
  return process.memoryUsage().heapUsed
})

/** What keeps the process alive. It yields first, so that the timer that just fired does not count. */
const resources = Effect.andThen(
  Effect.yieldNow,
  Effect.sync(() => process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe)/.test(name)).toSorted())
)

const measure = Effect.gen(function*() {
  const before = yield* resources
  const heaps = yield* Effect.gen(function*() {
    const heaps: Array<number> = []
    for (let step = 1; step <= 10; step++) {
      yield* Effect.all(Array.from({ length: 32 }, () => failUntil(Number(count) * step / 10)), {
        concurrency: "unbounded",
        discard: true
      })
      heaps.push(yield* heapNow)
    }
    return heaps
  }).pipe(Effect.provide(client))
  // A client with a process-wide pool keeps idle connections for a few seconds.
  const after = yield* Effect.andThen(Effect.sleep("50 millis"), resources).pipe(
    Effect.repeat({ until: (now) => now.length <= before.length, times: 160 })
  )
  return { failures, heaps, before, after, tags: Object.fromEntries(tags), warnings }
})

await Effect.runPromise(
  measure.pipe(
    Effect.flatMap((result) => Console.log(JSON.stringify(result))),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
)
