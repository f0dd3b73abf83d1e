/** The clock of local dates: `--zone` and `--day-starts`, or a day rule for each location from a file: `--zone-file FILE`. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Crypto from "node:crypto"
import { LocationId } from "../../Ids.ts"
import { formatInstant } from "../../internal/wire/instant.ts"
import { dayStartsOf, zoneOf } from "../../payroll/DayRule.ts"
import type * as Period from "../../payroll/Period.ts"
import type { CommandFailure } from "../failure.ts"
import { printWarning } from "../print/messages.ts"
import { parseCsvFile, readCsvFile, wrongLine } from "./csvFile.ts"
import { fileFlag, readWhole, text, units, wholeNumber } from "./values.ts"

export const zoneFileFlag = fileFlag(
  "zone-file",
  "A zone for each location, from a CSV file with the columns location_id,zone and maybe day_starts"
)

/** What a zone is written as; it completes "must be …". */
const zoneForm = "the name of a time zone, such as Europe/Berlin, or an offset from -12:00 to +14:00, such as +01:00"

/**
 * Texts that name no place: without summer time, or an engine's own, by which the days are those of another continent. The
 * texts of three letters that stay are names of tzdata that mean one clock.
 */
const noPlace = /^(?:(?!(?:UTC|GMT|UCT|CET|MET|EET|WET|PRC|ROC|ROK)$)[a-z]{3}|SystemV\/.*)$/i

/** What people mean by a text that an engine takes for another place. */
const meant: Readonly<Partial<Record<string, string>>> = {
  ART: "America/Argentina/Buenos_Aires",
  AST: "America/Halifax",
  BST: "Europe/London",
  EST: "America/New_York",
  MST: "America/Denver",
  NST: "America/St_Johns",
  SST: "Pacific/Pago_Pago"
}

/** What is wrong with a text that `readZone` rejects; it completes "must be …". */
export const zoneFormOf = (text: string): string => {
  const taken = noPlace.test(text) ? DateTime.zoneFromString(text) : Option.none()
  if (Option.isNone(taken)) return zoneForm
  const name = DateTime.zoneToString(taken.value)
  const offsets = ["2026-01-01", "2026-07-01"].map((day) => offsetOn(day, taken.value))
  const place = meant[text.toUpperCase()] ?? (noPlace.test(name) ? "America/New_York" : name)
  return `the name of a place, such as ${place}: ${text} would be ${name}, ${[...new Set(offsets)].join(" or ")}`
}

/** Reads a zone. Rejects offsets outside -12:00 to +14:00, which no place uses, and texts that name no place. */
export const readZone = (text: string): Option.Option<DateTime.TimeZone> =>
  Option.filter(
    DateTime.zoneFromString(text),
    (zone) =>
      zone._tag === "Named"
        ? !noPlace.test(text)
        : /[0-5]\d$/.test(text) && zone.offset >= -12 * units.h && zone.offset <= 14 * units.h
  )

/** `+05:45`. */
const offsetOn = (day: string, timeZone: DateTime.TimeZone): string =>
  DateTime.formatIsoOffset(DateTime.makeZonedUnsafe(day, { timeZone })).slice(-6)

/** Warns of zones whose names have the sign of POSIX: `Etc/GMT+5` is west of Greenwich. */
export const warnOfSigns = (zones: ReadonlyArray<DateTime.TimeZone>) => {
  const named = new Map(zones.map((zone) => [DateTime.zoneToString(zone), zone]))
  const inverted = [...named].filter(([name]) => /^Etc\/GMT[+-]/.test(name))
  return printWarning(...inverted.map(([name, zone]) => `${name} is ${offsetOn("2026-01-01", zone)}`))
}

export const zone = text(
  "zone",
  "ZONE",
  "Time zone of local dates and times, such as America/New_York or +01:00",
  zoneFormOf,
  readZone
)

/** Reads `04:00` or `-02:00`, from -12:00 to 12:00. */
export const readDayStarts = (text: string): Option.Option<Duration.Duration> => {
  const [, sign, hours, minutes] = /^(-?)(\d\d):([0-5]\d)$/.exec(text) ?? []
  const millis = Number(hours) * units.h + Number(minutes) * units.m
  return millis <= 12 * units.h ? Option.some(Duration.millis(sign === "-" ? -millis : millis)) : Option.none()
}

/** Writes it in the same form. `millis`: from midnight. */
export const dayStartsText = (millis: number): string => {
  const minutes = Math.abs(millis) / units.m
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => `${part}`.padStart(2, "0"))
  return `${millis < 0 ? "-" : ""}${hour}:${minute}`
}

