/** `time-punches summary`: sums hours, labour cost and tips by location, user, role, department or day. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { summaryFlags } from "./flags.ts"

export const summary = lazyCommand(
  "summary",
  summaryFlags,
  () => import("./run.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Sum the punches of a company.

  net is the time worked without unpaid breaks, in hours and minutes. cost is
  net time at the hourly wage of each punch, rounded to the cent for each
  punch, without tips: an estimate, not a payroll. A threshold adds columns
  with the classes of net: regular, over and, with --double-threshold,
  double. An hour is in one of them. They are for --by user, also with week
  or day, and are figures, not a pay rule.

  From a copy that time-punches copy sync keeps it needs no credential, and says
  how old the copy is.`
  ),
  Command.withShortDescription("Sum punches, as a table with bars"),
  Command.withExamples([
    {
      command: "time-punches summary --by day --zone America/New_York --location-id 301",
      description: "One location, day by day"
    },
    {
      command: "time-punches summary --by user --week 2026-03-02 --week-starts sunday --zone America/New_York",
      description: "Hours of each user in a payroll week"
    },
    {
      command: "time-punches summary --by user --month 2026-03 --zone America/New_York --names names.csv --json",
      description: "A month for a program, with names"
    },
    {
      command: "time-punches summary --by user --week 2026-03-02 --zone-file zones.csv --weekly-threshold 40h " +
        "--daily-threshold 8h",
      description: "Hours over 40 a week and 8 a day, each location by its own clock"
    },
    {
      command: "time-punches summary --by user --last 7d --zone America/New_York --database punches.db",
      description: "The same sums from a copy, without a request"
    }
  ])
)
