/** The flags of `time-punches payroll close`. */
import type * as Command from "effect/cli/Command"
import { Blocker } from "../../close/Blocker.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { onFlag, words } from "../flags/values.ts"
import { maxShift } from "../select/maxShift.ts"
import { makeThresholdFlags } from "../select/thresholds.ts"
import { note, recordFlags, termFlags } from "./arguments.ts"

export const closeFlags = {
  ...recordFlags,
  next: onFlag(
    "next",
    "The period that follows the newest close, with its zones, starts of days, thresholds, rounding and first day of a week"
  ),
  ...termFlags,
  ...makeThresholdFlags("Record"),
  maxShift,
  accept: words(
    "accept",
    Blocker.literals,
    `Close although these were found, and record their numbers: some of ${Blocker.literals.join(", ")}`,
    "KINDS"
  ),
  note,
  names: namesFlag
}

export type CloseInput = Command.Command.Config.Infer<typeof closeFlags>
