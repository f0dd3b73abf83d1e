/** The time of a person in order, each hour in one class: one rule for a period and for a close. */
import * as Duration from "effect/Duration"
import type { BusinessDate } from "../Ids.ts"
import { type Checks, isThreshold, optional } from "./options.ts"

/** Time in milliseconds. */
export interface Classes {
  /** Up to the thresholds. */
  readonly regular: number
  /** Over the first threshold of a day, or over that of a week; or the first time of a seventh day. */
  readonly over: number
  /** Over the second threshold of a day, or what is left of a seventh day. */
  readonly double: number
}

export const noTime: Classes = { regular: 0, over: 0, double: 0 }

export const addClasses = (one: Classes, other: Classes): Classes => ({
  regular: one.regular + other.regular,
  over: one.over + other.over,
  double: one.double + other.double
})

/** The thresholds of a day and a week: one that is left out is infinite. One that is less than a minute and not zero is refused. */
export interface Thresholds {
  /** The threshold for the net time of a local week. Default: none, so that no time is over it. */
  readonly weeklyThreshold?: Duration.Input | undefined
  /** The threshold for the net time of a local day. Default: none, so that no time is over it. */
  readonly dailyThreshold?: Duration.Input | undefined
  /** A second threshold of a day: time over it is `double`. Default: none. */
  readonly doubleThreshold?: Duration.Input | undefined
  /**
   * Of the last day of a local week whose seven days were all worked no time is regular: up to this, or a lower
   * `doubleThreshold`, it is `over`, and then `double`. A day is worked if a punch with net time was clocked in on it. Default: no
   * day is counted in another way.
   */
  readonly seventhDay?: Duration.Input | undefined
}

export const thresholdChecks: Checks<Thresholds> = {
  weeklyThreshold: optional(isThreshold),
  dailyThreshold: optional(isThreshold),
  doubleThreshold: optional(isThreshold),
  seventhDay: optional(isThreshold)
}

/** Whether a day counts with the days before it in its week. */
export const countsWeeks = ({ seventhDay, weeklyThreshold }: Thresholds): boolean =>
  (weeklyThreshold ?? seventhDay) !== undefined

/** Whether time may be `double`. */
export const hasDouble = ({ doubleThreshold, seventhDay }: Thresholds): boolean =>
  (doubleThreshold ?? seventhDay) !== undefined

/** Whether time may be `over`. */
export const hasOver = (thresholds: Thresholds): boolean =>
  hasDouble(thresholds) || (thresholds.weeklyThreshold ?? thresholds.dailyThreshold) !== undefined

/**
 * Classes of the time of one person, which is given part by part in the order of time. First the day: over its second
 * threshold time is `double`, over its first one `over`. What is left of it counts in the week, over whose threshold it is
 * `over` too. Of a seventh day nothing is left: its first time is `over`.
 */
export const makeClasses = (
  thresholds: Thresholds,
  weekOf: (date: BusinessDate) => BusinessDate
): (date: BusinessDate, net: number) => Classes => {
  const weekly = millisOf(thresholds.weeklyThreshold)
  const second = millisOf(thresholds.doubleThreshold)
  const first = Math.min(millisOf(thresholds.dailyThreshold), second)
  const seventh = thresholds.seventhDay === undefined ? undefined : millisOf(thresholds.seventhDay)
  // In the order of time only the last day and the last week can have more parts.
  let [day, week]: ReadonlyArray<BusinessDate | undefined> = []
  let [ofDay, ofWeek, workedDays] = [0, 0, 0]
  /** The time of a day or a week, less what lies up to a threshold. */
  const beyond = (threshold: number, from: number, to: number) =>
    Math.max(0, to - threshold) - Math.max(0, from - threshold)
  return (date, net) => {
    if (weekOf(date) !== week) [week, ofWeek, workedDays] = [weekOf(date), 0, 0]
    if (date !== day) [day, ofDay] = [date, 0]
    const from = ofDay
    ofDay += net
    if (from === 0 && net > 0) workedDays += 1
    // A week has seven dates, so that the seventh worked one is the last.
    const [low, high] = seventh !== undefined && workedDays === 7 ? [0, Math.min(seventh, second)] : [first, second]
    const double = beyond(high, from, ofDay)
    const overDay = beyond(low, from, ofDay) - double
    const left = net - double - overDay
    const reached = ofWeek
    ofWeek += left
    const overWeek = beyond(weekly, reached, ofWeek)
    return { regular: left - overWeek, over: overDay + overWeek, double }
  }
}

/** The time of a punch. */
export interface Part<out Row> {
  /** Orders the dates. */
  readonly day: number
  /** Its clock-in, which with its id says where it stands in its day. */
  readonly at: number
  readonly id: number
  /** In milliseconds. */
  readonly net: number
  /** What has it; `undefined` if it lies before the period. */
  readonly row: Row | undefined
}

/** In the order in which a person worked. On a day, what lies before the period is in an earlier one. */
export const compareParts = (one: Part<unknown>, other: Part<unknown>): number =>
  one.day - other.day ||
  Number(one.row !== undefined) - Number(other.row !== undefined) || one.at - other.at || one.id - other.id

/** Whole milliseconds, as all times are. */
const millisOf = (threshold: Duration.Input = Duration.infinity): number => Math.round(Duration.toMillis(threshold))
