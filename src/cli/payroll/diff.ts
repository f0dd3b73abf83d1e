/** `time-punches payroll diff`: compares a period with what it was when it was closed, in a copy with a history. */
import * as Command from "effect/cli/Command"
import { intoOutput } from "../files/output.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { diffFlags } from "./diffFlags.ts"

export const diff = lazyCommand(
  "diff",
  diffFlags,
  () => import("./diffRun.ts"),
  ({ run }) => (flags) => intoOutput(run(flags), flags)
).pipe(
  Command.withDescription(
    `Compare the punches of a period with what they were when it was closed.

  It reads a copy that time-punches copy sync --history keeps, and sends
  nothing. --close ID shows the punches behind the next correction of a close:
  its record has the period, the clocks, the thresholds and the instant, and a
  flag for one of them is refused. Without --close, give for --since the instant
  that summary printed for the copy on standard error at that time.

  It lists each punch that has changed, with its kind: edited, added (the copy
  did not have it then), movedIn or movedOut (into or out of the period),
  deleted, undeleted, missing (the service no longer shows it) or back. Then it
  lists each person whose sums differ, with the difference in net time, cost
  and tips: what a correction run has to pay.`
  ),
  Command.withShortDescription("Show what has changed since a period was closed"),
  Command.withExamples([
    {
      command: "time-punches payroll diff --close 7 --database punches.db",
      description: "What the next correction of close 7 would pay, punch by punch"
    },
    {
      command: "time-punches payroll diff --week 2026-03-02 --zone America/New_York --since 2026-03-09T15:00:00Z " +
        "--database punches.db",
      description: "What has changed in a closed week"
    },
    {
      command: "time-punches payroll diff --week 2026-03-02 --zone America/New_York --since 2026-03-09T15:00:00Z " +
        "--database punches.db --format csv --names names.csv",
      description: "The difference of each person, for a correction run"
    }
  ])
)
