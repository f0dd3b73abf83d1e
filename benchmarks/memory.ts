/** A million punches through one stream, in a process of its own: `node --expose-gc memory.ts URL PAGES`. Prints JSON. */
import { Effect, Layer, Redacted, Stream } from "effect"
import { CompanyId, Credentials, Endpoints, TimePunches } from "../src/index.ts"
import { companyId } from "./data.ts"
import { undici } from "./endToEnd.ts"

export interface MemoryRow {
  readonly punches: number
  readonly seconds: number
  readonly peakRssMb: number
  readonly heapEarlyMb: number
  readonly heapEndMb: number
}

const heapMb = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

const measure = async (url: string, times: number): Promise<MemoryRow> => {
  const app = TimePunches.layer.pipe(
    Layer.provide(Credentials.layerAccessToken(Redacted.make("token"))),
    Layer.provide(Endpoints.layer({ baseUrl: url })),
    Layer.provide(undici)
  )
  let punches = 0
  let heapEarlyMb = 0
  const start = Date.now()
  const all = Effect.gen(function*() {
    for (let i = 0; i < times; i++) {
      yield* TimePunches.list(CompanyId.make(companyId)).pipe(
        Stream.runForEachArray((page) => Effect.sync(() => punches += page.length))
      )
      if (i === Math.floor(times / 5)) heapEarlyMb = heapMb()
    }
  })
  await Effect.runPromise(Effect.provide(all, app))
  return {
    punches,
    seconds: (Date.now() - start) / 1000,
    heapEarlyMb,
    heapEndMb: heapMb(),
    peakRssMb: process.resourceUsage().maxRSS / 1000
  }
}

if (import.meta.main) {
  const [url = "", times = "1"] = process.argv.slice(2)
  process.stdout.write(JSON.stringify(await measure(url, Number(times))))
  process.exit(0)
}
