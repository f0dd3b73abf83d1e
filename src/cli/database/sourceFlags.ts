/** The flags that say where the punches of a command come from. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { companyFlags, limitFlags } from "../flags/connection.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { databaseFlag, maxAgeFlag } from "./database.ts"

/** Which source the punches come from. `copyOf` decides. */
export const sourceFlags = {
  ...companyFlags,
  source: Flag.Literals("source", ["service", "copy"]).pipe(
    Flag.withDescription("Where the punches come from (default: the copy if a database is set, else the service)"),
    Flag.optional
  ),
  database: databaseFlag,
  maxAge: maxAgeFlag,
  ...limitFlags,
  pageSize: makePageSizeFlag()
}

export type SourceInput = Command.Command.Config.Infer<typeof sourceFlags>
