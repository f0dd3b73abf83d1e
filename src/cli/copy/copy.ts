/** `time-punches copy`: its verbs, each in its own file. */
import * as Command from "effect/cli/Command"
import { erase } from "./erase.ts"
import { feed } from "./feed.ts"
import { status } from "./status.ts"
import { sync } from "./sync.ts"

export const copy = Command.make("copy").pipe(
  Command.withDescription(
    `Keep a copy of the punches of a company in a database.

  sync brings it up to date, status says how old it is, feed tells what
  changes in it, and erase removes it.
  time-punches fleet keeps the copies of many companies.`
  ),
  Command.withShortDescription("Keep, look at, follow and erase a copy"),
  Command.withExamples([
    { command: "time-punches copy sync --database punches.db", description: "One sync run, into a file of SQLite" },
    { command: "time-punches copy status --database punches.db", description: "How old the copy is" }
  ]),
  Command.withSubcommands([sync, status, feed, erase])
)
