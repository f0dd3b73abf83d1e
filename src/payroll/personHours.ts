/** The time of a person day by day, and how much of it lies over the thresholds: one rule for a period and for a close. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { BusinessDate, UserId } from "../Ids.ts"
import type { WorkedTime } from "./WorkedTime.ts"

/** Running sums in milliseconds. */
export interface PersonTime {
  /** Number of punches in the period. */
  punches: number
  incomplete: number
  /** Time in the period and before it. */
  net: number
  readonly days: Map<BusinessDate, DayTime>
}

/** The time of a day: of punches before the period, and in it. A period that begins with a day has days of one kind only. */
interface DayTime {
  before: number
  /** `undefined` without a punch of known time in the period. */
  within: number | undefined
}

export const timeOf = (people: Map<UserId, PersonTime>, userId: UserId): PersonTime => {
  const known = people.get(userId)
  if (known !== undefined) return known
  const person: PersonTime = { punches: 0, incomplete: 0, net: 0, days: new Map() }
  people.set(userId, person)
  return person
}

/** A threshold that is left out is infinite. */
interface Thresholds {
  readonly weeklyThreshold?: Duration.Input | undefined
  readonly dailyThreshold?: Duration.Input | undefined
}

/** Where a punch counts. */
export interface DayOf {
  readonly date: BusinessDate
  readonly place: "before" | "within" | "after"
}

/** Whether the sum is exact with the time of a punch. No part of it exceeds the whole. */
export const addTime = (
  person: PersonTime,
  { date, place }: DayOf,
  durations: WorkedTime["durations"]
): boolean => {
  if (place === "after") return true
  if (place === "within") person.punches += 1
  if (Option.isNone(durations)) {
    if (place === "within") person.incomplete += 1
    return true
  }
  const net = Duration.toMillis(durations.value.net)
  person.net += net
  const day = person.days.get(date) ?? { before: 0, within: undefined }
  person.days.set(date, day)
  day[place] = (day[place] ?? 0) + net
  return Number.isSafeInteger(person.net)
}

/** Time in milliseconds, and the parts of it over the thresholds. */
interface Excess {
  net: number
  overWeekly: number
  overDaily: number
}

/** Counts the hours over the thresholds: the sum of a week, date by date, less its threshold; and the sum of each date. */
export const hoursOf = (
  person: PersonTime,
  options: Thresholds,
  weekOf: (date: BusinessDate) => BusinessDate
) => {
  const weekly = leastOf(options.weeklyThreshold)
  const daily = leastOf(options.dailyThreshold)
  const all: Excess = { net: 0, overWeekly: 0, overDaily: 0 }
  const days = new Map<BusinessDate, Excess>()
  const weeks = new Map<BusinessDate, Excess>()
  /** The time of a week up to a date. */
  const reached = new Map<BusinessDate, number>()
  for (const [date, { before, within }] of [...person.days].toSorted(([a], [b]) => a < b ? -1 : 1)) {
    const week = weekOf(date)
    const from = (reached.get(week) ?? 0) + before
    reached.set(week, from + (within ?? 0))
    if (within === undefined) continue
    const day: Excess = {
      net: within,
      overWeekly: beyond(weekly, from + within) - beyond(weekly, from),
      overDaily: beyond(daily, before + within) - beyond(daily, before)
    }
    days.set(date, day)
    const ofWeek = weeks.get(week) ?? { net: 0, overWeekly: 0, overDaily: 0 }
    weeks.set(week, ofWeek)
    for (const sums of [ofWeek, all]) {
      sums.net += day.net
      sums.overWeekly += day.overWeekly
      sums.overDaily += day.overDaily
    }
  }
  return { incomplete: person.incomplete, ...durationsOf(all), weeks: timesOf(weeks), days: timesOf(days) }
}

/** A negative threshold counts as zero: no more than all time is over it. */
const leastOf = (threshold: Duration.Input = Duration.infinity): number => Math.max(0, Duration.toMillis(threshold))

const beyond = (threshold: number, time: number): number => Math.max(0, time - threshold)

const durationsOf = ({ overWeekly, overDaily, net }: Excess) => ({
  net: Duration.millis(net),
  overWeekly: Duration.millis(overWeekly),
  overDaily: Duration.millis(overDaily)
})

const timesOf = (sums: ReadonlyMap<BusinessDate, Excess>) =>
  Array.from(sums, ([date, each]) => ({ date, ...durationsOf(each) }))
