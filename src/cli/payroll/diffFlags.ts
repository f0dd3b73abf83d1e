/** The flags of `time-punches payroll diff`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { databaseFlag, maxAgeFlag } from "../database/database.ts"
import { outputFlags } from "../files/output.ts"
import { companyFlags } from "../flags/connection.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { asOf, csvFlags, formatFlags, instant, optionalRounding, whole } from "../flags/values.ts"
import { periodFlags } from "../select/periodFlags.ts"

/** The forms of its result. */
export const forms = ["table", "csv", "json"] as const

export const diffFlags = {
  close: whole(
    "close",
    "ID",
    "The punches behind the next correction of this close; its record has the period and all that decides on the sums",
    1
  ),
  since: instant(
    "since",
    "When the period was closed: compare the copy at this instant with the copy now (required without --close)"
  ),
  ...periodFlags,
  asOf,
  rounding: optionalRounding,
  ...formatFlags(forms, "table for people; csv and json are exact"),
  ...csvFlags,
  ...outputFlags,
  rows: Flag.Literals("rows", ["people", "punches"]).pipe(
    Flag.withDescription("With --format csv: a row for each person, or for each punch (default: people)"),
    Flag.optional
  ),
  names: namesFlag,
  // Nothing is sent, so no guid is needed.
  company: companyFlags.company,
  database: databaseFlag,
  maxAge: maxAgeFlag
}

export type DiffInput = Command.Command.Config.Infer<typeof diffFlags>
