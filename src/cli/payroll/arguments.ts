/** What the verbs of `time-punches payroll` share: flags, and what they load only when they run. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RevisionId from "../../close/RevisionId.ts"
import { databaseFlag } from "../database/database.ts"
import { outputFlags } from "../files/output.ts"
import { companyFlags } from "../flags/connection.ts"
import { jsonFlags, nonBlank, readWhole, wholeNumber } from "../flags/values.ts"

/** The record that a verb reads or writes. Nothing is sent, so no guid is needed. */
export const recordFlags = { company: companyFlags.company, database: databaseFlag, ...jsonFlags }

/** What a verb needs that reads the record and prints it. */
export const readFlags = { ...recordFlags, ...outputFlags }

export const note = nonBlank("note", "TEXT", "A note that is kept with the revision", "a text that is not blank")

const readClose = Argument.filterMap((text: string) => readWhole(text, 1), () => wholeNumber(1))

/** One close. */
export const closeNumber = Argument.String("ID").pipe(readClose)

/** `7` is a close, `7.2` a revision of it. */
export const revisionName = Argument.String("ID").pipe(
  Argument.withMetavar("ID|REVISION"),
  Argument.filter(
    (text) => Option.isSome(RevisionId.parse(text)),
    () => "a close such as 7, or a revision such as 7.2"
  )
)

/** The drivers of the databases are large, so they are loaded only by what needs them. */
export const operating = Effect.promise(() => import("./operate.ts"))
