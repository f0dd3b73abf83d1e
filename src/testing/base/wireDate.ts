/** Instants and dates of the fake service, parsed and formatted by arithmetic on digits: no `Date`, no client code. */

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

const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

const lengthOf = (year: number, month: number) => month === 2 && isLeap(year) ? 29 : monthLengths[month - 1] ?? 0

/** Days since 1970-01-01, proleptic Gregorian. Its years begin in March, so that 29 February is their last day. */
const daysOf = (year: number, month: number, dayOfMonth: number) => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + dayOfMonth - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

const realDate = (year: number, month: number, dayOfMonth: number) =>
  year >= 1 && month >= 1 && month <= 12 && dayOfMonth >= 1 && dayOfMonth <= lengthOf(year, month)

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/

/** `YYYY-MM-DD` as days since 1970; `undefined` for a date that does not exist. */
export const parseDate = (text: string): number | undefined => {
  const match = datePattern.exec(text)
  if (match === null) return undefined
  const [year, month, dayOfMonth] = [Number(match[1]), Number(match[2]), Number(match[3])]
  return realDate(year, month, dayOfMonth) ? daysOf(year, month, dayOfMonth) : undefined
}

const instantPattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):?(\d{2}))$/

/** Parses an ISO 8601 date-time with a zone; `undefined` without a zone, for 30 February, for hour 24 and the like. */
export const parseInstant = (text: string): WrittenInstant | undefined => {
  const match = instantPattern.exec(text)
  if (match === null) return undefined
  const [year, month, dayOfMonth] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const [hours, minutes, seconds] = [Number(match[4]), Number(match[5]), Number(match[6])]
  // A leap second is valid at the end of an hour only, and equals the first instant of the next hour.
  const inRange = hours <= 23 && minutes <= 59 && (seconds <= 59 || (seconds === 60 && minutes === 59))
  if (!realDate(year, month, dayOfMonth) || !inRange) return undefined
  const millis = match[7] === undefined ? 0 : Number(match[7].slice(0, 3).padEnd(3, "0"))
  const wall = daysOf(year, month, dayOfMonth) * day + hours * hour + minutes * minute + seconds * 1000 + millis
  if (match[8] === undefined) return { epoch: wall, wall }
  const [offsetHours, offsetMinutes] = [Number(match[9]), Number(match[10])]
  if (offsetHours > 23 || offsetMinutes > 59) return undefined
  const offset = offsetHours * hour + offsetMinutes * minute
  return { epoch: match[8] === "+" ? wall - offset : wall + offset, wall }
}

const pad = (value: number, width: number) => String(value).padStart(width, "0")

/** Days since 1970 as `YYYY-MM-DD`. */
export const formatDate = (days: number): string => {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const dayOfMonth = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return `${pad(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), 4)}-${pad(month, 2)}-${pad(dayOfMonth, 2)}`
}

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
  const wall = epoch + form.offset * minute
  const days = Math.floor(wall / day)
  const rest = wall - days * day
  const clock = [Math.floor(rest / hour), Math.floor(rest / minute) % 60, Math.floor(rest / 1000) % 60]
  const digits = pad(rest % 1000, 3).padEnd(form.fraction, "0").slice(0, form.fraction)
  const size = Math.abs(form.offset)
  const colon = form.zone === "+0000" ? "" : ":"
  const offset = `${form.offset < 0 ? "-" : "+"}${pad(Math.floor(size / 60), 2)}${colon}${pad(size % 60, 2)}`
  return `${formatDate(days)}T${clock.map((part) => pad(part, 2)).join(":")}` +
    `${digits === "" ? "" : `.${digits}`}${form.zone === "Z" ? "Z" : offset}`
}

/** Local times of time zones. */
export interface Zones {
  /** The local time at an instant, in milliseconds since 1970 as if it were UTC. */
  readonly wallAt: (epoch: number, timeZone: string) => number
}

// Offsets change at whole quarters of an hour, so one lookup per quarter is exact.
const quarter = 15 * minute

/** A cached lookup: one call of `Intl` per zone and quarter of an hour. Throws when the zone does not exist. */
export const makeZones = (): Zones => {
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
  const wallAt = (epoch: number, timeZone: string) => {
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

// MERGED httpDate.ts: The `Date` header of HTTP, written by arithmetic on digits: no `Date`, no client code.

const weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"] as const

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const

const pad2 = (value: number) => String(value).padStart(2, "0")

/** An instant in milliseconds since 1970 as `Sun, 01 Mar 2026 08:00:00 GMT`; milliseconds are cut. */
export const formatHttpDate = (epoch: number): string => {
  const days = Math.floor(epoch / day)
  const seconds = Math.floor((epoch - days * day) / 1000)
  const [year, month, dayOfMonth] = formatDate(days).split("-")
  // 1970-01-01 was a Thursday; the remainder of a negative number is negative.
  const weekday = weekdays[((days % 7) + 7) % 7]
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(pad2).join(":")
  return `${weekday}, ${dayOfMonth} ${months[Number(month) - 1]} ${year} ${time} GMT`
}

// MERGED serviceClock.ts: The clock of the fake service: the `Clock` of the program, moved by an offset.

/** Instants are milliseconds since 1970; `now` is the time of the `Clock`. */
export interface ServiceClock {
  /** The service's time at `now`. */
  readonly at: (now: number) => number
  /** Moves the service's clock by this many milliseconds, back if negative. */
  readonly step: (by: number) => void
  /** Sets the clock, which continues from there. */
  readonly set: (to: number, now: number) => void
}

/** A clock that is ahead of the `Clock` by `offset` milliseconds. */
export const makeServiceClock = (offset: number): ServiceClock => {
  let ahead = offset
  return {
    at: (now) => now + ahead,
    step: (by) => {
      ahead += by
    },
    set: (to, now) => {
      ahead = to - now
    }
  }
}
