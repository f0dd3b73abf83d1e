/** A plan over real sockets: the service on a port of its own, one of the three clients, and real time. */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Random, References, Schedule } from "effect"
import { HttpClient } from "effect/http"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { clientOf, type Plan, serviceOf } from "./plan.ts"
import { type Broken, broken, operate, type Sent, type Story } from "./run.ts"

/** The clients of Node, each with connections that are kept and bounded where that can be said. */
export const transports: ReadonlyArray<readonly [name: string, layer: Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndiciOptions({ connections: 16 })],
  ["fetch", NodeHttpClient.layerFetch],
  ["node:http", NodeHttpClient.layerNodeHttpOptions({ keepAlive: true, maxSockets: 16 })]
]

/** Longer than any plan takes on a busy machine. */
const eternity = "60 seconds"

/** Waits of the operator are for the token endpoint's memory, which is short of real time too. */
const longestPause = 1_100

/**
 * Notes each request where it leaves: one that was given up under load may reach the service as late as in the next run,
 * and would be counted there.
 */
const noted = (notes: Array<Sent>) => (client: HttpClient.HttpClient) =>
  HttpClient.tapRequest(client, ({ method, url }) =>
    Effect.sync(() => {
      const cursor = new URL(url).searchParams.get("cursor") ?? ""
      notes.push({ at: performance.now(), endpoint: method === "GET" ? "page" : "token", cursor })
    }))

/** Runs a plan to its end over one of the clients. */
export const simulateOver = (http: Layer.Layer<HttpClient.HttpClient>, plan: Plan): Effect.Effect<Story, Broken> =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const { url } = yield* FakeServer
    const notes: Array<Sent> = []
    const client = clientOf(plan, url).pipe(
      Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, noted(notes)))),
      Layer.provide(http)
    )
    const sent = Effect.andThen(service.clearRequests, Effect.sync(() => notes.splice(0)))
    const pause = (millis: number) => millis === 0 ? Effect.void : Effect.sleep(Math.min(millis, longestPause))
    const story = yield* operate(plan, { strict: false, pause, sent }).pipe(Effect.provide(client))
    // The service sees a client go a moment after it has gone.
    yield* Effect.retry(
      Effect.flatMap(
        service.inFlight,
        (open) => open === 0 ? Effect.void : broken(`${open} requests are still open after the end`)
      ),
      Schedule.spaced("5 millis").pipe(Schedule.upTo({ times: 600 }))
    )
    return story
  }).pipe(
    Effect.provide(FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer(serviceOf(plan))), Layer.orDie)),
    Random.withSeed(plan.seed),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.timeoutOrElse({ duration: eternity, orElse: () => broken(`hung: not over after ${eternity}`) })
  )
