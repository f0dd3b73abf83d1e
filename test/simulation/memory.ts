/** A plan in memory and in virtual time: nothing is waited for, and whoever sleeps too long or for ever is found out. */
import { Clock, Duration, Effect, Layer, Random, References } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { FakeService } from "../../src/testing/index.ts"
import { clientOf, isOAuth, type Plan, serviceOf } from "./plan.ts"
import { type Broken, broken, operate, type Story } from "./run.ts"
import { makeWaits, type Waits } from "./waits.ts"

/** Longer than any plan can take: a run that is not over by then never will be. */
const eternity = Duration.days(400)

/** More than any plan needs: a client that asks on and on without sleeping is stopped here. */
const mostRequests = 60_000

/** What may go on at the service while it is asked. */
export interface Life {
  readonly beforeRequest: Effect.Effect<void, never, FakeService>
}

const still: Life = { beforeRequest: Effect.void }

/** A client that dies of its own persistence, and lets life go on before each request. */
const layerHttp = ({ beforeRequest }: Life, waits: Waits) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const service = yield* FakeService
      const before = Effect.provideService(beforeRequest, FakeService, service)
      let count = 0
      return waits.http(
        HttpClient.tapRequest(client, () => ++count > mostRequests ? Effect.die("the client asks without end") : before)
      )
    })
  ).pipe(Layer.provide(FakeService.layerClient))

/** Drives an effect through all the time that it may take, at once; fails where it is not over then. */
const drive = <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E | Broken> =>
  Effect.gen(function*() {
    // Woken by the clock, so that the clock knows of all that comes of it and waits until it rests.
    const fiber = yield* Effect.forkDetach(Effect.andThen(Effect.sleep(1), self))
    yield* TestClock.adjust(eternity)
    const exit = fiber.pollUnsafe()
    return yield* exit ?? broken("hung: the time is over and the run is not")
  }).pipe(Effect.provide(TestClock.layer({ warningDelay: "30 seconds" })))

/** Runs a plan to its end. */
export const simulate = (plan: Plan, life: Life = still): Effect.Effect<Story, Broken> => {
  const waits = makeWaits(plan)
  const client = Layer.provide(clientOf(plan, "https://api.test"), layerHttp(life, waits))
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
    const story = yield* operate(plan, { strict: true, pause, sent }).pipe(
      Effect.provide(client),
      Effect.provideService(Clock.Clock, waits.clock(clock))
    )
    if (waits.tooLong.length > 0) return yield* broken(`somebody ${waits.tooLong.join(", ")}`)
    const [open, most] = [yield* service.inFlight, yield* service.maxInFlight]
    if (open > 0) return yield* broken(`${open} requests are still open after the end`)
    // One page, and beside it the token that is renewed before its end.
    return most > (isOAuth(plan) ? 2 : 1) ? yield* broken(`${most} requests were open at once`) : story
  }).pipe(
    Effect.provide(FakeService.layer(serviceOf(plan))),
    Random.withSeed(plan.seed),
    Effect.provideService(References.MinimumLogLevel, "None"),
    drive
  )
}
