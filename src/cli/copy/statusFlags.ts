/** The flags of `time-punches copy status`. */
import type * as Command from "effect/cli/Command"
import { databaseFlag, maxAgeFlag } from "../database/database.ts"
import { makeJsonFlags } from "../flags/values.ts"
import { companiesFlags } from "./companies.ts"

export const statusFlags = {
  ...companiesFlags,
  database: databaseFlag,
  maxAge: maxAgeFlag,
  ...makeJsonFlags("One JSON object for each company, a line each")
}

export type StatusInput = Command.Command.Config.Infer<typeof statusFlags>
