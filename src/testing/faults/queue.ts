/** The injected faults, and the one that affects a request. */
import type { RecordedRequest } from "../base/message.ts"
import { prng } from "../base/prng.ts"
import { Fault, type FaultWhen } from "./Fault.ts"
import { type FaultHooks, hooksOf } from "./hooks.ts"

/** A fault that affects a request. */
export interface FaultMatch {
  readonly hooks: FaultHooks
  /** Counts the request against `FaultWhen.times`. */
  readonly markUsed: () => void
}

/** An injected fault that can still affect a request. */
export interface ActiveFault {
  /** What it does. */
  readonly fault: Fault
  /** The requests that it selects. */
  readonly when: FaultWhen
  /** How many requests it can still affect; `Infinity` until `clearFaults`. */
  readonly left: number
}

/** How many requests a fault may affect. */
const timesOf = ({ happensOnce }: FaultHooks, { cursor, probability, requests, times }: FaultWhen): number => {
  const unconditional = cursor === undefined && probability === undefined && requests === undefined
  return times ?? (unconditional && happensOnce === true ? 1 : Infinity)
}

/** Whether a request meets every condition but `probability` and `times`. */
const matches = (when: FaultWhen, target: "page" | "token", request: RecordedRequest): boolean => {
  const { cursor, requests } = when
  if (request.endpoint !== target) return false
  if (requests !== undefined && !(typeof requests === "number" ? [requests] : requests).includes(request.number)) {
    return false
  }
  return cursor === undefined || (request.query["cursor"] ?? null) === cursor
}

/** Untyped code may pass a constructor that it has not called. */
const called = (fault: Fault): Fault => {
  if (typeof fault !== "function") return fault
  const name = Object.entries(Fault).find(([, each]) => each === fault)?.[0]
  throw new TypeError(`inject: ${name === undefined ? "the fault" : `Fault.${name}`} is a function: call it`)
}

/** Faults in the order of their injection, first none. Only the first one that matches a request affects it. */
export const makeFaultQueue = () => {
  let injected: ReadonlyArray<ReturnType<typeof injection>> = []

  const injection = (fault: Fault, when: FaultWhen) => {
    const hooks = hooksOf(called(fault))
    const target = when.target ?? (hooks.writeToken === undefined ? "page" : "token")
    const random = prng(when.probability?.seed ?? 0)
    const chance = when.probability?.chance ?? 1
    let left = timesOf(hooks, when)
    return {
      match: (request: RecordedRequest): FaultMatch | undefined => {
        if (left <= 0 || !matches(when, target, request) || !random.chance(chance)) return undefined
        return {
          hooks,
          markUsed: () => {
            left -= 1
          }
        }
      },
      active: (): ActiveFault => ({ fault, when, left })
    }
  }

  return {
    add: (fault: Fault, when: FaultWhen): void => {
      injected = [...injected, injection(fault, when)]
    },
    clear: () => {
      injected = []
    },
    match: (request: RecordedRequest): FaultMatch | undefined => {
      for (const { match } of injected) {
        const found = match(request)
        if (found !== undefined) return found
      }
      return undefined
    },
    active: () => injected.map(({ active }) => active()).filter(({ left }) => left > 0)
  }
}
