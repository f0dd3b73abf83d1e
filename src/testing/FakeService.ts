/**
 * The fake service: the whole interface of the spec over punches in memory, with faults on demand. Start here; the
 * handling itself is in `engine.ts`, and the transports are in `inProcess.ts` and `overHttp.ts`.
 *
 * It shares no code with the client, so that a mistake in one cannot hide in the other.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type { FakeRequest, FakeResponse, RecordedRequest } from "./base/message.ts"
import type { StoredPunch, WirePunch } from "./base/WirePunch.ts"
import type { Fault, FaultWhen } from "./faults/Fault.ts"
import { makeEngine } from "./service/engine.ts"
import { type FakeServiceOptions, settingsOf } from "./service/options.ts"
import { makeClient } from "./transports/inProcess.ts"
import { serve } from "./transports/overHttp.ts"

/**
 * A time-punch service in memory.
 *
 * @since 0.1.0
 */
export class FakeService extends Context.Service<FakeService, {
  /** Adds punches. One with the id of another punch of its company takes its place. */
  readonly seed: (punches: ReadonlyArray<StoredPunch | WirePunch>) => Effect.Effect<void>
  /** Takes punches out as if they had never been. */
  readonly remove: (ids: ReadonlyArray<number>) => Effect.Effect<void>
  /** Takes all punches out. */
  readonly clear: Effect.Effect<void>
  /** Adds a fault; where several fit a request, the one injected first befalls it alone. */
  readonly inject: (fault: Fault, when?: FaultWhen) => Effect.Effect<void>
  /** Takes all faults back. */
  readonly clearFaults: Effect.Effect<void>
  /** Every request so far, in order of arrival. */
  readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>
  /** Forgets the requests so far. Their numbers go on. */
  readonly clearRequests: Effect.Effect<void>
  /** How many tokens were issued, revoked ones too. */
  readonly tokensIssued: Effect.Effect<number>
  /** Makes every token issued so far invalid. */
  readonly revokeTokens: Effect.Effect<void>
  /** Requests that came and are not answered in full: those still waited for, and those whose body has stalled. */
  readonly inFlight: Effect.Effect<number>
  /** The largest number of requests that were in flight at once. */
  readonly maxInFlight: Effect.Effect<number>
  /** Answers one request, after its latency. A transport has to honour the `delivery` of the response. */
  readonly respond: (request: FakeRequest) => Effect.Effect<FakeResponse>
  /** Counts a request as in flight while an effect runs; for transports, whose part begins where `respond` ends. */
  readonly track: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("effect-time-punches/testing/FakeService") {
  /** A service with these options, and with state of its own: each call makes another layer. */
  static readonly layer = (options: FakeServiceOptions = {}): Layer.Layer<FakeService> =>
    Layer.sync(FakeService, () => make(options))

  /** An `HttpClient` that asks the service without a socket. It answers for every host. */
  static readonly layerClient: Layer.Layer<HttpClient.HttpClient, never, FakeService> = Layer.effect(
    HttpClient.HttpClient,
    FakeService.useSync(makeClient)
  )

  /** Serves over whatever `HttpServer` is provided. */
  static readonly layerServer: Layer.Layer<never, never, FakeService | HttpServer.HttpServer> = Layer.unwrap(
    FakeService.useSync(serve)
  )
}

const make = (options: FakeServiceOptions): FakeService["Service"] => {
  const engine = makeEngine(settingsOf(options))
  let inFlight = 0
  let maxInFlight = 0

  const enter = Effect.sync(() => {
    inFlight += 1
    maxInFlight = Math.max(maxInFlight, inFlight)
  })
  const leave = Effect.sync(() => {
    inFlight -= 1
  })

  const track = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.acquireUseRelease(enter, () => self, () => leave)

  const handle = (request: FakeRequest) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { delay, response } = engine.handle(request, now)
      return delay === 0 ? Effect.succeed(response) : Effect.as(Effect.sleep(delay), response)
    })

  return FakeService.of({
    seed: (punches) => Effect.sync(() => engine.table.put(punches)),
    remove: (ids) => Effect.sync(() => engine.table.remove(ids)),
    clear: Effect.sync(engine.table.clear),
    inject: (fault, when = {}) => Effect.sync(() => engine.faults.add(fault, when)),
    clearFaults: Effect.sync(engine.faults.clear),
    requests: Effect.sync(engine.requests),
    clearRequests: Effect.sync(engine.forgetRequests),
    tokensIssued: Effect.sync(engine.desk.issued),
    revokeTokens: Effect.sync(engine.desk.revokeAll),
    inFlight: Effect.sync(() => inFlight),
    maxInFlight: Effect.sync(() => maxInFlight),
    respond: (request) => track(handle(request)),
    track
  })
}
