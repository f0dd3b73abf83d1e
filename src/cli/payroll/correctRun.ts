/** Runs `time-punches payroll correct`. Loaded when it runs. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { printable } from "../../internal/text/printable.ts"
import { type Names, readNames } from "../flags/names.ts"
import { isJson } from "../flags/values.ts"
import { countedPunches } from "../print/format.ts"
import { printError, printLoss, printWarning } from "../print/messages.ts"
import type { CorrectInput } from "./correctFlags.ts"
import {
  authorship,
  Close,
  printDue,
  printNotReady,
  printWritten,
  recordOf,
  requireCopy,
  warnOfHoles
} from "./operate.ts"
import { readSumFlags } from "./terms.ts"

export const run = Effect.fnUntraced(function*(input: CorrectInput) {
  const { company, layer, shown } = yield* recordOf(input, "correct", !input.dryRun)
  const json = yield* Effect.fromResult(isJson(input))
  const summed = yield* readSumFlags(input)
  const names = yield* readNames(input.names)
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
