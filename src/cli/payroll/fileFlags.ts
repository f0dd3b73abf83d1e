/** The flags of `time-punches payroll file`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import { sourceFlags } from "../database/sourceFlags.ts"
import { outputFlags } from "../files/output.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { date, fileFlag, onFlag } from "../flags/values.ts"
import { revisionName, termFlags } from "./arguments.ts"

export const fileFlags = {
  revision: Argument.optional(revisionName),
  preview: onFlag("preview", "Print the file that a close of the period would have now, and record nothing"),
  mapping: fileFlag("mapping", "How the file of the payroll program is written, in JSON"),
  codes: fileFlag(
    "codes",
    "The employee numbers and other codes of ids, from a CSV file with the columns kind,id,code"
  ),
  payDate: date("pay-date", "The date for columns with payDate"),
  ...outputFlags,
  names: namesFlag,
  ...sourceFlags,
  ...termFlags
}

export type FileInput = Command.Command.Config.Infer<typeof fileFlags>
