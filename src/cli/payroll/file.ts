/** `time-punches payroll file`: the file that a payroll program takes, of a revision or as a preview. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { intoOutput } from "../files/output.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { fileFlags } from "./fileFlags.ts"

export const file = lazyCommand(
  "file",
  fileFlags,
  () => import("./fileRun.ts"),
  ({ run }) => (flags) =>
    // The file has its name before it is noted.
    Effect.flatMap(intoOutput(run(flags), flags), ({ note }) => note)
).pipe(
  Command.withDescription(
    `Print the file of a revision for a payroll program.

  Of the first revision it has the sums, of a later one the difference to the
  file of the revision before. It is the same file each time. The files of all
  active revisions add up, cell by cell, to a file of the newest one.

  With --output, the close notes the time, the user, the mapping and the codes.
  A later file of the close by another mapping or with other codes is warned
  about.

  --preview prints the file that a close of the period would have now. It
  checks and records nothing.`
  ),
  Command.withShortDescription("Print what a revision pays, as a file"),
  Command.withExamples([
    {
      command: "time-punches payroll file 7.2 --mapping payroll.json --codes codes.csv --output pay.csv " +
        "--database punches.db",
      description: "What revision 7.2 pays"
    },
    {
      command: "time-punches payroll file --preview --week 2026-03-02 --zone America/New_York " +
        "--mapping payroll.json --database punches.db",
      description: "What a close of the week would pay"
    }
  ])
)
