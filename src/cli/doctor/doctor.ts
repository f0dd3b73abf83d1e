/** `time-punches doctor`: checks settings and service, one line a check, and one advice. */
import * as Command from "effect/cli/Command"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { companyFlags, limitFlags } from "../flags/connection.ts"
import { filterFlags } from "../flags/filter.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { jsonFlags, onFlag } from "../flags/values.ts"

/** Small, so that a few punches still make several pages. */
const usualPageSize = 20

export const doctor = lazyCommand(
  "doctor",
  {
    ...companyFlags,
    ...limitFlags,
    ...filterFlags,
    database: databaseFlag,
    full: onFlag("full", "With --database: compare every punch, not a sample"),
    ...jsonFlags,
    pageSize: makePageSizeFlag(usualPageSize)
  },
  () => import("./diagnose.ts"),
  ({ diagnose }) => ({ pageSize, ...flags }) => diagnose(flags, Option.getOrElse(pageSize, () => usualPageSize))
).pipe(
  Command.withDescription(
    `Check settings and service, one line a check: ok, warn or FAIL, and at the
  end one advice.

  It checks the settings, the service's answer and clock, whether the
  credential may list the company, whether cursors lead forward and back and
  end where the punches end, which order an incremental sync can rely on, and
  whether the rows match the filter that was sent. It compares the answers
  with each other: about 35 requests, and at most three times as many if
  answers contradict each other and are requested again. It also checks the
  filters that you pass.

  With --database it also checks a copy that time-punches sync keeps: its age,
  its rows, and whether 20 punches drawn at random, or all of them with
  --full, are what the service shows. The exit code is that of the failed
  check with the most basic cause.`
  ),
  Command.withShortDescription("Diagnose settings and service"),
  Command.withExamples([
    { command: "time-punches doctor", description: "Everything" },
    { command: "time-punches doctor --database punches.db --full", description: "Compare a copy with the service" },
    {
      command: "time-punches doctor --flags late --approved false",
      description: "Check also that these filters are applied"
    }
  ])
)