/** What `readDayStarts` expects; it completes "must be …". */
export const dayStartsForm = "a time from 00:00 to 12:00, such as 04:00, or before midnight, such as -02:00"

export const dayStarts = text(
  "day-starts",
  "HH:MM",
  "When a local day begins (default: 00:00); --day-starts=-02:00 is 22:00 of the day before",
  dayStartsForm,
  readDayStarts
)

/** The day rule of each location that the file names. */
export type LocationDayRules = ReadonlyMap<LocationId, Period.DayRule>

const headers = ["location_id,zone", "location_id,zone,day_starts"]

/** A zone with the start of its days, if one is given. */
export const dayRuleAt = (zone: DateTime.TimeZone, dayStarts: Option.Option<Duration.Duration>): Period.DayRule =>
  Option.match(dayStarts, { onNone: () => zone, onSome: (dayStarts) => ({ zone, dayStarts }) })

/**
 * The day rules of the file, if one is given. `dayStarts` is for the locations that the file gives no start of the day. Fails
 * on the first line that is wrong, before anything is requested.
 */
export const readZones = (file: Option.Option<string>, dayStarts: Option.Option<Duration.Duration>) =>
  readCsvFile(file, (bytes, name) => parseZones(bytes, name, dayStarts)).pipe(
    Effect.tap((dayRules) => warnOfSigns(Option.toArray(dayRules).flatMap((each) => Array.from(each.values(), zoneOf))))
  )

/** Reads the bytes of such a file, in UTF-8; spaces around a cell do not count. `file` is its name in errors. */
export const parseZones = Effect.fnUntraced(function*(
  bytes: Uint8Array,
  file: string,
  dayStarts: Option.Option<Duration.Duration> = Option.none()
): Effect.fn.Return<LocationDayRules, CommandFailure> {
  const dayRules = new Map<LocationId, Period.DayRule>()
  const lines = new Map<LocationId, number>()
  yield* parseCsvFile(bytes, file, headers, (cells, line) => {
    const [id = "", name = "", start = ""] = cells.map((cell) => cell.trim())
    const locationId = Option.flatMap(readWhole(id), LocationId.makeOption)
    if (Option.isNone(locationId)) return `the id must be ${wholeNumber(0)}, not "${id}"`
    const zone = readZone(name)
    if (Option.isNone(zone)) return `the zone must be ${zoneFormOf(name)}, not "${name}"`
    const own = readDayStarts(start)
    if (start !== "" && Option.isNone(own)) return `the start of the day must be ${dayStartsForm}, not "${start}"`
    const earlier = lines.get(locationId.value)
    if (earlier !== undefined) return `line ${earlier} has a zone for location ${locationId.value} already`
    dayRules.set(locationId.value, dayRuleAt(zone.value, Option.orElse(own, () => dayStarts)))
    lines.set(locationId.value, line)
    return undefined
  })
  // Without a location every punch would fail, and a file without punches would pass for a complete one.
  if (dayRules.size === 0) return yield* wrongLine(file, 1, "no location follows the columns")
  return dayRules
})

/**
 * What decides which punches belong to the period: the zones and the starts of their days, as a hash, and the period by each
 * day rule. Equal texts are equal choices, whatever the order of the file.
 */
export const describeZones = (
  locations: LocationDayRules,
  period: (dayRule: Period.DayRule) => Period.Interval
): Readonly<Record<string, string>> => {
  const rows = [...locations]
    .toSorted(([a], [b]) => a - b)
    .map(([locationId, dayRule]) => `${locationId},${dayRuleText(dayRule)}\n`)
  const hash = Crypto.createHash("sha256").update(rows.join("")).digest("hex")
  const dayRules = new Map([...locations.values()].map((dayRule) => [dayRuleText(dayRule), dayRule]))
  const periods = [...dayRules].map(([name, dayRule]) => {
    const { gte, lt } = period(dayRule)
    const [from, to] = [gte, lt].map(({ epochMilliseconds }) => formatInstant(epochMilliseconds))
    return [`period in ${name}`, `${from} to ${to}`] as const
  })
  return { "--zone-file": `${locations.size} with sha256 ${hash}`, ...Object.fromEntries(periods) }
}

/** A zone, and when its days begin if not at midnight: `America/New_York,04:00`. */
export const dayRuleText = (dayRule: Period.DayRule): string => {
  const [zone, starts] = [DateTime.zoneToString(zoneOf(dayRule)), dayStartsOf(dayRule)]
  return starts === 0 ? zone : `${zone},${dayStartsText(starts)}`
}
