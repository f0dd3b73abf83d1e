/** Valid and invalid texts of RFC 3339 instants, and the instant of a valid one by the platform's calendar. */
import type { Prng } from "../../src/testing/base/prng.ts"

const pad = (value: number, length = 2) => String(value).padStart(length, "0")

const daysOf = (year: number, month: number) => {
  const last = new Date(0)
  last.setUTCFullYear(year, month, 0)
  return last.getUTCDate()
}

interface Parts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly t: string
  readonly fraction: string
  readonly zone: string
}

const write = (parts: Parts) =>
  `${pad(parts.year, 4)}-${pad(parts.month)}-${pad(parts.day)}${parts.t}` +
  `${pad(parts.hour)}:${pad(parts.minute)}:${pad(parts.second)}${parts.fraction}${parts.zone}`

const digits = ({ between }: Prng, count: number) => Array.from({ length: count }, () => between(0, 9)).join("")

const zoneOf = (random: Prng): string => {
  if (random.chance(0.4)) return random.pick(["Z", "Z", "z", "+00:00", "-00:00", "+0000"])
  const sign = random.pick(["+", "-"])
  return `${sign}${pad(random.between(0, 23))}${random.pick([":", ""])}${pad(random.between(0, 59))}`
}

/** Fields of an instant: half of the years near the present, the last day of a month often. */
const partsOf = (random: Prng): Parts => {
  const year = random.chance(0.5) ? random.between(1970, 2060) : random.between(1, 9999)
  const month = random.between(1, 12)
  const days = daysOf(year, month)
  return {
    year,
    month,
    day: random.chance(0.3) ? days : random.between(1, days),
    hour: random.between(0, 23),
    minute: random.between(0, 59),
    second: random.between(0, 59),
    t: random.pick(["T", "T", "t"]),
    fraction: random.chance(0.5) ? "" : `.${digits(random, random.between(1, 12))}`,
    zone: zoneOf(random)
  }
}

/** A leap second, which is 23:59:60 in UTC, in any zone. */
const leapOf = (random: Prng): Parts => {
  const offset = random.between(-1439, 1439)
  const local = ((1439 + offset) % 1440 + 1440) % 1440
  const zone = `${offset < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`
  return { ...partsOf(random), hour: Math.floor(local / 60), minute: local % 60, second: 60, zone }
}

/** A valid instant; the colon of its zone may be missing. */
export const wellFormed = (random: Prng): string => write(random.chance(0.02) ? leapOf(random) : partsOf(random))

const pattern = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):?(\d\d))$/

/** The instant of a valid text by `Date`; a field that overflows, such as second 60, carries into the next one. */
export const oracle = (text: string): number => {
  const [, year, month, day, hour, minute, second, fraction = "", sign, hours, minutes] = pattern.exec(text) ?? []
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(3, "0").slice(0, 3)))
  const offset = sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return date.getTime() - offset
}

const replace = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1)

/** Ways to make an instant invalid. */
const misspellings: Readonly<Record<string, (parts: Parts, random: Prng) => string>> = {
  "no zone": (parts) => write({ ...parts, zone: "" }),
  "a zone without minutes": (parts, { between }) => write({ ...parts, zone: `+${pad(between(0, 23))}` }),
  "a zone with one digit of hours": (parts) => write({ ...parts, zone: "+5:30" }),
  "a zone with hour 24 or more": (parts, { between }) => write({ ...parts, zone: `-${between(24, 99)}:00` }),
  "a zone with minute 60 or more": (parts, { between }) => write({ ...parts, zone: `+01${between(60, 99)}` }),
  "a zone with seconds": (parts) => write({ ...parts, zone: "+01:00:00" }),
  "a zone with another minus": (parts) => write({ ...parts, zone: "\u221205:00" }),
  "a zone by name": (parts, { pick }) => write({ ...parts, zone: pick(["UTC", "GMT", "Y", " EST", "Z[UTC]", "+Z"]) }),
  "two zones": (parts) => write({ ...parts, zone: `Z${parts.zone}` }),
  "month 0": (parts) => write({ ...parts, month: 0 }),
  "month 13 or more": (parts, { between }) => write({ ...parts, month: between(13, 99) }),
  "day 0": (parts) => write({ ...parts, day: 0 }),
  "a day after the last": (parts) => write({ ...parts, day: daysOf(parts.year, parts.month) + 1 }),
  "day 32 or more": (parts, { between }) => write({ ...parts, day: between(32, 99) }),
  "29 February of a common year": (parts, { between }) => {
    const year = between(1, 9998)
    return write({ ...parts, year: daysOf(year, 2) === 29 ? year + 1 : year, month: 2, day: 29 })
  },
  "30 February": (parts) => write({ ...parts, month: 2, day: 30 }),
  "hour 24 or more": (parts, { between }) => write({ ...parts, hour: between(24, 99) }),
  "24:00:00": (parts) => write({ ...parts, hour: 24, minute: 0, second: 0 }),
  "minute 60 or more": (parts, { between }) => write({ ...parts, minute: between(60, 99) }),
  "second 61 or more": (parts, { between }) => write({ ...parts, second: between(61, 99) }),
  "a leap second at another time": (parts, { between }) =>
    write({ ...parts, zone: "Z", minute: between(0, 58), second: 60 }),
  "year 0000": (parts) => write({ ...parts, year: 0 }),
  "a year of five digits": (parts, { between }) => write({ ...parts, year: between(10_000, 99_999) }),
  "a year of six digits with its sign": (parts, { pick }) => `${pick(["+", "-"])}00${write(parts)}`,
  "a year of two digits": (parts) => write(parts).slice(2),
  "a fraction without digits": (parts) => write({ ...parts, fraction: "." }),
  "a fraction after a comma": (parts) => write({ ...parts, fraction: ",5" }),
  "two fractions": (parts) => write({ ...parts, fraction: ".5.5" }),
  "a number in one digit": (parts, { pick }) => {
    const text = write(parts)
    const at = pick([5, 8, 11, 14, 17])
    return text.slice(0, at) + text.slice(at + 1)
  },
  "another separator": (parts, { pick }) =>
    replace(write(parts), pick([4, 7, 10, 13, 16]), pick(["/", ".", "_", " ", ""])),
  "a character that is not a digit": (parts, { between, pick }) => {
    const at = pick([0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18])
    return replace(
      write(parts),
      at,
      pick(["O", "x", "-", "+", " ", "٣", "３", "\u0000", String.fromCharCode(between(58, 120))])
    )
  },
  "an inserted character": (parts, { between, pick }) => {
    const text = write(parts)
    const at = between(0, text.length)
    return text.slice(0, at) + pick([" ", "\n", "\t", "a", "\u200b", "T", "☃"]) + text.slice(at)
  },
  "only a part": (parts, { between }) => write(parts).slice(0, between(0, 19)),
  "another notation of time": (parts, { pick }) =>
    pick([
      new Date(parts.year, parts.month).toUTCString(),
      String(parts.year),
      `${write(parts).slice(0, 10)}`,
      write(parts).slice(0, 16),
      write(parts).replaceAll("-", "").replaceAll(":", ""),
      `foo ${parts.day}`
    ])
}

/** The names of all ways to misspell an instant. */
export const allMisspellings = Object.keys(misspellings)

/** An invalid text and the name of its misspelling. */
export const malformed = (random: Prng) => {
  const misspelling = allMisspellings[random.between(0, allMisspellings.length - 1)] ?? ""
  return { misspelling, text: misspellings[misspelling]?.(partsOf(random), random) ?? "" }
}
