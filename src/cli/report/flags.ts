/** The flags of `time-punches report`. */
import type * as Command from "effect/cli/Command"
import { maxDuration, selectionFlags } from "../check/check.ts"
import { sourceFlags } from "../copy/source.ts"
import { namesFlag } from "../flags/names.ts"
import { periodFlags } from "../flags/period.ts"
import { asOf, nonBlank, optionalRounding, whole } from "../flags/values.ts"
import { aboveFlags } from "../summary/groups.ts"

/** What a report of a close takes from its record. */
export const periodInput = {
  ...selectionFlags,
  ...periodFlags,
  ...aboveFlags,
  maxDuration,
  asOf,
  rounding: optionalRounding
}

export const reportFlags = {
  ...sourceFlags,
  ...periodInput,
  close: whole(
    "close",
    "ID",
    "Report this close: its states, their differences and what each person got; needs --database, and no period",
    1
  ),
  names: namesFlag,
  output: nonBlank(
    "output",
    "FILE",
    "Write this file, which must not exist; only its owner may read it (default: standard output)",
    "the name of a file"
  )
}

/** The parsed flags. */
export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>
