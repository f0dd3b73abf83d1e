/** The flags that the verbs of `time-punches payroll` share. */
import * as Argument from "effect/cli/Argument"
import * as Option from "effect/Option"
import * as RevisionId from "../../close/RevisionId.ts"
import { databaseFlag, maxAgeFlag } from "../database/database.ts"
import { outputFlags } from "../files/output.ts"
import { companyFlags } from "../flags/connection.ts"
import { namesFlag, zoneFileFlag } from "../flags/userFiles.ts"
import { jsonFlags, nonBlank, optionalRounding, readWhole, wholeNumber } from "../flags/values.ts"
import { periodFlags } from "../select/periodFlags.ts"
import { thresholdFlags } from "../select/thresholds.ts"

/** The record that a verb reads or writes. Nothing is sent, so no guid is needed. */
export const recordFlags = { company: companyFlags.company, database: databaseFlag, ...jsonFlags }

/** What a verb needs that reads the record and prints it. */
export const readFlags = { ...recordFlags, ...outputFlags }

export const note = nonBlank("note", "TEXT", "A note that is kept with the revision", "a text that is not blank")

export const closeNumber = Argument.String("ID").pipe(
  Argument.withDescription("A close, such as 7; without one: all that are active"),
  Argument.filterMap((text) => readWhole(text, 1), () => wholeNumber(1))
)

/** `7` is a close, `7.2` a revision of it. */
export const revisionName = Argument.String("ID").pipe(
  Argument.withMetavar("ID|REVISION"),
  Argument.withDescription("A close, such as 7, or a revision of it, such as 7.2"),
  Argument.filterMap(
    (name) => Option.map(RevisionId.parse(name), (parsed) => ({ ...parsed, name })),
    () => "a close such as 7, or a revision such as 7.2"
  )
)

/** What a verb needs that sums closes again. */
export const sumFlags = {
  closes: closeNumber.pipe(Argument.variadic()),
  zoneFile: zoneFileFlag,
  dayStarts: periodFlags.dayStarts,
  names: namesFlag,
  maxAge: maxAgeFlag
}

/** What decides on the sums of a period. */
export const termFlags = { ...periodFlags, ...thresholdFlags, rounding: optionalRounding }
