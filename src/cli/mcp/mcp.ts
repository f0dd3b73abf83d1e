/** `time-punches mcp`: answers an assistant's questions from a copy, by the Model Context Protocol. */
import * as Command from "effect/cli/Command"
import { databaseFlag } from "../database/database.ts"
import { companyFlags } from "../flags/connection.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { namesFlag, zoneFileFlag } from "../flags/userFiles.ts"
import { onFlag } from "../flags/values.ts"

export const mcp = lazyCommand(
  "mcp",
  {
    database: databaseFlag,
    company: companyFlags.company,
    zoneFile: zoneFileFlag,
    names: namesFlag,
    withWages: onFlag("with-wages", "Let answers contain wages, costs and tips")
  },
  () => import("./server.ts"),
  ({ serve }) => serve
).pipe(
  Command.withDescription(
    `Let an assistant read a copy, without the right to change anything.

  It speaks the Model Context Protocol on standard input and output. An
  assistant starts it; people do not type into it. Its tools are status,
  summary, list, payroll_check, payroll_list, payroll_due, payroll_diff and
  recent_changes. Each answers from the copy, and says how old it is.

  It sends nothing to the service and reads no credential. Answers have wages
  only with --with-wages, and names only with --names. The notes of punches are
  marked as untrusted text: a note may contain instructions for the assistant.`
  ),
  Command.withShortDescription("Let an assistant read a copy (Model Context Protocol)"),
  Command.withExamples([
    { command: "time-punches mcp --database punches.db", description: "Serve the copy, without wages and names" },
    {
      command: "time-punches mcp --database punches.db --zone-file zones.csv --names names.csv --with-wages",
      description: "With the clock of each location, names and wages"
    }
  ])
)
