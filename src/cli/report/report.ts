/** `time-punches report`: a period, or a close, as one page of HTML. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { intoOutput } from "../files/output.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { reportFlags } from "./flags.ts"

export const report = lazyCommand(
  "report",
  reportFlags,
  () => import("./pages.ts"),
  ({ run }) => (flags) => intoOutput(Effect.scoped(run(flags)), flags)
).pipe(
  Command.withDescription(
    `Write a period as one page of HTML, for people who look and do not compute.

  The page has hours by day and location, cost by location, hours by person
  with those over a threshold marked, the people
  on the clock by weekday and hour, what check finds, and the sums of summary
  as tables. It is one file without a script that loads nothing: it can be
  sent and printed. It holds wages: only its owner may read a new file of
  --output.

  --close reports a close from its record in the copy: its revisions, their
  differences and what each person got. Dates, zones and
  thresholds are those of the record.`
  ),
  Command.withShortDescription("Write a period, or a close, as a page of HTML"),
  Command.withExamples([
    {
      command: "time-punches report --week 2026-03-02 --zone America/New_York --output week.html",
      description: "A payroll week"
    },
    {
      command:
        "time-punches report --pay-period last --calendar 14d:2026-01-05 --zone-file zones.csv --names names.csv " +
        "--weekly-threshold 40h --database punches.db --output fortnight.html",
      description: "The last fortnight from a copy, each location by its own clock"
    },
    {
      command: "time-punches report --close 7 --database punches.db --output close-7.html",
      description: "A close, with its corrections"
    }
  ])
)
