/** START HERE. Which punches a command reads. The flags of a period of local dates, and of the clock that it follows. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { Weekday } from "../../payroll/Weekday.ts"
import { zoneFileFlag } from "../flags/userFiles.ts"
import { calendar, date, dateForm, dateOrWord, dayStarts, readDate, readLastDays, text, zone } from "../flags/values.ts"

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
