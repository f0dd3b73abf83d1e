/** `time-punches export`: writes every matching punch to a file, and resumes an interrupted run. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { exportFlags } from "./flags.ts"

export const exportCommand = lazyCommand(
  "export",
  exportFlags,
  () => import("./run.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Write the punches of a company to a file.

  Rows are collected in FILE.part, and FILE.resume.json records the progress
  about every second. To resume an interrupted export, run the same command
  again: it writes the same file as an uninterrupted run. FILE appears at the
  end. One that exists is replaced only with --force, and keeps its rights;
  only you may read a new FILE. --output - prints the rows, and saves nothing.`
  ),
  Command.withShortDescription("Write punches to a file, resumably"),
  Command.withExamples([
    { command: "time-punches export --output punches.ndjson", description: "Everything" },
    {
      command: "time-punches export --output march.csv --month 2026-03 --zone America/New_York",
      description: "A month for a spreadsheet"
    },
    {
      command: "time-punches export --output week.ndjson --week 2026-03-02 --zone-file zones.csv",
      description: "The week of each location, by its own clock"
    },
    {
      command: "time-punches export --deleted include --modified-since 2026-03-20T00:00:00Z --output changes.ndjson",
      description: "What changed, with deletions"
    }
  ])
)
