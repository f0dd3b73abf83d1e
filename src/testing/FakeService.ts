/**
 * START HERE. The fake service: the whole interface of the spec over punches in memory, with faults on demand.
 * `service/engine.ts` handles requests, `faults/` changes the handling, `transports/` connects it to HTTP.
 *
 * It shares no code with the client, so that a mistake in one cannot hide in the other.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type { FakeRequest, FakeResponse, RecordedRequest } from "./base/message.ts"
import type { StoredPunch, WirePunch } from "./base/WirePunch.ts"
import type { Fault, FaultWhen } from "./faults/Fault.ts"
import type { ActiveFault } from "./faults/queue.ts"
import { makeEngine } from "./service/engine.ts"
import { type FakeAccess, type FakeServiceOptions, settingsOf } from "./service/options.ts"
import type { ChangeTime, PunchPatch } from "./service/table.ts"
import { makeClient } from "./transports/inProcess.ts"
import { serve } from "./transports/overHttp.ts"

/**
 * A time-punch service in memory, for tests. It checks credentials, filters, sorts, pages and issues tokens as the
 * interface describes, and injects faults. Its punches can change while it is listed. It tells the time by the `Clock`,
 * unless its own clock is set.
 */
export class FakeService extends Context.Service<FakeService, {
  /** What a client needs to connect: the companies, their credentials, the prefix of the paths. */
  readonly access: FakeAccess
  /** Adds punches as they are, at once. A punch replaces an earlier one with the same company and id. */
  readonly seed: (punches: ReadonlyArray<StoredPunch | WirePunch>) => Effect.Effect<void>
  /**
   * Adds punches as a user of the service does: `created` and `modified` become the service's time, to the second, and
   * listings show them after `visibleAfter`. A null stays null.
   */
  readonly add: (punches: ReadonlyArray<StoredPunch | WirePunch>) => Effect.Effect<void>
  /**
   * Edits the punches with these ids, in all companies: `modified` becomes the service's time, to the second, unless the
   * patch has one or null, and listings show it after `visibleAfter`. `{ deleted: true }` marks them as deleted. Returns the
   * number of punches that have one of the ids.
   */
  readonly edit: (ids: ReadonlyArray<number>, patch: PunchPatch) => Effect.Effect<number>
  /**
   * Removes the punches with these ids, in all companies, without a mark or a stamp, after `visibleAfter`, as a purge or
   * a restored backup does.
   */
  readonly remove: (ids: ReadonlyArray<number>) => Effect.Effect<void>
  /** The service's time, from which stamps, token lifetimes and the `date` header are taken. */
  readonly now: Effect.Effect<DateTime.Utc>
  /** Sets the service's clock, which continues from there. */
  readonly setServiceTime: (to: DateTime.DateTime) => Effect.Effect<void>
  /** Moves the service's clock forward, or back by a negative duration. */
  readonly stepClock: (by: Duration.Input) => Effect.Effect<void>
  /** Removes all punches at once, and the changes that listings do not show yet. */
  readonly clear: Effect.Effect<void>
  /** Injects a fault into the requests that `when` selects. Of several, only the first one affects a request. */
  readonly inject: (fault: Fault, when?: FaultWhen) => Effect.Effect<void>
  /** The injected faults that can still affect a request, in their order. */
  readonly faults: Effect.Effect<ReadonlyArray<ActiveFault>>
  /** Removes all faults. */
  readonly clearFaults: Effect.Effect<void>
  /** All requests since the start or `clearRequests`, in order of arrival. */
  readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>
  /** Clears the record of requests. Their numbering continues. */
  readonly clearRequests: Effect.Effect<void>
  /** Number of issued tokens, revoked ones included. */
  readonly tokensIssued: Effect.Effect<number>
  /** Revokes all issued tokens. */
  readonly revokeTokens: Effect.Effect<void>
  /** Number of requests without a complete response: those being handled, and those that a fault stalls. */
  readonly inFlight: Effect.Effect<number>
  /** Largest value of `inFlight` so far. */
  readonly maxInFlight: Effect.Effect<number>
  /** Handles one request and returns its response after the latency. A transport must apply its `delivery`. */
  readonly respond: (request: FakeRequest) => Effect.Effect<FakeResponse>
  /** Counts a request as in flight while an effect runs. For transports, which stall a response after `respond`. */
  readonly track: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("effect-time-punches/testing/FakeService") {
  /** A service with these options. Each call makes a layer with separate state. */
  static readonly layer = (options: FakeServiceOptions = {}): Layer.Layer<FakeService> =>
    Layer.sync(FakeService, () => make(options))

  /** An `HttpClient` that calls the service without a socket, for every host. */
  static readonly layerClient: Layer.Layer<HttpClient.HttpClient, never, FakeService> = Layer.effect(
    HttpClient.HttpClient,
    FakeService.useSync(makeClient)
  )

  /**
   * Serves over the provided `HttpServer`. `FakeServer` does so on a port of this machine. On a loopback address it refuses
   * requests with a foreign `host` or `origin`. A server that dates responses itself does so if the service does not.
   */
  static readonly layerServer: Layer.Layer<never, never, FakeService | HttpServer.HttpServer> = Layer.unwrap(
    FakeService.useSync(serve)
  )
}

const make = (options: FakeServiceOptions): FakeService["Service"] => {
  const settings = settingsOf(options)
  const engine = makeEngine(settings)
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
      const { delay, responseAt } = engine.handle(request, now)
      return delay === 0
        ? Effect.succeed(responseAt(now))
        : Effect.andThen(Effect.sleep(delay), Effect.map(Clock.currentTimeMillis, responseAt))
    })

  const change = <A>(make: (time: ChangeTime) => A) =>
    Effect.map(Clock.currentTimeMillis, (now) => make({ now, stamp: engine.clock.at(now) }))

  return FakeService.of({
    access: settings,
    seed: (punches) => Effect.sync(() => engine.changes.seed(punches)),
    add: (punches) => change((time) => engine.changes.add(punches, time)),
    edit: (ids, patch) => change((time) => engine.changes.edit(ids, patch, time)),
    remove: (ids) => change((time) => engine.changes.remove(ids, time)),
    now: Effect.map(Clock.currentTimeMillis, (now) => DateTime.makeUnsafe(engine.clock.at(now))),
    setServiceTime: (to) => Effect.map(Clock.currentTimeMillis, (now) => engine.clock.set(to.epochMilliseconds, now)),
    stepClock: (by) => Effect.sync(() => engine.clock.step(Duration.toMillis(by))),
    clear: Effect.sync(engine.changes.clear),
    inject: (fault, when = {}) => Effect.sync(() => engine.faults.add(fault, when)),
    faults: Effect.sync(engine.faults.active),
    clearFaults: Effect.sync(engine.faults.clear),
    requests: Effect.sync(engine.requests),
    clearRequests: Effect.sync(engine.clearRequests),
    tokensIssued: Effect.sync(engine.tokenIssuer.issued),
    revokeTokens: Effect.sync(engine.tokenIssuer.revokeAll),
    inFlight: Effect.sync(() => inFlight),
    maxInFlight: Effect.sync(() => maxInFlight),
    respond: (request) => track(handle(request)),
    track
  })
}
