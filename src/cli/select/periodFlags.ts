/** START HERE. Which punches a command reads. The flags of a period of local dates, and of the clock that it follows. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BusinessDate } from "../../Ids.ts"
import { PayCalendar } from "../../payroll/PayCalendar.ts"
import { Weekday } from "../../payroll/Weekday.ts"
import { date, dateForm, readDate, readInterval, text } from "../flags/values.ts"
import { dayStarts, zone, zoneFileFlag } from "../flags/zones.ts"

/** A word for the date of a period: the one before today's, or today's. */
export type PeriodWord = "last" | "current"

export const isPeriodWord = (text: string): text is PeriodWord => text === "last" || text === "current"

/** A date, or a word for it. */
export const dateOrWord = (
  name: string,
  metavar: string,
  description: string,
  expected: string,
  read: typeof readDate
) =>
  text(
    name,
    `${metavar}|last|current`,
    description,
    `${expected}, or last or current`,
    (text): Option.Option<BusinessDate | PeriodWord> => isPeriodWord(text) ? Option.some(text) : read(text)
  )

/** Reads `14d:2026-01-05`, `1,16` or `26`. */
export const readCalendar = (text: string): Option.Option<PayCalendar> => {
  const [, days, anchor] = /^(\d{1,8})d:(.*)$/.exec(text) ?? []
  return decodeCalendar(
    days !== undefined
      ? { kind: "days", days: Number(days), anchor }
      : { kind: "months", firstDays: /^\d{1,2}(,\d{1,2})?$/.test(text) ? text.split(",").map(Number) : [] }
  )
}

const decodeCalendar = Schema.decodeUnknownOption(PayCalendar)

/** What `readCalendar` expects; it completes "must be …". */
export const calendarForm =
  "days from 1d to 10000000d with a date on which a period begins, such as 14d:2026-01-05, or one or two days of a month, " +
  "such as 26 or 1,16, the first of two at most 27"

export const calendar = text(
  "calendar",
  "CALENDAR",
  "The pay periods of --pay-period: 14d:2026-01-05 (every 14 days), 1,16 (twice a month) or 26 (from the 26th)",
  calendarForm,
  readCalendar
)

/** Reads a number of days, `1d` to `366d`. A local day is not always 24 hours, so no other unit will do. */
export const readLastDays = (text: string): Option.Option<number> =>
  text.endsWith("d") ? Option.map(readInterval(text), (interval) => Duration.toDays(interval)) : Option.none()

export const periodFlags = {
  week: dateOrWord(
    "week",
    "DATE",
    "Clocked in during the local week of this date; every period needs --zone or --zone-file",
    dateForm,
    readDate
  ),
  month: dateOrWord(
    "month",
    "YYYY-MM",
    "Clocked in during this local month",
    "a month as YYYY-MM, from 0001-01 to 9999-12",
    (month) => readDate(`${month}-01`)
  ),
  payPeriod: dateOrWord(
    "pay-period",
    "DATE",
    "Clocked in during the pay period of this date; goes with --calendar",
    dateForm,
    readDate
  ),
  calendar,
  last: text(
    "last",
    "DAYS",
    "Clocked in during the last days, today included, such as 7d",
    "a number of days from 1d to 366d, such as 7d",
    readLastDays
  ),
  from: date("from", "Clocked in on this local date or later; goes with --to"),
  to: date("to", "Clocked in on this local date or earlier; goes with --from"),
  weekStarts: Flag.Literals("week-starts", Weekday.literals).pipe(
    Flag.withDescription("The first day of --week, and of the weeks of summary --weekly-threshold (default: monday)"),
    Flag.optional
  ),
  zone,
  zoneFile: zoneFileFlag,
  dayStarts
}

export type PeriodInput = Command.Command.Config.Infer<typeof periodFlags>
