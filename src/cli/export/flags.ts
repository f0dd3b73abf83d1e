/** The flags of `time-punches export`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { outputFlags, requiredOutput } from "../files/output.ts"
import { companyFlags, limitFlags } from "../flags/connection.ts"
import { filterFlags } from "../flags/filter.ts"
import { cursorFlag, makePageSizeFlag } from "../flags/paging.ts"
import { csvFlags, fileFormats, formatFlag } from "../flags/values.ts"
import { periodFlags } from "../select/periodFlags.ts"

export const exportFlags = {
  ...companyFlags,
  ...limitFlags,
  ...filterFlags,
  ...periodFlags,
  format: Flag.optional(formatFlag(fileFormats, "One JSON object a line, or columns for a spreadsheet")),
  ...csvFlags,
  output: requiredOutput,
  force: Flag.withDescription(
    outputFlags.force,
    "Replace the file if it exists, and discard an unfinished export to it"
  ),
  pageSize: makePageSizeFlag(),
  cursor: cursorFlag
}

export type ExportInput = Command.Command.Config.Infer<typeof exportFlags>
