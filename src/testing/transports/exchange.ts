/** What a transport needs of the fake service. This room imports `base` only. */
import type * as Effect from "effect/Effect"
import type { FakeRequest, FakeResponse } from "../base/message.ts"

/** One side of an exchange; the fake service is one. */
export interface Exchange {
  /** Handles a request and counts it as in flight until the response is there. */
  readonly respond: (request: FakeRequest) => Effect.Effect<FakeResponse>
  /** Counts a request as in flight while an effect runs. */
  readonly track: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}
