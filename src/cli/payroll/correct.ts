/** `time-punches payroll correct`: records what has changed since periods were closed. */
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Close from "../../close/Close.ts"
import { printable } from "../../internal/wire/issue.ts"
import { requireCopy } from "../database/copy.ts"
import { type Names } from "../flags/names.ts"
import { onFlag, words } from "../flags/values.ts"
import { countedPunches } from "../print/format.ts"
import { printError, printLoss, printWarning } from "../print/messages.ts"
import { makeVerb } from "../verb.ts"
import { printDue, printWritten } from "./print.ts"
import {
  authorship,
  note,
  openRecord,
  printNotReady,
  readSumFlags,
  recordFlags,
  sumFlags,
  warnOfHoles
} from "./record.ts"

const correctFlags = {
  ...recordFlags,
  dryRun: onFlag("dry-run", "Do all but the write: print what is due, or why it would be refused"),
  ...sumFlags,
  accept: words("accept", ["rules", "gap"], "Correct although the sums had other rules, or leave a gap"),
  note
}

type CorrectInput = Command.Command.Config.Infer<typeof correctFlags>

export const verb = makeVerb("correct", correctFlags, (input) => run(input), {
  text: `Record the next revision of closes whose sums have changed.

  What is due is its difference to the revision before. Without an ID it
  corrects every active close, in one write: a punch that was moved leaves one
  close and enters the other. --dry-run shows what that would be.

  The zones, thresholds and days are those of the record. --zone-file adds
  locations that a record lacks, and changes none. The revision before is
  computed again from the history first; if that is not what was recorded,
  nothing is written (exit code 7).`,
  examples: [
    ["payroll correct --database punches.db", "All closes whose sums have changed"],
    ["payroll correct 7 --note 'late approvals' --database punches.db", "One close"]
  ]
})

const run = Effect.fnUntraced(function*(input: CorrectInput) {
  const { company, json, layer, names, shown } = yield* openRecord(input, "correct", !input.dryRun)
  const summed = yield* readSumFlags(input)
  const options = { ...summed, accept: Option.getOrUndefined(input.accept), ...authorship(input.note) }
  const record = Effect.gen(function*() {
    const correction = yield* Close.correct(company, options)
    // They say what the record does not.
    const remarks = printRemarks(correction, names)
    yield* Effect.onError(
      printWritten(correction.revisions, correction.due, { ...input, json }, names, shown),
      () => remarks
    )
    if (correction.revisions.length === 0) yield* printError("nothing to correct")
    yield* remarks
  })
  const rehearse = Effect.gen(function*() {
    const rehearsal = yield* Close.rehearse(company, options)
    const hasSum = ({ difference: { rows } }: Close.AmountDue) => rows.length > 0
    yield* printDue(rehearsal.due.filter(hasSum), json, names)
    for (const { after } of rehearsal.due.filter((each) => !hasSum(each))) {
      yield* printError(`after ${after} a revision without a sum: it records the added locations`)
    }
    yield* printRemarks(rehearsal, names)
  })
  yield* requireCopy(company, shown, input.maxAge).pipe(
    Effect.andThen(input.dryRun ? rehearse : record),
    Effect.catchTag("NotReady", printNotReady(names, "correct", shown)),
    Effect.andThen(warnOfHoles(company)),
    Effect.provide(layer)
  )
})

/** What a person should know of a correction beside its sums. */
const printRemarks = Effect.fnUntraced(function*(remarks: Close.CorrectionRemarks, names: Names | undefined) {
  const { otherCloses, peopleWithoutHours, unchangedLocations, unverified } = remarks
  yield* printWarning(
    ...(unverified.length === 0
      ? []
      : [`the history does not reach ${unverified.join(", ")}: only the rules of their sums were compared`]),
    ...(otherCloses.length === 0
      ? []
      : [`the sums of close ${otherCloses.join(", ")} differ too: payroll correct without an ID writes all`]),
    ...(unchangedLocations.length === 0
      ? []
      : [`location ${unchangedLocations.join(", ")} keeps the clock of the record`])
  )
  yield* printLoss(...peopleWithoutHours.map((each) => lossLine(each, names)))
  if (peopleWithoutHours.some(({ causes }) => causes.missing !== undefined)) {
    yield* printWarning(
      "A permission that was withdrawn looks like missing punches: check it before you take hours from anyone."
    )
  }
})

/** Why a person has no hours left. */
const lossLine = ({ causes, close, userId }: Close.LostHours, names: Names | undefined): string => {
  const name = names?.("user", userId)
  const counts = Object.entries(causes).map(([cause, count]) => `${countedPunches(count)} ${cause}`)
  const why = counts.length === 0 ? "the history does not reach the revision before" : counts.join(", ")
  return `close ${close}: user ${userId}${name === undefined ? "" : ` ${printable(name)}`} lost all hours: ${why}`
}
