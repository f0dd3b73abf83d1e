/** A process that streams all punches of a service once and measures its heap meanwhile; prints its figures. */
import { Console, Effect, Layer, Redacted, Stream } from "effect"
import { CompanyId, Credentials, Endpoints, TimePunches } from "../../src/index.ts"
import { defaultCompany } from "../../src/testing/index.ts"
import { transports } from "../simulation/sockets.ts"

const [, , url = "", transport = "", total = "0"] = process.argv

const [, http] = transports.find(([name]) => name === transport) ?? []
if (http === undefined || globalThis.gc === undefined) throw new Error("needs a transport and --expose-gc")
const collect = globalThis.gc

const client = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
  Layer.provide(Endpoints.layer({ baseUrl: url })),
  Layer.provide(http)
)

const tenth = Number(total) / 10

const program = Effect.gen(function*() {
  const heaps: Array<number> = []
  let count = 0
  let sum = 0
  const began = performance.now()
  yield* TimePunches.list(CompanyId.make(defaultCompany.id)).pipe(
    Stream.runForEachArray((punches) =>
      Effect.sync(() => {
        for (const { id } of punches) {
          count++
          sum += id
        }
        if (count < tenth * (heaps.length + 1)) return
        collect()
        heaps.push(process.memoryUsage().heapUsed)
      })
    )
  )
  return { count, sum, heaps, seconds: (performance.now() - began) / 1000, rss: process.resourceUsage().maxRSS * 1024 }
})

await Effect.runPromise(
  program.pipe(Effect.flatMap((result) => Console.log(JSON.stringify(result))), Effect.provide(client))
)
