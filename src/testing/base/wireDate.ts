/** Instants and dates of the fake service: parsed strictly, formatted in every notation, and in local time. No client code. */

const minute = 60_000
const hour = 60 * minute

/** Milliseconds of a day. */
export const day = 24 * hour

/** A parsed instant. */
export interface WrittenInstant {
  /** Milliseconds since 1970 in UTC; finer digits are cut. */
  readonly epoch: number
  /** The local time of the text: its digits in milliseconds since 1970 as if they were UTC. */
  readonly wall: number
}

/** Days after which the Gregorian calendar repeats, and their number of years. */
const [cycleDays, cycleYears] = [146_097, 400]

/** Days since 1970. One cycle later and back, because `Date.UTC` reads the years 0 to 99 as 1900 to 1999. */
const daysOf = (year: number, month: number, dayOfMonth: number) =>
  Date.UTC(year + cycleYears, month - 1, dayOfMonth) / day - cycleDays

const datePattern = /^(?!0000)(\d{4})-(\d{2})-(\d{2})$/

/** `YYYY-MM-DD` as days since 1970; `undefined` for a date that does not exist. */
export const parseDate = (text: string): number | undefined => {
  const match = datePattern.exec(text)
  if (match === null) return undefined
  const days = daysOf(Number(match[1]), Number(match[2]), Number(match[3]))
  return formatDate(days) === text ? days : undefined
}

const instantPattern = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):?(\d{2}))$/

/** Parses an ISO 8601 date-time with a zone; `undefined` without a zone, for 30 February, for hour 24 and the like. */
export const parseInstant = (text: string): WrittenInstant | undefined => {
  const match = instantPattern.exec(text)
  if (match === null) return undefined
  const [, date = "", , , , fraction = "", sign] = match
  const days = parseDate(date)
  const [hours, minutes, seconds] = [Number(match[2]), Number(match[3]), Number(match[4])]
  // A leap second is valid at the end of an hour only, and equals the first instant of the next hour.
  const inRange = hours <= 23 && minutes <= 59 && (seconds <= 59 || (seconds === 60 && minutes === 59))
  if (days === undefined || !inRange) return undefined
  const millis = Number(fraction.slice(0, 3).padEnd(3, "0"))
  const wall = days * day + hours * hour + minutes * minute + seconds * 1000 + millis
  if (sign === undefined) return { epoch: wall, wall }
  const [offsetHours, offsetMinutes] = [Number(match[7]), Number(match[8])]
  if (offsetHours > 23 || offsetMinutes > 59) return undefined
  const offset = offsetHours * hour + offsetMinutes * minute
  return { epoch: sign === "+" ? wall - offset : wall + offset, wall }
}

const pad = (value: number) => String(value).padStart(2, "0")

/** Days since 1970 as `YYYY-MM-DD`. */
export const formatDate = (days: number): string =>
  new Date(days * day).toISOString().slice(0, -"T00:00:00.000Z".length)

/** A notation of an instant. */
export interface InstantForm {
  /** Offset of the digits from UTC in minutes, positive to the east. */
  readonly offset: number
  /** `Z`, or the offset with or without its colon. */
  readonly zone: "Z" | "+00:00" | "+0000"
  /** Number of fractional digits, 0 for none; those beyond three are zeros. */
  readonly fraction: number
}

/** The form of the spec's own sample: `2026-03-01T08:00:00+00:00`. */
export const sampleForm: InstantForm = { offset: 0, zone: "+00:00", fraction: 0 }

/** Formats an instant. A form without a fraction cuts the milliseconds. */
export const formatInstant = (epoch: number, form: InstantForm): string => {
  const [seconds = "", millis = ""] = new Date(epoch + form.offset * minute).toISOString().slice(0, -1).split(".")
  const fraction = form.fraction === 0 ? "" : `.${millis.padEnd(form.fraction, "0").slice(0, form.fraction)}`
  if (form.zone === "Z") return `${seconds}${fraction}Z`
  const size = Math.abs(form.offset)
  const colon = form.zone === "+0000" ? "" : ":"
  return `${seconds}${fraction}${form.offset < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}${colon}${pad(size % 60)}`
}

// Offsets change at whole quarters of an hour, so one lookup per quarter is exact.
const quarter = 15 * minute

/** Local times of time zones. */
export type Zones = ReturnType<typeof makeZones>

/** A cached lookup: one call of `Intl` per zone and quarter of an hour. Throws when the zone does not exist. */
export const makeZones = () => {
  const formats = new Map<string, Intl.DateTimeFormat>()
  const offsets = new Map<string, Map<number, number>>()
  const formatOf = (timeZone: string) => {
    const known = formats.get(timeZone)
    if (known !== undefined) return known
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit"
    })
    formats.set(timeZone, format)
    return format
  }
  const offsetAt = (slot: number, timeZone: string) => {
    const parts = new Map<string, number>()
    for (const part of formatOf(timeZone).formatToParts(slot * quarter)) parts.set(part.type, Number(part.value))
    const part = (name: string) => parts.get(name) ?? 0
    const wall = daysOf(part("year"), part("month"), part("day")) * day + part("hour") * hour +
      part("minute") * minute + part("second") * 1000
    return wall - slot * quarter
  }
  /** The local time at an instant, in milliseconds since 1970 as if it were UTC. */
  const wallAt = (epoch: number, timeZone: string): number => {
    if (timeZone === "UTC") return epoch
    const slots = offsets.get(timeZone) ?? new Map<number, number>()
    offsets.set(timeZone, slots)
    const slot = Math.floor(epoch / quarter)
    const offset = slots.get(slot) ?? offsetAt(slot, timeZone)
    slots.set(slot, offset)
    return epoch + offset
  }
  return { wallAt }
}
