/** Streams that have read a page and wait for their consumer, over a transport in memory, and the timers that they hold. */
import { Effect, Layer, Stream } from "effect"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { TimePunches } from "../../src/index.ts"
import { client, company } from "./client.ts"
import { wirePage, wirePunch } from "./wire.ts"

/** A response over a stream of the core: a web stream for each of so many would be most of the time of the test. */
const responseOf = (request: HttpClientRequest.HttpClientRequest, body: Uint8Array) => {
  const headers = { "content-type": "application/json" }
  return new Proxy(HttpClientResponse.fromWeb(request, new Response(null, { headers })), {
    get: (response, key) => key === "stream" ? Stream.succeed(body) : Reflect.get(response, key)
  })
}

/** A page of one punch after a turn of the event loop, always with a next; the pages from `stuckFrom` on never come. */
export const service = (stuckFrom = Infinity) => {
  let served = 0
  const transport = HttpClient.make((request) =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.suspend(() => {
        const index = served++
        if (index >= stuckFrom) return Effect.never
        const page = JSON.stringify(wirePage([wirePunch({ id: index + 1 })], { next: `after-${index}` }))
        return Effect.succeed(responseOf(request, new TextEncoder().encode(page)))
      })
    )
  )
  return Layer.provide(Layer.orDie(client()), Layer.succeed(HttpClient.HttpClient, transport))
}

/** Timers of the process that have not fired and were not cleared. */
const liveTimers = Effect.sync(() => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length)

/** The timers of this many streams while each waits after its first page, and while some wait after their second. */
export const timersOf = (streams: number) =>
  Effect.gen(function*() {
    const before = yield* liveTimers
    const pulls = yield* Effect.forEach(Array.from({ length: streams }), () => Stream.toPull(TimePunches.list(company)))
    const turns = Effect.repeat(Effect.yieldNow, { times: 10 })
    yield* Effect.forEach(pulls, (pull) => pull, { concurrency: 1_000 })
    yield* turns
    const first = yield* liveTimers
    const again = yield* Effect.forEach(pulls.slice(0, 500), (pull) => pull, { concurrency: 500 })
    yield* turns
    return { first: first - before, second: (yield* liveTimers) - before, punches: again.flat().length }
  }).pipe(Effect.scoped, Effect.provide(service()))
