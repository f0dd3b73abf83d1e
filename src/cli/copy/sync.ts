/** `time-punches copy sync`, and `sync` for short: keeps a copy of the punches of a company in a database. */
import * as Command from "effect/cli/Command"
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { intervalForm, keepHistory, onFlag, readInterval, text } from "../flags/values.ts"
import { companiesFlags } from "./companies.ts"

/** What a sweep compares: the clock-ins of the time up to now, or all punches. */
export type SweepRange = Duration.Duration | "all"

/** Reads `35d`, or `all`. */
export const readSweepRange = (text: string): Option.Option<SweepRange> =>
  text === "all" ? Option.some("all") : readInterval(text)

export const syncFlags = {
  ...companiesFlags,
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
  history: onFlag("history", "Keep each version that a pass replaces, for time-punches payroll diff"),
  keepHistory: keepHistory(
    "With --history: after each pass, remove versions that were replaced longer ago than this (default: keep all)"
  ),
  allowMissing: onFlag("allow-missing", "With --sweep: let it mark more than 20 % of its window as missing"),
  sortById: onFlag("sort-by-id", "Read in the order of ids, if doctor says that the service keeps it beside a cursor"),
  json: onFlag("json", "One JSON object for each pass, a line each")
}

/** The parsed flags. */
export type SyncInput = Command.Command.Config.Infer<typeof syncFlags>

export const sync = lazyCommand(
  "sync",
  syncFlags,
  () => import("./run.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Keep a copy of the punches of a company in a database.

  A run does one pass: the first pass reads everything, a later one reads what
  has changed since. Rows and progress are stored together, page by page:
  after an interruption the same command continues at the page where it
  stopped. --sweep finds rows that the service no longer shows, and marks them
  as missing.

  Set a password in PGPASSWORD, or in the URL of TIME_PUNCHES_DATABASE_URL;
  --database refuses one. time-punches sync is the same command.`
  ),
  Command.withShortDescription("Keep a copy of the punches in a database"),
  Command.withExamples([
    { command: "time-punches copy sync --database punches.db", description: "One pass, into a file of SQLite" },
    {
      command: "time-punches copy sync --database punches.db --every 15m --sweep 35d",
      description: "A pass each quarter of an hour, a sweep each day"
    },
    {
      command: "time-punches copy sync --database punches.db --history",
      description: "Keep what a pass replaces, for time-punches payroll"
    }
  ])
)
