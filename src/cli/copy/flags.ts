/** The flags of a copy: which database, how often, how far a sweep reaches. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { CompanyId } from "../../Ids.ts"
import { companyFlags } from "../flags/connection.ts"
import { readInterval, readSweepRange, readWhole, text, wholeNumber } from "../flags/values.ts"

/** The database of a copy, for every subcommand that reads one. */
export const databaseFlag = Flag.String("database").pipe(
  Flag.withMetavar("FILE|URL"),
  Flag.withDescription("A file of SQLite, or postgres://host/database (default: TIME_PUNCHES_DATABASE_URL)"),
  Flag.optional
)

const onFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withoutNegation, Flag.withDefault(false))

/** What `doctor` checks of a copy. */
export const copyFlags = {
  database: databaseFlag,
  full: onFlag("full", "With --database: compare every punch, not a sample")
}

/** The parsed flags. */
export type CopyInput = Command.Command.Config.Infer<typeof copyFlags>

/** A century: further back lies no punch, and an instant must be in the calendar. */
const mostHistoryDays = 36_525

export const syncFlags = {
  ...companyFlags,
  company: text(
    "company",
    "ID",
    "The company (default: TIME_PUNCHES_COMPANY_ID)",
    "the id of one company; copies of many are the work of time-punches fleet, which is not in this release",
    (value) => Option.flatMap(readWhole(value), CompanyId.makeOption)
  ),
  database: databaseFlag,
  every: text("every", "TIME", "Repeat, one pass in each such time: 5s, 15m, 2h", "a time such as 15m", readInterval),
  sweep: text(
    "sweep",
    "TIME|all",
    "Compare the clock-ins of the last so long, such as 35d: now, or with --every once a day",
    "a time such as 35d, or all",
    readSweepRange
  ),
  history: onFlag("history", "Keep each version that a pass replaces, for time-punches changes"),
  historyDays: text(
    "history-days",
    "DAYS",
    "With --history: after each pass remove versions that were replaced longer ago (default: keep all)",
    `${wholeNumber(1, mostHistoryDays)}, the days that a version is kept`,
    (value) => readWhole(value, 1, mostHistoryDays)
  ),
  acceptGone: onFlag("accept-gone", "Let a sweep mark more than 20 % of its window as gone"),
  status: onFlag("status", "Print how old the copy is, and send nothing"),
  json: onFlag("json", "With --status: one JSON object")
}

/** The parsed flags. */
export type SyncInput = Command.Command.Config.Infer<typeof syncFlags>
