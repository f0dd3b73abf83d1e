/** `time-punches payroll correct`: records what has changed since periods were closed. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Close from "../../close/Close.ts"
import { printable } from "../../internal/wire/issue.ts"
import { type Names, readNames } from "../flags/names.ts"
import { isJson, onFlag, words } from "../flags/values.ts"
import { countedPunches } from "../print/format.ts"
import { printError, printLoss, printWarning } from "../print/messages.ts"
import { note, operating, readSumFlags, recordFlags, sumFlags } from "./arguments.ts"

const flags = {
  ...recordFlags,
  dryRun: onFlag("dry-run", "Do all but the write: print what is due, or why it would be refused"),
  ...sumFlags,
  accept: words("accept", ["rules", "gap"], "Correct although the sums had other rules, or leave a gap"),
  note
}

type CorrectInput = Command.Command.Config.Infer<typeof flags>

export const correct = Command.make("correct", flags, (input) => correctCloses(input)).pipe(
  Command.withDescription(
    `Record the next revision of closes whose sums have changed.

  What is due is its difference to the revision before. Without an ID it
  corrects every active close, in one write: a punch that was moved leaves one
  close and enters the other. --dry-run shows what that would be.

  The zones, thresholds and days are those of the record. --zone-file adds
  locations that a record lacks, and changes none. The revision before is
  computed again from the history first; if that is not what was recorded,
  nothing is written (exit code 7).`
  ),
  Command.withShortDescription("Record what has changed since a period was closed"),
  Command.withExamples([
    {
      command: "time-punches payroll correct --database punches.db",
      description: "All closes whose sums have changed"
    },
    {
      command: "time-punches payroll correct 7 --note 'late approvals' --database punches.db",
      description: "One close"
    }
  ])
)

const correctCloses = Effect.fnUntraced(function*(input: CorrectInput) {
  const operate = yield* operating
  const { company, layer, shown } = yield* operate.recordOf(input, "correct", !input.dryRun)
  const json = yield* Effect.fromResult(isJson(input))
  const summed = yield* readSumFlags(input)
  const names = yield* readNames(input.names)
  const { Close } = operate
  const options = { ...summed, accept: Option.getOrUndefined(input.accept), ...operate.authorship(input.note) }
  const record = Effect.gen(function*() {
    const correction = yield* Close.correct(company, options)
    yield* operate.printWritten(correction.revisions, correction.due, { ...input, json }, names, shown)
    if (correction.revisions.length === 0) yield* printError("nothing to correct")
    yield* printRemarks(correction, names)
  })
  const rehearse = Effect.gen(function*() {
    const rehearsal = yield* Close.rehearse(company, options)
    const hasSum = ({ difference: { people, rows } }: Close.AmountDue) => people.length + rows.length > 0
    yield* operate.printDue(rehearsal.due.filter(hasSum), json, names)
    for (const { after } of rehearsal.due.filter((each) => !hasSum(each))) {
      yield* printError(`after ${after} a revision without a sum: it records the added locations`)
    }
    yield* printRemarks(rehearsal, names)
  })
  yield* operate.requireCopy(company, shown, input.maxAge).pipe(
    Effect.andThen(input.dryRun ? rehearse : record),
    Effect.catchTag("NotReady", operate.printNotReady(names, "correct")),
    Effect.andThen(operate.warnOfHoles(company)),
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
