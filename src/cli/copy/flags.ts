/** The flags of `time-punches sync`. */
import type * as Command from "effect/cli/Command"
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { databaseFlag, maxAgeFlag } from "../database/database.ts"
import { companyFlags, readCompany } from "../flags/connection.ts"
import { intervalForm, keepHistory, onFlag, readInterval, text, wholeNumber } from "../flags/values.ts"

/** What a sweep compares: the clock-ins of the time up to now, or all punches. */
export type SweepRange = Duration.Duration | "all"

/** Reads `35d`, or `all`. */
export const readSweepRange = (text: string): Option.Option<SweepRange> =>
  text === "all" ? Option.some("all") : readInterval(text)

export const syncFlags = {
  ...companyFlags,
  company: text(
    "company",
    "ID[=GUID],…",
    "The company (default: TIME_PUNCHES_COMPANY_ID), or several, one after the other: 4021,4022=GUID",
    `the id of a company, ${wholeNumber(1)}, or several of ID or ID=GUID joined by commas`,
    (value) => Option.all(value.split(",").map(readCompany))
  ),
  database: databaseFlag,
  every: text(
    "every",
    "TIME",
    "Repeat: one pass in each period of this length, such as 5s, 15m or 2h",
    intervalForm("15m"),
    readInterval
  ),
  sweep: text(
    "sweep",
    "TIME|all",
    "Re-read the clock-ins of this period (35d, or all) and mark missing rows; with --every, once a day",
    `${intervalForm("35d")}, or all`,
    readSweepRange
  ),
  history: onFlag("history", "Keep each version that a pass replaces, for time-punches changes"),
  keepHistory: keepHistory(
    "With --history: after each pass, remove versions that were replaced longer ago than this (default: keep all)"
  ),
  allowMissing: onFlag("allow-missing", "With --sweep: let it mark more than 20 % of its window as missing"),
  sortById: onFlag("sort-by-id", "Read in the order of ids, if doctor says that the service keeps it beside a cursor"),
  status: onFlag("status", "Print how old the copy is, and send nothing"),
  maxAge: maxAgeFlag,
  json: onFlag("json", "One JSON object for each pass, a line each; with --status: one for the copy")
}

/** The parsed flags. */
export type SyncInput = Command.Command.Config.Infer<typeof syncFlags>
