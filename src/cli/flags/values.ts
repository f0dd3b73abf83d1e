/** START HERE. Flags that several commands share. These parse one value strictly: ids, instants, dates, words, times. */
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BusinessDate } from "../../Ids.ts"
import { parseInstant } from "../../internal/wire/instant.ts"

/** What a text must be, or what is wrong with one; it completes "must be …". */
export type Form = string | ((text: string) => string)

/** The form for a text that is wrong. */
export const formFor = (form: Form, text: string): string => typeof form === "string" ? form : form(text)

/** An optional flag whose text `read` must accept; `expected` completes "Expected: …". `usual`: its text if it stands alone. */
export const text = <A>(
  name: string,
  metavar: string,
  description: string,
  expected: Form,
  read: (text: string) => Option.Option<A>,
  usual?: string
) => {
  const flag = Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.filterMap(read, (text) => formFor(expected, text))
  )
  return Flag.optional(usual === undefined ? flag : Flag.withOptionalValue(flag, usual))
}

/** An optional flag that is one of some words. */
export const choice = <const A extends string>(name: string, words: ReadonlyArray<A>, description: string) =>
  Flag.Literals(name, words).pipe(Flag.withDescription(description), Flag.optional)

/** An optional flag whose text must not be blank. */
export const nonBlank = (name: string, metavar: string, description: string, expected: string) =>
  text(name, metavar, description, expected, (text) => text.trim() === "" ? Option.none() : Option.some(text))

/** An optional flag that names a file. `-`, which is a stream elsewhere, would be a file of that name. */
export const fileFlag = (name: string, description: string) =>
  text(
    name,
    "FILE",
    description,
    "the name of a file, not -",
    (file) => file.trim() === "" || file === "-" ? Option.none() : Option.some(file)
  )

/** A flag without a value, off by default. */
export const onFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(
    Flag.withDescription(description),
    Flag.withoutNegation,
    // Without it, a 1 or a 0 behind the flag is its value, and no close and no company.
    Flag.withOptionalValue("true"),
    Flag.withDefault(false)
  )

/** What `readWhole` expects; it completes "must be …". */
export const wholeNumber = (least: number, most: number = Number.MAX_SAFE_INTEGER): string =>
  `a whole number from ${least} to ${most}`

/** Reads decimal digits only, so that neither `1e3` nor a blank is a number. */
export const readWhole = (
  text: string,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER
): Option.Option<number> => {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  return value >= least && value <= most ? Option.some(value) : Option.none()
}

/** An optional flag that is a whole number in decimal digits: an empty text is not 0. */
export const whole = (name: string, metavar: string, description: string, least: number, most?: number) =>
  text(name, metavar, description, wholeNumber(least, most), (text) => readWhole(text, least, most))

export const id = <A>(name: string, make: (value: number) => Option.Option<A>, description: string) =>
  text(name, "ID", description, wholeNumber(0), (text) => Option.flatMap(readWhole(text), make))

export const readInstant = (text: string): Option.Option<DateTime.Utc> => {
  const millis = parseInstant(text)
  return Number.isNaN(millis) ? Option.none() : Option.some(DateTime.makeUnsafe(millis))
}

/** `ofDates`: the flags that take a local date instead. */
export const instant = (name: string, description: string, ofDates = "") =>
  text(
    name,
    "INSTANT",
    description,
    (ofDates === "" ? "" : `${ofDates}, or `) +
      "an RFC 3339 instant with a zone, of the years 0001 to 9999, such as 2026-03-01T00:00:00Z or 2026-03-01T08:00:00+01:00",
    readInstant
  )

/** The same, or the second in which the command runs. */
export const instantOrNow = (name: string, description: string) =>
  text(
    name,
    "INSTANT|now",
    description,
    "now, or an RFC 3339 instant with a zone, such as 2026-03-01T08:00:00+01:00",
    (value): Option.Option<DateTime.Utc | "now"> => value === "now" ? Option.some(value) : readInstant(value)
  ).pipe(
    Flag.mapEffect((given) =>
      Effect.map(DateTime.now, (now) =>
        Option.map(given, (at) => at === "now" ? DateTime.startOf(DateTime.toUtc(now), "second") : at))
    )
  )

export const readDate: (text: string) => Option.Option<BusinessDate> = Schema.decodeUnknownOption(BusinessDate)

export const date = (name: string, description: string) => text(name, "DATE", description, dateForm, readDate)

/** What `readDate` expects; it completes "must be …". */
export const dateForm = "a date of the calendar as YYYY-MM-DD, from 0001-01-01 to 9999-12-31"

/** A list of known words, joined by commas, as on the wire. */
export const words = <A extends string>(
  name: string,
  known: ReadonlyArray<A>,
  description: string,
  metavar: string = known.join(",")
) => text(name, metavar, description, `some of ${known.join(", ")}, joined by commas`, readWords(known))

/** Reads such a list. */
export const readWords =
  <A extends string>(known: ReadonlyArray<A>) => (text: string): Option.Option<ReadonlyArray<A>> =>
    Option.all(text.split(",").map((word) => Option.fromUndefinedOr(known.find((candidate) => candidate === word))))

/** Milliseconds. */
export const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const isUnit = (text: string | undefined): text is keyof typeof units => text !== undefined && text in units

/** What `readInterval` expects; it completes "must be …". */
export const intervalForm = (example: string): string => `a time from 1s to 366d, such as ${example}`

/** Reads `5s`, `15m`, `2h` or `1d`; at least a second, at most a year. */
export const readInterval = (text: string): Option.Option<Duration.Duration> => {
  const [, count, unit] = /^([1-9]\d{0,7})([smhd])$/.exec(text) ?? []
  if (count === undefined || !isUnit(unit)) return Option.none()
  const millis = Number(count) * units[unit]
  return millis <= 366 * units.d ? Option.some(Duration.millis(millis)) : Option.none()
}

/** An optional flag that is such a time. */
export const interval = (name: string, description: string, example: string) =>
  text(name, "TIME", description, intervalForm(example), readInterval)
