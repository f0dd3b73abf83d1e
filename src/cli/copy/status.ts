/** `time-punches copy status`: how old and how complete a copy is. Sends nothing. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { statusFlags } from "./statusFlags.ts"

export const status = lazyCommand(
  "status",
  statusFlags,
  () => import("./statusRun.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Print how old and how complete a copy is, and send nothing.

  With --max-age the exit code is 10 if the last complete sync run ended
  longer ago: for a monitor.`
  ),
  Command.withShortDescription("Print how old a copy is"),
  Command.withExamples([
    { command: "time-punches copy status --database punches.db", description: "For people" },
    { command: "time-punches copy status --database punches.db --max-age 30m --json", description: "For a monitor" }
  ])
)
