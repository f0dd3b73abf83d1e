/** Counts, times and amounts as people read them. Pure. */
import * as Duration from "effect/Duration"

/** A format that is made where it is first used: Intl takes milliseconds to load its data. */
const lazyFormat = (options?: Intl.NumberFormatOptions) => {
  let made: Intl.NumberFormat | undefined
  return (value: number): string => (made ??= new Intl.NumberFormat("en-US", options)).format(value)
}

/** `1,234`. */
export const formatNumber: (value: number) => string = lazyFormat()

/** `1 page`, `1,234 pages`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

export const countedPunches = (count: number): string => counted(count, "punch", "punches")

/** Hours and minutes, and the seconds unless they are 0: the only text of a duration of work, so that rows add up to their sum. */
export const formatHours = (duration: Duration.Duration): string => {
  const minutes = Math.floor(Duration.toMinutes(duration))
  const seconds = (Duration.toMillis(duration) % 60_000) / 1000
  return `${formatNumber(Math.floor(minutes / 60))}:${String(minutes % 60).padStart(2, "0")}` +
    (seconds === 0 ? "" : `:${seconds < 10 ? "0" : ""}${seconds}`)
}

/** The same with a minus before a negative duration. */
export const formatSignedHours = (duration: Duration.Duration): string =>
  `${Duration.isNegative(duration) ? "-" : ""}${formatHours(Duration.abs(duration))}`

/** A time in its two largest units, such as `2h 5m`. */
export const formatAge = (age: Duration.Duration): string => {
  const seconds = Math.max(0, Math.floor(Duration.toSeconds(age)))
  return seconds === 0 ? "0s" : Duration.format(Duration.seconds(seconds)).split(" ").slice(0, 2).join(" ")
}

/** The same with the word behind it, such as ` ago`; what a clock that is ahead of this one has dated has no age. */
export const formatPast = (age: Duration.Duration, word = ""): string =>
  Duration.toSeconds(age) > -1 ? formatAge(age) + word : `${formatAge(Duration.abs(age))} ahead of this clock`

const formatHundredths = lazyFormat({ minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Minor units as major units, without a currency: the service does not name one. */
export const formatMoney = (cents: number): string => formatHundredths(cents / 100)
