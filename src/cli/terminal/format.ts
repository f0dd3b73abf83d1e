/** Counts, times and amounts as people read them. Pure. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

export {
  counted,
  countedPunches,
  formatExactHours,
  formatHours,
  formatMoney,
  formatNumber
} from "../../internal/page/amounts.ts"

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
