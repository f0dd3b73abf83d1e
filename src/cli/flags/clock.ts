/** The clock of local dates: `--zone` and `--day-starts`. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { text, units } from "./values.ts"

/** What a zone is written as; it completes "must be …". */
export const zoneForm =
  "the name of a time zone, such as Europe/Berlin, or an offset from -12:00 to +14:00, such as +01:00"

/** Reads a zone. Rejects offsets outside -12:00 to +14:00, which no place uses. */
export const readZone = (text: string): Option.Option<DateTime.TimeZone> =>
  Option.filter(
    DateTime.zoneFromString(text),
    (zone) =>
      zone._tag === "Named" || (/[0-5]\d$/.test(text) && zone.offset >= -12 * units.h && zone.offset <= 14 * units.h)
  )

export const zone = text(
  "zone",
  "ZONE",
  "Time zone of local dates and times, such as America/New_York or +01:00",
  zoneForm,
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
