/** The flags of `time-punches close`, `correct`, `void` and `closes`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Option from "effect/Option"
import { Blocker } from "../../close/CloseError.ts"
import * as RevisionId from "../../close/RevisionId.ts"
import { databaseFlag } from "../database/database.ts"
import { outputFlags } from "../files/output.ts"
import { fileFlags } from "../files/payrollFile.ts"
import { companyFlags } from "../flags/connection.ts"
import { namesFlag } from "../flags/names.ts"
import {
  jsonFlags,
  nonBlank,
  onFlag,
  readWhole,
  readWords,
  rounding,
  text,
  wholeNumber,
  words
} from "../flags/values.ts"
import { zoneFileFlag } from "../flags/zones.ts"
import { maxShift } from "../select/maxShift.ts"
import { periodFlags } from "../select/period.ts"
import { thresholdFlags } from "../select/thresholds.ts"

const shared = {
  company: companyFlags.company,
  database: databaseFlag,
  ...jsonFlags
}

const note = nonBlank("note", "TEXT", "A note that is kept with the state", "a text that is not blank")

const closeNumber = Argument.String("ID").pipe(
  Argument.filterMap((text) => readWhole(text, 1), () => wholeNumber(1))
)

export const closeFlags = {
  ...shared,
  ...periodFlags,
  ...thresholdFlags,
  rounding,
  maxShift,
  accept: text(
    "accept",
    "KINDS",
    `Close although these were found, and record their numbers: some of ${Blocker.literals.join(", ")}`,
    `some of ${Blocker.literals.join(", ")}, joined by commas`,
    readWords(Blocker.literals)
  ),
  note,
  names: namesFlag
}

export const correctFlags = {
  ...shared,
  closes: closeNumber.pipe(Argument.variadic()),
  zoneFile: zoneFileFlag,
  dayStarts: periodFlags.dayStarts,
  accept: words("accept", ["rules", "gap"], "Correct although the sums had other rules, or leave a gap"),
  note,
  names: namesFlag
}

export const voidFlags = { ...shared, state: Argument.String("STATE"), note }

export const closesFlags = {
  ...shared,
  // `7` is a close, `7.2` a state of it.
  name: Argument.String("ID|STATE").pipe(
    Argument.filter(
      (text) => Option.isSome(RevisionId.parse(text)),
      () => "a close such as 7, or a state such as 7.2"
    ),
    Argument.optional
  ),
  ...fileFlags,
  ...outputFlags,
  changed: onFlag("changed", "Sum the closes again and print what is due now; writes nothing"),
  verify: onFlag("verify", "Compute every state again from the history, and compare"),
  names: namesFlag
}

export type CloseInput = Command.Command.Config.Infer<typeof closeFlags>
export type CorrectInput = Command.Command.Config.Infer<typeof correctFlags>
export type VoidInput = Command.Command.Config.Infer<typeof voidFlags>
export type ClosesInput = Command.Command.Config.Infer<typeof closesFlags>
