/** The flags of `time-punches copy sync`. */
import type * as Command from "effect/cli/Command"
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { limitFlags } from "../flags/connection.ts"
import { intervalForm, keepHistory, makeJsonFlags, onFlag, readInterval, text } from "../flags/values.ts"
import { companiesFlags } from "./companies.ts"

/** What a sweep compares: the clock-ins of the time up to now, or all punches. */
export type SweepRange = Duration.Duration | "all"

/** Reads `35d`, or `all`. */
export const readSweepRange = (text: string): Option.Option<SweepRange> =>
  text === "all" ? Option.some("all") : readInterval(text)

export const syncFlags = {
  ...companiesFlags,
  ...limitFlags,
  database: databaseFlag,
  every: text(
    "every",
    "TIME",
    "Repeat: one sync run in each period of this length, such as 5s, 15m or 2h",
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
  history: onFlag("history", "Keep each version that a sync run replaces, for time-punches payroll diff"),
  keepHistory: keepHistory(
    "With --history: after each sync run, remove versions that were replaced longer ago than this (default: keep all)"
  ),
  allowMissing: onFlag("allow-missing", "With --sweep: let it mark more than 20 % of its window as missing"),
  sortById: onFlag("sort-by-id", "Read in the order of ids, if doctor says that the service keeps it with a cursor"),
  ...makeJsonFlags("One JSON object for each sync run, a line each")
}

export type SyncInput = Command.Command.Config.Infer<typeof syncFlags>
