/** The time of a person in order, each hour in one class: one rule for a period and for a close. */
import * as Duration from "effect/Duration"
import type { BusinessDate } from "../Ids.ts"
import { type Checks, isThreshold, optional } from "./options.ts"

/** Time in milliseconds. */
export interface Classes {
  /** Up to the thresholds. */
  readonly regular: number
  /** Over the first threshold of a day, or over that of a week. */
  readonly over: number
  /** Over the second threshold of a day. */
  readonly double: number
}

/** The thresholds of a day and a week: one that is left out is infinite. One that is less than a minute and not zero is refused. */
export interface Thresholds {
  /** The threshold for the net time of a local week. Default: none, so that no time is over it. */
  readonly weeklyThreshold?: Duration.Input | undefined
  /** The threshold for the net time of a local day. Default: none, so that no time is over it. */
  readonly dailyThreshold?: Duration.Input | undefined
  /** A second threshold of a day: time over it is `double`. Default: none. */
  readonly doubleThreshold?: Duration.Input | undefined
}

export const thresholdChecks: Checks<Thresholds> = {
  weeklyThreshold: optional(isThreshold),
  dailyThreshold: optional(isThreshold),
  doubleThreshold: optional(isThreshold)
}

/**
 * Classes of the time of one person, which is given part by part in the order of time. First the day: over its second
 * threshold time is `double`, over its first one `over`. What is left of it counts in the week, over whose threshold it is
 * `over` too.
 */
export const makeClasses = (
  thresholds: Thresholds,
  weekOf: (date: BusinessDate) => BusinessDate
): (date: BusinessDate, net: number) => Classes => {
  const weekly = millisOf(thresholds.weeklyThreshold)
  const second = millisOf(thresholds.doubleThreshold)
  const first = Math.min(millisOf(thresholds.dailyThreshold), second)
  // In the order of time only the last day and the last week can have more parts.
  let [day, week]: ReadonlyArray<BusinessDate | undefined> = []
  let [ofDay, ofWeek] = [0, 0]
  /** The time of a day or a week, less what lies up to a threshold. */
  const beyond = (threshold: number, from: number, to: number) =>
    Math.max(0, to - threshold) - Math.max(0, from - threshold)
  return (date, net) => {
    if (date !== day) [day, ofDay] = [date, 0]
    const from = ofDay
    ofDay += net
    const double = beyond(second, from, ofDay)
    const overDay = beyond(first, from, ofDay) - double
    const left = net - double - overDay
    if (weekOf(date) !== week) [week, ofWeek] = [weekOf(date), 0]
    const reached = ofWeek
    ofWeek += left
    const overWeek = beyond(weekly, reached, ofWeek)
    return { regular: left - overWeek, over: overDay + overWeek, double }
  }
}

/** Whole milliseconds, as all times are. */
const millisOf = (threshold: Duration.Input = Duration.infinity): number => Math.round(Duration.toMillis(threshold))
