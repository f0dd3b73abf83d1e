/** Runs a plan over real sockets: a server per plan, one of the four clients, real time. */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Random, References, Schedule } from "effect"
import { HttpClient } from "effect/http"
import { NodeTransport } from "../../src/node/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { clientOf, type Plan, serviceOf } from "./plan.ts"
import { type Broken, broken, operate, type Outcome, type Sent } from "./run.ts"

/** The clients of Node, with a pool of at most 16 connections where that can be configured. */
export const transports: ReadonlyArray<readonly [name: string, layer: Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndiciOptions({ connections: 16 })],
  ["fetch", NodeHttpClient.layerFetch],
  ["node:http", NodeHttpClient.layerNodeHttpOptions({ keepAlive: true, maxSockets: 16 })],
  ["NodeTransport", Layer.orDie(NodeTransport.layer())]
]

/** Longer than any plan takes on a machine under load. */
const eternity = "3 minutes"

/** Longest pause of the operator, in milliseconds: more than the second between two token requests. */
const longestPause = 1_100

/**
 * Records each request in the client: under load, an abandoned one may reach the service as late as in the next run,
 * which would count it.
 */
const recordSent = (recorded: Array<Sent>) => (client: HttpClient.HttpClient) =>
  HttpClient.tapRequest(client, ({ method, url }) =>
    Effect.sync(() => {
      const cursor = new URL(url).searchParams.get("cursor") ?? ""
      recorded.push({ at: performance.now(), endpoint: method === "GET" ? "page" : "token", cursor })
    }))

/** Runs a plan to its end over one of the clients. */
export const simulateOver = (http: Layer.Layer<HttpClient.HttpClient>, plan: Plan): Effect.Effect<Outcome, Broken> =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const { url } = yield* FakeServer
    const recorded: Array<Sent> = []
    const client = clientOf(plan, url).pipe(
      Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, recordSent(recorded)))),
      Layer.provide(http)
    )
    const sent = Effect.andThen(service.clearRequests, Effect.sync(() => recorded.splice(0)))
    const pause = (millis: number) => millis === 0 ? Effect.void : Effect.sleep(Math.min(millis, longestPause))
    const outcome = yield* operate(plan, { strict: false, pause, sent }).pipe(Effect.provide(client))
    // The service notices a closed connection a moment later.
    yield* Effect.retry(
      Effect.flatMap(
        service.inFlight,
        (open) => open === 0 ? Effect.void : broken(`${open} requests are still open after the end`)
      ),
      Schedule.spaced("5 millis").pipe(Schedule.upTo({ times: 600 }))
    )
    return outcome
  }).pipe(
    Effect.provide(FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer(serviceOf(plan))), Layer.orDie)),
    Random.withSeed(plan.seed),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.timeoutOrElse({ duration: eternity, orElse: () => broken(`hung: not over after ${eternity}`) })
  )
