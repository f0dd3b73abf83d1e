/** `time-punches payroll correct`: records what has changed since periods were closed. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { correctFlags } from "./correctFlags.ts"

export const correct = lazyCommand(
  "correct",
  correctFlags,
  () => import("./correctRun.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Record the next revision of closes whose sums have changed.

  What is due is its difference to the revision before. Without an ID it
  corrects every active close, in one write: a punch that was moved leaves one
  close and enters the other. --dry-run shows what that would be.

  The zones, thresholds and days are those of the record. --zone-file adds
  locations that a record lacks, and changes none. The revision before is
  computed again from the history first; if that is not what was recorded,
  nothing is written (exit code 7).`
  ),
  Command.withShortDescription("Record what has changed since a period was closed"),
  Command.withExamples([
    {
      command: "time-punches payroll correct --database punches.db",
      description: "All closes whose sums have changed"
    },
    {
      command: "time-punches payroll correct 7 --note 'late approvals' --database punches.db",
      description: "One close"
    }
  ])
)
