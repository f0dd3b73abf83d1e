/** `time-punches payroll check`: what a person must look at before a period is closed. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { checkFlags } from "./checkFlags.ts"

export const check = lazyCommand(
  "check",
  checkFlags,
  () => import("./checkRun.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Find the issues that a person must solve before a period is closed.

  It lists punches that are open, unapproved, disputed, too long or without a
  wage, that overlap another punch of the same person (at any location, also
  across an edge of the period), or that are unusual in another way (an
  anomaly). Each line shows the person, the local time and the reason. It exits
  with 0 if there is no issue, and with 9 if there is one, or if no punch was
  checked.`
  ),
  Command.withShortDescription("Find the issues of a period before it is closed"),
  Command.withExamples([
    {
      command: "time-punches payroll check --week 2026-03-02 --week-starts sunday --zone America/New_York",
      description: "A payroll week"
    },
    {
      command: "time-punches payroll check --week 2026-03-02 --zone America/New_York --location-id 301 --max-shift 12h",
      description: "One location, and report punches over 12 hours"
    },
    {
      command: "time-punches payroll check --month 2026-03 --zone America/New_York --names names.csv --json",
      description: "A month for a program, with names"
    },
    {
      command: "time-punches payroll check --week 2026-03-02 --zone-file zones.csv --database punches.db",
      description: "Each location by its own clock, from a copy and without a request"
    }
  ])
)
