/** `time-punches list`: prints punches page by page, as a table, JSON, NDJSON or CSV. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { listFlags } from "./flags.ts"

export const list = lazyCommand(
  "list",
  listFlags,
  () => import("./run.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Print the punches of a company, in the service's order.

  If the listing fails or is interrupted, a line on standard error has the
  --cursor to resume it with.`
  ),
  Command.withShortDescription("Print punches"),
  Command.withExamples([
    { command: "time-punches list --limit 20", description: "A first look" },
    {
      command: "time-punches list --location-id 301 --week 2026-03-02 --zone America/New_York",
      description: "A week of one location, in its local time"
    },
    { command: "time-punches list --last 7d --zone-file zones.csv", description: "Each location by its own clock" },
    { command: "time-punches list --approved false --format ndjson", description: "Unapproved punches, for jq" },
    {
      command: "time-punches list --flags late,missed_break --format csv",
      description: "Flagged punches, for a spreadsheet"
    }
  ])
)
