/** Strict RFC 3339 instants as epoch milliseconds, both ways. Nothing here allocates on the way in. */

/** The `code` of a digit is its value plus this. */
const zero = 48

const isDigits = (text: string, from: number, to: number): boolean => {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i) - zero
    if (!(code >= 0 && code <= 9)) return false
  }
  return true
}

const two = (text: string, at: number): number => {
  const high = text.charCodeAt(at) - zero
  const low = text.charCodeAt(at + 1) - zero
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : -1
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar; years start in March so that the leap day comes last. */
const daysFromCivil = (year: number, month: number, day: number): number => {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

const daysInMonth = (year: number, month: number): number =>
  month === 2
    ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28)
    : month === 4 || month === 6 || month === 9 || month === 11
    ? 30
    : 31

/** Signed minutes of the zone that begins at `at` and ends the text, or NaN. */
const offsetMinutes = (text: string, at: number): number => {
  const sign = text.charCodeAt(at)
  const length = text.length - at
  if (sign === 90 /* Z */ || sign === 122 /* z */) return length === 1 ? 0 : NaN
  if (sign !== 43 /* + */ && sign !== 45 /* - */) return NaN
  const hours = two(text, at + 1)
  const minutes = length === 6 && text.charCodeAt(at + 3) === 58 /* : */
    ? two(text, at + 4)
    : length === 5
    ? two(text, at + 3)
    : -1
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return NaN
  return sign === 45 ? -(hours * 60 + minutes) : hours * 60 + minutes
}

/**
 * Reads `2024-01-02T03:04:05Z`, `+00:00` or `+0530`, with any fraction (cut to milliseconds). A string without a zone,
 * 30 February, `24:00:00` and year 0000 are NaN. A leap second, which only 23:59 UTC can have, is the next second.
 */
export const parseInstant = (text: string): number => {
  if (text.length < 20 || text.charCodeAt(4) !== 45 || text.charCodeAt(7) !== 45) return NaN
  const t = text.charCodeAt(10)
  if ((t !== 84 && t !== 116) || text.charCodeAt(13) !== 58 || text.charCodeAt(16) !== 58) return NaN
  const century = two(text, 0)
  const yearOfCentury = two(text, 2)
  const month = two(text, 5)
  const day = two(text, 8)
  const hour = two(text, 11)
  const minute = two(text, 14)
  const second = two(text, 17)
  if (century < 0 || yearOfCentury < 0 || month < 1 || month > 12 || day < 1) return NaN
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return NaN
  const year = century * 100 + yearOfCentury
  if (year === 0 || (day > 28 && day > daysInMonth(year, month))) return NaN

  let at = 19
  let millis = 0
  if (text.charCodeAt(at) === 46 /* . */) {
    let end = at + 1
    while (end < text.length && isDigits(text, end, end + 1)) end++
    if (end === at + 1) return NaN
    millis = (text.charCodeAt(at + 1) - zero) * 100
    if (end > at + 2) millis += (text.charCodeAt(at + 2) - zero) * 10
    if (end > at + 3) millis += text.charCodeAt(at + 3) - zero
    at = end
  }
  const offset = offsetMinutes(text, at)
  if (offset !== offset) return NaN
  const minutes = daysFromCivil(year, month, day) * 1440 + hour * 60 + minute - offset
  if (second === 60 && (((minutes % 1440) + 1440) % 1440) !== 1439) return NaN
  return minutes * 60_000 + second * 1000 + millis
}

/** 0001-01-01T00:00:00Z and the first instant that four digits of year cannot write. */
const earliest = -62_135_596_800_000
const tooLate = 253_402_300_800_000

/** Whether RFC 3339, which has four digits for the year, can write the instant. */
export const isWritable = (epochMillis: number): boolean =>
  Number.isInteger(epochMillis) && epochMillis >= earliest && epochMillis < tooLate

/** Writes a writable instant with `Z`, and with milliseconds only where there are any. */
export const formatInstant = (epochMillis: number): string => {
  const text = new Date(epochMillis).toISOString()
  return text.endsWith(".000Z") ? `${text.slice(0, 19)}Z` : text
}
