/** The flags of `time-punches list`. */
import type * as Command from "effect/cli/Command"
import { outputFlags } from "../files/output.ts"
import { companyFlags, limitFlags } from "../flags/connection.ts"
import { filterFlags } from "../flags/filter.ts"
import { cursorFlag, limitFlag, makePageSizeFlag } from "../flags/paging.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { csvFlags, fileFormats, formatFlags } from "../flags/values.ts"
import { periodFlags } from "../select/periodFlags.ts"

/** The forms of its result. */
export const forms = ["table", "json", ...fileFormats] as const

export const listFlags = {
  ...companyFlags,
  ...limitFlags,
  ...filterFlags,
  ...periodFlags,
  ...formatFlags(forms, "table for people; json (an array), ndjson and csv have every field"),
  ...csvFlags,
  ...outputFlags,
  names: namesFlag,
  limit: limitFlag,
  pageSize: makePageSizeFlag(),
  cursor: cursorFlag
}

export type ListInput = Command.Command.Config.Infer<typeof listFlags>
