/** The injected faults, and which of them befalls a request. */
import * as Duration from "effect/Duration"
import type { RecordedRequest } from "../base/message.ts"
import { prng } from "../base/prng.ts"
import type { Fault, FaultWhen } from "./Fault.ts"
import type { Twist } from "./hooks.ts"
import { pageEdit } from "./page.ts"
import { insteadOf, replyEdit } from "./reply.ts"
import { tokenEdit } from "./token.ts"

/** A fault that befalls a request, and how to say that it showed. */
export interface Strike {
  readonly twist: Twist
  readonly used: () => void
}

/** Faults in the order of their injection; the first that fits a request befalls it alone. */
export interface FaultQueue {
  readonly add: (fault: Fault, when: FaultWhen) => void
  readonly clear: () => void
  readonly pick: (request: RecordedRequest) => Strike | undefined
}

const twistOf = (fault: Fault, revokeTokens: () => void): Twist => {
  if (fault._tag === "Slow") return { delay: Duration.toMillis(fault.delay) }
  if (fault._tag === "TokenRevoked") return { before: revokeTokens }
  const [instead, page, token, after] = [insteadOf(fault), pageEdit(fault), tokenEdit(fault), replyEdit(fault)]
  return { ...(instead && { instead }), ...(page && { page }), ...(token && { token }), ...(after && { after }) }
}

const happensOnce = (fault: Fault) =>
  fault._tag === "UnauthorizedOnce" || fault._tag === "TokenRevoked" || (fault._tag === "EmptyPage" && !fault.endless)

/** How often a fault may show: as often as is said, else for ever, else once where that is its nature. */
const timesOf = (fault: Fault, { cursor, probability, requests, times }: FaultWhen): number => {
  const anywhere = cursor === undefined && probability === undefined && requests === undefined
  return times ?? (anywhere && happensOnce(fault) ? 1 : Infinity)
}

/** Whether a request fits, but for chance and number of times. */
const fits = (when: FaultWhen, target: "page" | "token", request: RecordedRequest): boolean => {
  const { cursor, requests } = when
  if (request.endpoint !== target) return false
  if (requests !== undefined && !(typeof requests === "number" ? [requests] : requests).includes(request.number)) {
    return false
  }
  return cursor === undefined || (request.query["cursor"] ?? null) === cursor
}

/** A queue without faults. */
export const makeFaultQueue = (revokeTokens: () => void): FaultQueue => {
  let injected: ReadonlyArray<(request: RecordedRequest) => Strike | undefined> = []

  const injection = (fault: Fault, when: FaultWhen) => {
    const twist = twistOf(fault, revokeTokens)
    const target = when.target ?? (twist.token === undefined ? "page" : "token")
    const random = prng(when.probability?.seed ?? 0)
    const chance = when.probability?.chance ?? 1
    let left = timesOf(fault, when)
    return (request: RecordedRequest): Strike | undefined => {
      if (left <= 0 || !fits(when, target, request) || !random.chance(chance)) return undefined
      return {
        twist,
        used: () => {
          left -= 1
        }
      }
    }
  }

  return {
    add: (fault, when) => {
      injected = [...injected, injection(fault, when)]
    },
    clear: () => {
      injected = []
    },
    pick: (request) => {
      for (const strike of injected) {
        const struck = strike(request)
        if (struck !== undefined) return struck
      }
      return undefined
    }
  }
}
