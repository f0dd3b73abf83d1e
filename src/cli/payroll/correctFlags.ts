/** The flags of `time-punches payroll correct`. */
import type * as Command from "effect/cli/Command"
import { onFlag, words } from "../flags/values.ts"
import { note, recordFlags, sumFlags } from "./arguments.ts"

export const correctFlags = {
  ...recordFlags,
  dryRun: onFlag("dry-run", "Do all but the write: print what is due, or why it would be refused"),
  ...sumFlags,
  accept: words("accept", ["rules", "gap"], "Correct although the sums had other rules, or leave a gap"),
  note
}

export type CorrectInput = Command.Command.Config.Infer<typeof correctFlags>
