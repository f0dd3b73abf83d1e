/** The flags of `time-punches report`. */
import type * as Command from "effect/cli/Command"
import { sourceFlags } from "../database/sourceFlags.ts"
import { outputFlags } from "../files/output.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { asOf, optionalRounding, whole } from "../flags/values.ts"
import { maxShift } from "../select/maxShift.ts"
import { periodFlags } from "../select/periodFlags.ts"
import { selectionFlags } from "../select/selection.ts"
import { thresholdFlags } from "../select/thresholds.ts"

/** What a report of a close takes from its record. */
export const periodInput = {
  ...selectionFlags,
  ...periodFlags,
  ...thresholdFlags,
  maxShift,
  asOf,
  rounding: optionalRounding
}

export const reportFlags = {
  ...sourceFlags,
  ...periodInput,
  close: whole(
    "close",
    "ID",
    "Report this close: its revisions, their differences and what each person got; needs a copy, and no period",
    1
  ),
  names: namesFlag,
  ...outputFlags
}

export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>
