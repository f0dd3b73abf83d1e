/** A store for `RateLimiter` of `effect/persistence` in the database of a fleet: one limit for all its processes. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateLimiterError, RateLimiterStore, RateLimitStoreError } from "effect/persistence/RateLimiter"
import type { SqlError } from "effect/sql/SqlError"
import { messageOf } from "../internal/sql/failure.ts"
import type { FleetStore } from "./store/FleetStore.ts"
import type { RateState } from "./store/keeping.ts"

/** The adaptive algorithms learn a limit from answers; the limit of a fleet is given. They fail by name. */
export const makeRateLimiterStore = ({ rate }: FleetStore): Layer.Layer<RateLimiterStore> => {
  const refused = (algorithm: string) => Effect.fail(failure(`${algorithm} is not kept in the database of a fleet`))
  const change = <A>(key: string, step: (now: number, state: RateState | undefined) => readonly [A, RateState]) =>
    Effect.mapError(rate(key, step), (error: SqlError) => failure(messageOf(error)))
  return Layer.succeed(
    RateLimiterStore,
    RateLimiterStore.of({
      fixedWindow: ({ key, limit, refillRate, tokens }) =>
        change(`window:${key}`, (now, state) => fixedWindow(now, state, tokens, Duration.toMillis(refillRate), limit)),
      tokenBucket: ({ allowOverflow, key, limit, refillRate, tokens }) =>
        change(
          `bucket:${key}`,
          (now, state) => tokenBucket(now, state, tokens, Duration.toMillis(refillRate), limit, allowOverflow)
        ),
      adaptiveConsume: () => refused("adaptiveConsume"),
      adaptiveFeedback: () => refused("adaptiveFeedback")
    })
  )
}

const failure = (message: string): RateLimiterError =>
  new RateLimiterError({ reason: new RateLimitStoreError({ message }) })

type Step = readonly [result: readonly [number, number], state: RateState]

/** `tokens` counts what was taken in the window, `at` is its end. */
const fixedWindow = (
  now: number,
  known: RateState | undefined,
  tokens: number,
  refillMillis: number,
  limit: number | undefined
): Step => {
  // A window ends at the latest then. One that was written before the clock was set back would hold up all for longer.
  const end = known === undefined ? now : Math.min(known.at, now + refillMillis * known.tokens)
  const state = known === undefined || end <= now ? { tokens: 0, at: now } : { tokens: known.tokens, at: end }
  const taken = state.tokens + tokens
  if (limit !== undefined && taken > limit) return [[taken, state.at - now], state]
  const at = state.at + refillMillis * tokens
  return [[taken, at - now], { tokens: taken, at }]
}

/**
 * A statement that waits for the row has the time of its start, and the row that of a later one: its place is as far away as both
 * say, or processes that wait for each other would get more than the limit. In milliseconds.
 */
const longestLock = 2000

/** `tokens` is what the bucket holds, `at` when its refill interval began. */
const tokenBucket = (
  now: number,
  known: RateState | undefined,
  tokens: number,
  refillMillis: number,
  limit: number,
  allowOverflow: boolean
): Step => {
  // If the clock was set back, the time lies in the future, and nothing would be refilled until then.
  const state = known === undefined || known.at > now + longestLock
    ? { tokens: known?.tokens ?? limit, at: now }
    : known
  const refills = Math.max(0, Math.floor((now - state.at) / refillMillis))
  // The limit may have been lowered since.
  const held = Math.min(limit, state.tokens + refills)
  const at = held >= limit ? Math.max(now, state.at) : state.at + refills * refillMillis
  const left = held - tokens
  return [[left, now - at], { tokens: allowOverflow || left >= 0 ? left : held, at }]
}
