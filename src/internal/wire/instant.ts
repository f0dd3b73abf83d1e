/** Strict RFC 3339 instants as epoch milliseconds, both ways, and their values. Reading a text allocates nothing. */
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"

/** A day of 24 hours. */
export const dayMillis = 86_400_000

/** No date, or no time: far outside the range of both, and still a small integer, which costs no allocation. */
export const no = -0x4000_0000

/** The number that two digits write, or -1; unsigned, whatever is below the digit 0 is above 9 too. */
const two = (text: string, at: number): number => {
  const high = text.charCodeAt(at) - 48
  const low = text.charCodeAt(at + 1) - 48
  return high >>> 0 > 9 || low >>> 0 > 9 ? -1 : high * 10 + low
}

const daysInMonth = (year: number, month: number): number =>
  month === 2
    ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28)
    : month === 4 || month === 6 || month === 9 || month === 11
    ? 30
    : 31

/** Days since 1970-01-01 in the proleptic Gregorian calendar; years start in March so that the leap day comes last. */
const daysFromCivil = (year: number, month: number, day: number): number => {
  const y = month > 2 ? year : year - 1
  const dayOfYear = (((month > 2 ? month - 3 : month + 9) * 153 + 2) / 5 | 0) + day - 1
  return y * 365 + (y / 4 | 0) - (y / 100 | 0) + (y / 400 | 0) + dayOfYear - 719_468
}

/** The days of the `2024-01-02` that begins the text. */
export const dayOf = (text: string): number => {
  if (text.length < 20) return no
  const century = two(text, 0)
  const yearOfCentury = two(text, 2)
  const month = two(text, 5)
  const day = two(text, 8)
  if ((century | yearOfCentury | month | day) < 0) return no
  if (text.charCodeAt(4) !== 45 /* - */ || text.charCodeAt(7) !== 45) return no
  const year = century * 100 + yearOfCentury
  if (year === 0 || month === 0 || month > 12 || day === 0 || (day > 28 && day > daysInMonth(year, month))) return no
  return daysFromCivil(year, month, day)
}

/** The milliseconds of the `T03:04:05Z` that follows the date, counted from midnight UTC of the day that it names. */
export const timeOf = (text: string): number => {
  const hour = two(text, 11)
  const minute = two(text, 14)
  const second = two(text, 17)
  if ((hour | minute | second) < 0 || hour > 23 || minute > 59 || second > 60) return no
  const t = text.charCodeAt(10)
  if ((t !== 84 && t !== 116) || text.charCodeAt(13) !== 58 /* : */ || text.charCodeAt(16) !== 58) return no
  const minutes = hour * 60 + minute
  if (second === 60 || text.charCodeAt(19) === 46 /* . */) return longTime(text, minutes, second)
  const offset = offsetMinutes(text, 19)
  return offset === no ? no : (minutes - offset) * 60_000 + second * 1000
}

