/** Counts, times and amounts as people read them. Pure. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const whole = new Intl.NumberFormat("en-US")

/** `1,234`. */
export const formatNumber = (value: number): string => whole.format(value)

/** `1 page`, `1,234 pages`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

export const countedPunches = (count: number): string => counted(count, "punch", "punches")

/** Hours and minutes, rounded down to the minute. */
export const formatHours = (duration: Duration.Duration): string => {
  const minutes = Math.floor(Duration.toMinutes(duration))
  return `${formatNumber(Math.floor(minutes / 60))}:${String(minutes % 60).padStart(2, "0")}`
}

/** Hours and minutes, and the seconds unless they are 0. */
export const formatExactHours = (duration: Duration.Duration): string => {
  const seconds = (Duration.toMillis(duration) % 60_000) / 1000
  return formatHours(duration) + (seconds === 0 ? "" : `:${seconds < 10 ? "0" : ""}${seconds}`)
}

const hundredths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Minor units as major units, without a currency: the service does not name one. */
export const formatMoney = (cents: number): string => hundredths.format(cents / 100)

/** RFC 3339: local time with its offset in a zone, else UTC. */
export const formatTime = (at: DateTime.Utc, zone: Option.Option<DateTime.TimeZone>): string =>
  Option.match(zone, {
    onNone: () => DateTime.formatIso(at),
    onSome: (zone) => DateTime.formatIsoOffset(DateTime.setZone(at, zone))
  }).replace(".000", "")

/** The same in little space: to the minute, without the offset of the zone. */
export const formatShortTime = (at: DateTime.Utc, zone: Option.Option<DateTime.TimeZone>): string =>
  formatTime(at, zone).replace(/T(\d\d:\d\d).*?(Z?)$/, " $1$2")

const units: ReadonlyArray<readonly [name: string, millis: number]> = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000]
]

/** A time in its two largest units, such as `2h 5m`. */
export const formatAge = (age: Duration.Duration): string => {
  let left = Duration.toMillis(age)
  const parts = units.flatMap(([name, millis]) => {
    const count = Math.floor(left / millis)
    left -= count * millis
    return count === 0 ? [] : [`${count}${name}`]
  })
  return parts.length === 0 ? "0s" : parts.slice(0, 2).join(" ")
}
