/** Whether a row contradicts the filter that was sent: a service that ignores a filter gives rows that were not requested. */
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import { dayMillis } from "../internal/wire/instant.ts"
import { timePunchNames } from "../internal/wire/names.ts"
import type { InstantRange, PunchFilter } from "../PunchFilter.ts"
import type { TimePunch } from "../TimePunch.ts"
import { idKeys, idOf, lastInstant } from "./parameters.ts"

/** The wire name of the field of a row that contradicts a filter; `undefined` if none does. */
export type Contradicted = (punch: TimePunch) => string | undefined

/** Lets such rows through, and has the field of the first one: a sync stores every row, and `doctor` looks at them itself. */
export interface Lenient {
  seen: string | undefined
}

/** How a run takes such rows. By default they fail it. */
export const RunLenient = Context.Reference<Lenient | undefined>("effect-time-punches/listing/RunLenient", {
  defaultValue: () => undefined
})

/** The same, which only remembers what it saw. */
export const leniently = (contradicted: Contradicted | undefined, lenient: Lenient | undefined) =>
  contradicted === undefined || lenient === undefined ? contradicted : (punch: TimePunch): undefined => {
    lenient.seen ??= contradicted(punch)
  }

/** A service may hold or show whole seconds. */
const second = 1000

/** A business day may begin at any hour, in any zone. */
const widestDay = 2 * dayMillis

/** `undefined` if a row cannot show whether it matches. */
export const contradictedBy = (filter: PunchFilter): Contradicted | undefined => {
  const { approved, businessDate, clockedIn, clockedOut, deleted, localizeSearchTime } = filter
  const checks: Array<readonly [name: string, isWrong: (punch: TimePunch) => boolean]> = []
  for (const key of idKeys) {
    const id = filter[key]
    if (id !== undefined) checks.push([timePunchNames[key], (punch) => idOf(punch, key) !== id])
  }
  if (approved !== undefined) checks.push([timePunchNames.approved, (punch) => punch.approved !== approved])
  if (deleted === "only") checks.push([timePunchNames.deleted, (punch) => !punch.deleted])
  const { first: start, last: end } = businessDate ?? {}
  if (start !== undefined || end !== undefined) {
    const first = start === undefined ? -Infinity : Date.parse(start) - widestDay
    const last = end === undefined ? Infinity : Date.parse(end) + dayMillis + widestDay
    checks.push([timePunchNames.clockedIn, ({ clockedIn: { epochMilliseconds: at } }) => at < first || at > last])
  }
  const isOutIn = localizeSearchTime === true ? undefined : isOutside(clockedIn)
  if (isOutIn !== undefined)
    checks.push([timePunchNames.clockedIn, (punch) => isOutIn(punch.clockedIn.epochMilliseconds)])
  const isOutOut = localizeSearchTime === true ? undefined : isOutside(clockedOut)
  if (isOutOut !== undefined) {
    // Whether an open punch belongs to the window is the decision of the service.
    checks.push([
      timePunchNames.clockedOut,
      (punch) => Option.exists(punch.clockedOut, ({ epochMilliseconds }) => isOutOut(epochMilliseconds))
    ])
  }
  if (checks.length === 0) return undefined
  return (punch) => {
    for (const [name, isWrong] of checks) if (isWrong(punch)) return name
    return undefined
  }
}

const isOutside = (range: InstantRange | undefined): ((millis: number) => boolean) | undefined => {
  const first = range?.gte?.epochMilliseconds ?? -Infinity
  const last = range === undefined ? Infinity : lastInstant(range)?.epochMilliseconds ?? Infinity
  return first === -Infinity && last === Infinity
    ? undefined
    : (millis) => millis < first - second || millis > last + second
}
