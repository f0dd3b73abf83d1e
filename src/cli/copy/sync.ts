/** `time-punches copy sync`, and `sync` for short: keeps a copy of the punches of a company in a database. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { syncFlags } from "./flags.ts"

export const sync = lazyCommand(
  "sync",
  syncFlags,
  () => import("./run.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Keep a copy of the punches of a company in a database.

  It does one sync run: the first reads everything, a later one what has
  changed since. Rows and progress are stored together, page by page: after an
  interruption the same command continues at the page where it stopped. --sweep
  finds rows that the service no longer shows, and marks them as missing.

  Set a password in PGPASSWORD, or in the URL of TIME_PUNCHES_DATABASE_URL;
  --database refuses one. time-punches sync is the same command.`
  ),
  Command.withShortDescription("Keep a copy of the punches in a database"),
  Command.withExamples([
    { command: "time-punches copy sync --database punches.db", description: "One sync run, into a file of SQLite" },
    {
      command: "time-punches copy sync --database punches.db --every 15m --sweep 35d",
      description: "A sync run each quarter of an hour, a sweep each day"
    },
    {
      command: "time-punches copy sync --database punches.db --history",
      description: "Keep what a sync run replaces, for time-punches payroll"
    }
  ])
)
