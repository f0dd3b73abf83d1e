/** Measures the waits of a run: each sleep, and the time between a failed attempt and the next one. */
import { Clock, Duration, Effect } from "effect"
import { HttpClient } from "effect/http"
import { isOAuth, type Plan } from "./plan.ts"

/** Limits of the library, in milliseconds: for one token request, and for all attempts at a token. */
const tokenTimeout = 10_000
const tokenTotal = 30_000

/** Times are sums of fractions of milliseconds. */
const rounding = 0.001

/** The longest wait between two attempts at a page that a policy allows. */
const longestRetryWait = ({ policy }: Plan): number =>
  Math.min(Math.max(policy.maxDelay, policy.throttleDelay * 10 * 1.2, policy.retryAfterCap), policy.pageTimeout)

export interface Waits {
  /** Every wait that was too long, as text. */
  readonly tooLong: ReadonlyArray<string>
  /** A clock that checks every sleep. */
  readonly clock: (clock: Clock.Clock) => Clock.Clock
  /** A client that checks each request and the time since the previous one. */
  readonly http: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  /** Excludes time that the consumer or the operator takes. */
  readonly paused: () => void
}

export const makeWaits = (plan: Plan): Waits => {
  const { policy, service, faults } = plan
  const tooLong: Array<string> = []
  const delays = faults.flatMap(({ fault }) => fault._tag === "Slow" ? [Duration.toMillis(fault.delay)] : [])
  const late = new Set([0, ...delays].map((delay) => service.latency + delay))
  const longestSleep = Math.max(longestRetryWait(plan), policy.attemptTimeout, tokenTotal)
  const longestGap = longestRetryWait(plan) + (isOAuth(plan) ? tokenTotal + tokenTimeout : 0)
  // A body that stalls ends later than its headers.
  const bodiesStall = faults.some(({ fault }) => fault._tag === "StallBody")
  const slack = bodiesStall ? policy.attemptTimeout : 0
  let previous: { readonly url: string; readonly ended: number } | undefined

  return {
    tooLong,
    paused: () => {
      previous = undefined
    },
    clock: (clock) => ({
      ...clock,
      sleep: (duration) => {
        const millis = Duration.toMillis(duration)
        if (millis > longestSleep + rounding && !late.has(millis)) tooLong.push(`slept for ${millis} ms`)
        return clock.sleep(duration)
      }
    }),
    http: (client) =>
      HttpClient.transform(client, (exchange, { method, url }) =>
        Effect.flatMap(Clock.currentTimeMillis, (began) => {
          const gap = previous?.url === url ? began - previous.ended : 0
          if (gap > longestGap + slack + rounding) tooLong.push(`waited ${gap} ms between two attempts`)
          const end = Effect.map(Clock.currentTimeMillis, (ended) => {
            const took = ended - began
            if (took > (method === "GET" ? policy.attemptTimeout : tokenTimeout) + rounding) {
              tooLong.push(`waited ${took} ms for a response`)
            }
            if (method === "GET") previous = { url, ended }
          })
          return Effect.onExit(exchange, () => end)
        }))
  }
}
