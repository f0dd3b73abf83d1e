/** Intervals as people write them, hours of work, the days of a period, and the slots and windows of a sync that repeats. Pure. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { Window } from "../../sync/Checkpoint.ts"

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const isUnit = (text: string | undefined): text is keyof typeof units => text !== undefined && text in units

/** Reads `5s`, `15m`, `2h` or `1d`; at least a second, at most a year. */
export const readInterval = (text: string): Option.Option<Duration.Duration> => {
  const [, count, unit] = /^([1-9]\d{0,7})([smhd])$/.exec(text) ?? []
  if (count === undefined || !isUnit(unit)) return Option.none()
  const millis = Number(count) * units[unit]
  return millis <= 366 * units.d ? Option.some(Duration.millis(millis)) : Option.none()
}

/** Reads a number of days, `1d` to `366d`. A local day is not always 24 hours, so no other unit will do. */
export const readLastDays = (text: string): Option.Option<number> =>
  text.endsWith("d") ? Option.map(readInterval(text), (interval) => Duration.toDays(interval)) : Option.none()

/** What `readHours` expects; it completes "must be …". */
export const hoursForm = "hours or minutes, such as 40h, 37.5h or 450m"

/** Reads a length of work: hours with up to two decimals, or whole minutes. A day of work has no length, so `1d` is none. */
export const readHours = (text: string): Option.Option<Duration.Duration> => {
  const [, hours, minutes] = /^(?:(\d{1,5}(?:\.\d{1,2})?)h|(\d{1,7})m)$/.exec(text) ?? []
  if (hours !== undefined) return Option.some(Duration.millis(Math.round(Number(hours) * units.h)))
  return minutes === undefined ? Option.none() : Option.some(Duration.millis(Number(minutes) * units.m))
}

/** What a sweep compares: the last so long, or everything. */
export type SweepRange = Duration.Duration | "all"

/** Reads `35d`, or `all`. */
export const readSweepRange = (text: string): Option.Option<SweepRange> =>
  text === "all" ? Option.some("all") : readInterval(text)

/** The clock-ins of a range that ends now. Its end is open, so that punches of a clock that is ahead are inside. */
export const windowOf = (range: SweepRange, now: DateTime.Utc): Window =>
  range === "all" ? {} : { gte: DateTime.subtractDuration(now, range) }

/** Milliseconds from `now` to the next slot of a grid. A pass that took longer than the interval skips slots. */
export const untilNextSlot = (start: number, every: Duration.Duration, now: number): number => {
  const interval = Duration.toMillis(every)
  return interval - ((now - start) % interval)
}
