/** The flags of `time-punches payroll check`. */
import type * as Command from "effect/cli/Command"
import { sourceFlags } from "../database/sourceFlags.ts"
import { outputFlags } from "../files/output.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { csvFlags, formatFlags, instant, words } from "../flags/values.ts"
import { maxShift } from "../select/maxShift.ts"
import { periodFlags } from "../select/periodFlags.ts"
import { selectionFlags } from "../select/selection.ts"

/** The forms of its result. */
export const forms = ["table", "csv", "json"] as const

/** What is found of the source as a whole. */
const accepted = ["empty", "deletionsUnseen"] as const

export const checkFlags = {
  ...sourceFlags,
  ...selectionFlags,
  ...periodFlags,
  maxShift,
  accept: words(
    "accept",
    accepted,
    "Exit with 0 all the same: empty, if no punch matches; deletionsUnseen, if the copy may have punches that were deleted",
    "KINDS"
  ),
  asOf: instant("as-of", "Treat open punches as clocked out at this instant; without it only their clock-in counts"),
  ...formatFlags(forms, "table for people; csv and json for programs"),
  ...csvFlags,
  ...outputFlags,
  names: namesFlag
}

export type CheckInput = Command.Command.Config.Infer<typeof checkFlags>
