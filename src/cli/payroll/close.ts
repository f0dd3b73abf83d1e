/** `time-punches payroll close`: checks a period, sums it and records the sums. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { closeFlags } from "./closeFlags.ts"

export const close = lazyCommand(
  "close",
  closeFlags,
  () => import("./closeRun.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Close a payroll period: check it, sum it and record the sums.

  It reads a copy with a history as of one time, and sends nothing.

  With an issue it writes nothing and exits with 9: what payroll check finds,
  time that no close has (gap), a copy whose last complete sync run began before
  the period ended (stale), or a period without a punch (empty). --accept lets
  kinds through by name. Two closes never overlap at a location. --accept edge
  begins the close at the end of the one before if the two are less than 48
  hours apart, such as after a zone was corrected.

  --next takes the terms and the calendar of the record, so that no flag can be
  forgotten: the oldest period that fell out of every close, else the one behind
  the last close. A flag that says otherwise is refused; --zone-file may add
  locations. --accept gap closes the period behind the last close instead.`
  ),
  Command.withShortDescription("Close a payroll period and record its sums"),
  Command.withExamples([
    {
      command: "time-punches payroll close --pay-period last --calendar 14d:2026-01-05 --zone-file zones.csv " +
        "--weekly-threshold 40h --database punches.db",
      description: "The last fortnight"
    },
    {
      command: "time-punches payroll close --next --database punches.db",
      description: "The period after it, by the same terms"
    },
    {
      command: "time-punches payroll close --week 2026-03-02 --zone America/New_York --accept unapproved " +
        "--database punches.db --json",
      description: "A week with unapproved punches, as JSON"
    }
  ])
)
