/** Runs a plan in memory and in virtual time, and detects sleeps that are too long or never end. */
import { Clock, Duration, Effect, Layer, Random, References } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { FakeService } from "../../src/testing/index.ts"
import { clientOf, isOAuth, type Plan, serviceOf } from "./plan.ts"
import { type Broken, broken, operate, type Outcome } from "./run.ts"
import { makeWaits, type Waits } from "./waits.ts"

/** Longer than any plan can take: a run that is not over by then hangs. */
const eternity = Duration.days(400)

/** More than any plan needs: stops a client that sends requests for ever without sleeping. */
const maxRequests = 60_000

/** What happens at the service during a run. */
export interface ServiceHooks {
  readonly beforeRequest: Effect.Effect<void, never, FakeService>
  /** Whether the run is judged as in memory, which is the default, or as over sockets. */
  readonly strict?: boolean
}

const noHooks: ServiceHooks = { beforeRequest: Effect.void }

/** A client that runs the hook before each request and dies after too many requests. */
const layerHttp = ({ beforeRequest }: ServiceHooks, waits: Waits) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const service = yield* FakeService
      const before = Effect.provideService(beforeRequest, FakeService, service)
      let count = 0
      return waits.http(
        HttpClient.tapRequest(client, () =>
          ++count > maxRequests ? Effect.die("the client sends requests without end") : before)
      )
    })
  ).pipe(Layer.provide(FakeService.layerClient))

/** Runs an effect and all the virtual time that it may take; fails if it is not over then. */
const drive = <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E | Broken> =>
  Effect.gen(function*() {
    // Started by a sleep, so that the clock tracks the fiber and waits until it is idle.
    const fiber = yield* Effect.forkDetach(Effect.andThen(Effect.sleep(1), self))
    yield* TestClock.adjust(eternity)
    const exit = fiber.pollUnsafe()
    return yield* exit ?? broken("hung: the run is not over after all its time")
  }).pipe(Effect.provide(TestClock.layer({ warningDelay: "30 seconds" })))

/** Runs a plan to its end. */
export const simulate = (plan: Plan, hooks: ServiceHooks = noHooks): Effect.Effect<Outcome, Broken> => {
  const waits = makeWaits(plan)
  const client = Layer.provide(clientOf(plan, "https://api.test"), layerHttp(hooks, waits))
  return Effect.gen(function*() {
    const service = yield* FakeService
    const clock = yield* Clock.Clock
    const pause = (millis: number) => {
      waits.paused()
      return clock.sleep(Duration.millis(millis))
    }
    const sent = Effect.map(
      Effect.tap(service.requests, service.clearRequests),
      (requests) => requests.map(({ at, endpoint, query }) => ({ at, endpoint, cursor: query["cursor"] ?? "" }))
    )
    const outcome = yield* operate(plan, { strict: hooks.strict ?? true, pause, sent }).pipe(
      Effect.provide(client),
      Effect.provideService(Clock.Clock, waits.clock(clock))
    )
    if (waits.tooLong.length > 0) return yield* broken(`the client ${waits.tooLong.join(", ")}`)
    const [open, most] = [yield* service.inFlight, yield* service.maxInFlight]
    if (open > 0) return yield* broken(`${open} requests are still open after the end`)
    // One page, and beside it a token renewal in the background.
    return most > (isOAuth(plan) ? 2 : 1) ? yield* broken(`${most} requests were open at once`) : outcome
  }).pipe(
    Effect.provide(FakeService.layer(serviceOf(plan))),
    Random.withSeed(plan.seed),
    Effect.provideService(References.MinimumLogLevel, "None"),
    drive
  )
}
