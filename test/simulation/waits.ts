/** Watches how long a run waits: each single sleep, and the time between a try that failed and the next one. */
import { Clock, Duration, Effect } from "effect"
import { HttpClient } from "effect/http"
import { isOAuth, type Plan } from "./plan.ts"

/** The limits that the library knows for itself: for one token request, and for all tries of one. */
const tokenTimeout = 10_000
const tokenTotal = 30_000

/** Times are sums of fractions of milliseconds. */
const rounding = 0.001

/** The longest wait between two tries of a page that a policy allows. */
const betweenTries = ({ policy }: Plan): number =>
  Math.min(Math.max(policy.maxDelay, policy.throttleDelay * 8 * 1.1, policy.retryAfterCap), policy.pageTimeout)

export interface Waits {
  /** Every wait that was too long, in words. */
  readonly tooLong: ReadonlyArray<string>
  /** The clock, with an eye on every sleep. */
  readonly clock: (clock: Clock.Clock) => Clock.Clock
  /** The client, with an eye on when each of its requests ended and the next one began. */
  readonly http: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  /** The consumer or the operator takes time, which is not the library's. */
  readonly paused: () => void
}

export const makeWaits = (plan: Plan): Waits => {
  const { policy, service, troubles } = plan
  const tooLong: Array<string> = []
  const delays = troubles.flatMap(({ fault }) => fault._tag === "Slow" ? [Duration.toMillis(fault.delay)] : [])
  const late = new Set([0, ...delays].map((delay) => service.latency + delay))
  const longestSleep = Math.max(betweenTries(plan), policy.attemptTimeout, tokenTotal)
  const longestGap = betweenTries(plan) + (isOAuth(plan) ? tokenTotal + tokenTimeout : 0)
  // Where a body stalls, its request ends later than its headers.
  const bodiesStall = troubles.some(({ fault }) => fault._tag === "StallBody")
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
          if (gap > longestGap + slack + rounding) tooLong.push(`waited ${gap} ms between two tries`)
          const end = Effect.map(Clock.currentTimeMillis, (ended) => {
            const took = ended - began
            if (took > (method === "GET" ? policy.attemptTimeout : tokenTimeout) + rounding) {
              tooLong.push(`waited ${took} ms for an answer`)
            }
            if (method === "GET") previous = { url, ended }
          })
          return Effect.onExit(exchange, () => end)
        }))
  }
}