/** A time with a fraction, cut to milliseconds, or with a leap second, which only 23:59 UTC can have. */
const longTime = (text: string, minutes: number, second: number): number => {
  let at = 19
  let millis = 0
  if (text.charCodeAt(at) === 46 /* . */) {
    let digits = 0
    for (at++; isDigit(text.charCodeAt(at)); at++) {
      if (digits++ < 3) millis = millis * 10 + text.charCodeAt(at) - 48
    }
    if (digits === 0) return no
    for (; digits < 3; digits++) millis *= 10
  }
  const offset = offsetMinutes(text, at)
  if (offset === no || (second === 60 && (minutes - offset + 1440) % 1440 !== 1439)) return no
  return (minutes - offset) * 60_000 + second * 1000 + millis
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Signed minutes of the zone that begins at `at` and ends the text. */
const offsetMinutes = (text: string, at: number): number => {
  const sign = text.charCodeAt(at)
  const length = text.length - at
  if (sign === 90 /* Z */ || sign === 122 /* z */) return length === 1 ? 0 : no
  if (sign !== 43 /* + */ && sign !== 45 /* - */) return no
  if (length !== 5 && (length !== 6 || text.charCodeAt(at + 3) !== 58 /* : */)) return no
  const hours = two(text, at + 1)
  const minutes = two(text, at + length - 2)
  if ((hours | minutes) < 0 || hours > 23 || minutes > 59) return no
  return sign === 45 ? -(hours * 60 + minutes) : hours * 60 + minutes
}

/** 0001-01-01T00:00:00Z, the earliest instant that RFC 3339 can write. */
export const earliest = -62_135_596_800_000

/** The first instant that four digits of year cannot write. */
const tooLate = 253_402_300_800_000

/** Whether whole milliseconds lie in the years that RFC 3339, with four digits for the year, can write. */
export const isInYears = (epochMillis: number): boolean => epochMillis >= earliest && epochMillis < tooLate

/** Whether RFC 3339 can write the instant. */
export const isWritable = (epochMillis: number): boolean => Number.isInteger(epochMillis) && isInYears(epochMillis)

/**
 * Reads `2024-01-02T03:04:05Z`, `+00:00` or `+0530`, with any fraction (cut to milliseconds). A string without a zone,
 * 30 February, `24:00:00` and year 0000 are NaN, and so is an instant that the zone moves out of the years 0001 to 9999:
 * it could not be written again. A leap second, which only 23:59 UTC can have, is the next second.
 */
export const parseInstant = (text: string): number => {
  const day = dayOf(text)
  const time = timeOf(text)
  if (day === no || time === no) return NaN
  const millis = day * dayMillis + time
  return isInYears(millis) ? millis : NaN
}

/** Whether a text is a date of the calendar, `YYYY-MM-DD`: a date is real if its midnight is an instant. */
export const isCalendarDate = (text: string): boolean =>
  text.length === 10 && !Number.isNaN(parseInstant(`${text}T00:00:00Z`))

/** The digits of a number below 100, as codes of characters. */
const tens = (value: number): number => 48 + (value / 10 | 0)
const ones = (value: number): number => 48 + value % 10

/** Writes a writable instant with `Z`, and with milliseconds unless they are zero. */
export const formatInstant = (epochMillis: number): string => {
  const days = Math.floor(epochMillis / dayMillis)
  const millisOfDay = epochMillis - days * dayMillis
  const secondOfDay = millisOfDay / 1000 | 0
  const minuteOfDay = secondOfDay / 60 | 0
  const hour = minuteOfDay / 60 | 0
  const minute = minuteOfDay - hour * 60
  const second = secondOfDay - minuteOfDay * 60
  const millis = millisOfDay - secondOfDay * 1000

  // The inverse of daysFromCivil: 400 years, counted from 0000-03-01, have 146 097 days.
  const fromMarch = days + 719_468
  const era = fromMarch / 146_097 | 0
  const dayOfEra = fromMarch - era * 146_097
  const yearOfEra = (dayOfEra - (dayOfEra / 1460 | 0) + (dayOfEra / 36_524 | 0) - (dayOfEra / 146_096 | 0)) / 365 | 0
  const dayOfYear = dayOfEra - (yearOfEra * 365 + (yearOfEra / 4 | 0) - (yearOfEra / 100 | 0))
  const monthFromMarch = (dayOfYear * 5 + 2) / 153 | 0
  const day = dayOfYear - ((monthFromMarch * 153 + 2) / 5 | 0) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = era * 400 + yearOfEra + (month > 2 ? 0 : 1)
  const century = year / 100 | 0
  const yearOfCentury = year - century * 100

  // One call for all characters: a text of several pieces is copied again when it is used.
  // dprint-ignore
  return millis === 0
    ? String.fromCharCode(
      tens(century), ones(century), tens(yearOfCentury), ones(yearOfCentury), 45, tens(month), ones(month), 45,
      tens(day), ones(day), 84, tens(hour), ones(hour), 58, tens(minute), ones(minute), 58, tens(second), ones(second),
      90
    )
    : String.fromCharCode(
      tens(century), ones(century), tens(yearOfCentury), ones(yearOfCentury), 45, tens(month), ones(month), 45,
      tens(day), ones(day), 84, tens(hour), ones(hour), 58, tens(minute), ones(minute), 58, tens(second), ones(second),
      46, 48 + (millis / 100 | 0), tens(millis % 100), ones(millis), 90
    )
}

/** Makes an instant for the price of a constructor call: beyond its JSON, a page costs mostly its instants. */
type MakeUtc = (epochMilliseconds: number) => DateTime.Utc

/**
 * A seam on an internal shape. The core builds an instant with `Object.create` and `Object.defineProperty`, which takes
 * ten times as long as a constructor that shares its prototype. The one difference is `partsUtc`, the cache of the core:
 * there it is a hidden key from the start, here a key from its first use.
 */
const makeClass = (): unknown => {
  function Utc(this: { epochMilliseconds: number }, epochMilliseconds: number) {
    this.epochMilliseconds = epochMilliseconds
  }
  return Object.assign(Utc, { prototype: Object.getPrototypeOf(DateTime.makeUnsafe(0)) })
}

/** Whether the core still builds what `makeClass` builds. If not, its own constructor is used. */
const isUtcClass = (make: unknown): make is new(epochMilliseconds: number) => DateTime.Utc => {
  if (typeof make !== "function") return false
  const real = DateTime.makeUnsafe(1)
  const { epochMilliseconds, partsUtc, ...others } = Object.getOwnPropertyDescriptors(real)
  if (Reflect.ownKeys(others).length !== 0 || epochMilliseconds?.enumerable !== true) return false
  if (partsUtc === undefined || partsUtc.value !== undefined || !partsUtc.writable || partsUtc.enumerable) return false
  const agrees = Result.try(() => {
    const ours: unknown = Reflect.construct(make, [1])
    return DateTime.isDateTime(ours) && DateTime.isUtc(ours) && Equal.equals(ours, real)
  })
  return Result.getOrElse(agrees, () => false)
}

/** Makes instants with the class, or with the core if its instants are no longer of that class. */
export const utcOf = (make: unknown): MakeUtc =>
  isUtcClass(make) ? (epochMilliseconds) => new make(epochMilliseconds) : DateTime.makeUnsafe

/** An instant. The caller ensures a whole number of milliseconds within the range of a `Date`. */
export const utc: MakeUtc = utcOf(makeClass())
