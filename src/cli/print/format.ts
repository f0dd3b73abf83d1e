/** Counts, times and amounts as people read them. Pure. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

export {
  counted,
  countedPunches,
  formatAge,
  formatHours,
  formatMoney,
  formatNumber,
  formatPast,
  formatSignedHours
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

/** An instant of UTC to the minute: `2026-03-09T15:04Z`. */
export const minuteOf = (at: DateTime.Utc): string => `${DateTime.formatIso(at).slice(0, 16)}Z`

/** A time of milliseconds on a line that changes: `0.3 s`, `8 s`, `2 min 5 s`, `1 h 12 min`. */
export const formatElapsed = (millis: number): string => {
  if (millis < 950) return `${(Math.max(1, Math.round(millis / 100)) / 10).toFixed(1)} s`
  const seconds = Math.round(millis / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** What a terminal does not show as it is: controls, invisible and unassigned characters, and blanks except the space. */
const unprintable = /[\p{C}\p{Z}]/u

const isPlain = (char: string): boolean => char === " " || !unprintable.test(char)

/**
 * One word of a shell for a text without NUL: `'…'`, or `$'…'` (bash, zsh and ksh) where characters have to be escaped.
 * These are written as the bytes of their UTF-8, since `\u` depends on the locale.
 */
export const shellWord = (text: string): string => {
  const characters = Array.from(text)
  if (characters.every(isPlain)) return `'${text.replaceAll("'", "'\\''")}'`
  return `$'${characters.map((char) => isPlain(char) && !/['"\\!]/.test(char) ? char : bytesOf(char)).join("")}'`
}

const encoder = new TextEncoder()

const bytesOf = (char: string): string =>
  Array.from(encoder.encode(char), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")
