/** The flags of `time-punches payroll check`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { sourceFlags } from "../database/sourceFlags.ts"
import { outputFlags } from "../files/output.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { csvFlags, formatFlags, instant } from "../flags/values.ts"
import { maxShift } from "../select/maxShift.ts"
import { periodFlags } from "../select/periodFlags.ts"
import { selectionFlags } from "../select/selection.ts"

/** The forms of its result. */
export const forms = ["table", "csv", "json"] as const

export const checkFlags = {
  ...sourceFlags,
  ...selectionFlags,
  ...periodFlags,
  maxShift,
  accept: Flag.Literals("accept", ["empty"]).pipe(
    Flag.withDescription("empty: exit with 0 if no punch matches; without it the exit code is then 9"),
    Flag.optional
  ),
  asOf: instant("as-of", "Treat open punches as clocked out at this instant; without it only their clock-in counts"),
  ...formatFlags(forms, "table for people; csv and json for programs"),
  ...csvFlags,
  ...outputFlags,
  names: namesFlag
}

export type CheckInput = Command.Command.Config.Infer<typeof checkFlags>
