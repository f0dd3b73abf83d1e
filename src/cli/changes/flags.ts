/** The flags of `time-punches changes`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { companyFlags } from "../flags/connection.ts"
import { jsonFlag } from "../flags/format.ts"
import { namesFlag } from "../flags/names.ts"
import { periodFlags } from "../flags/period.ts"
import { databaseFlag } from "../flags/sync.ts"
import { asOf, instant, rounding } from "../flags/values.ts"

export const changesFlags = {
  since: instant("since", "When the period was closed: the copy then is compared with the copy now (required)"),
  ...periodFlags,
  asOf,
  rounding,
  format: Flag.Literals("format", ["table", "csv", "json"]).pipe(
    Flag.withDescription("table for people; csv and json are exact (default: table)"),
    Flag.optional
  ),
  of: Flag.Literals("of", ["people", "punches"]).pipe(
    Flag.withDescription("With --format csv: a row for each person, or for each punch (default: people)"),
    Flag.optional
  ),
  json: jsonFlag,
  names: namesFlag,
  // Nothing is sent, so no guid is needed.
  company: companyFlags.company,
  database: databaseFlag
}

/** The parsed flags. */
export type ChangesInput = Command.Command.Config.Infer<typeof changesFlags>
