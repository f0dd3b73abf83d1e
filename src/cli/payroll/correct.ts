/** `time-punches payroll correct`: records what has changed since periods were closed. */
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Close from "../../close/Close.ts"
import { requireCopy } from "../database/copy.ts"
import { onFlag } from "../flags/values.ts"
import { printError } from "../print/messages.ts"
import { makeVerb } from "../verb.ts"
import { rehearse } from "./due.ts"
import { printLimits, printRemarks, printWritten } from "./print.ts"
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
  dryRun: onFlag("dry-run", "Write nothing: the same as payroll due"),
  ...sumFlags,
  note
}

type CorrectInput = Command.Command.Config.Infer<typeof correctFlags>

export const verb = makeVerb("correct", correctFlags, (input) => correctCloses(input), {
  text: `Record the next revision of closes whose sums have changed.

  What is due is its difference to the revision before. Without an ID it
  corrects every active close, in one write: a punch that was moved leaves one
  close and enters the other. payroll due shows what that would be.

  The zones, thresholds and days are those of the record. --zone-file adds
  locations that a record lacks, and changes none. The revision before is
  computed again from the history first; if that is not what was recorded,
  nothing is written (exit code 7).`,
  examples: [
    ["payroll correct --database punches.db", "All closes whose sums have changed"],
    ["payroll correct 7 --note 'late approvals' --database punches.db", "One close"]
  ]
})

const correctCloses = Effect.fnUntraced(function*(input: CorrectInput) {
  if (input.dryRun) return yield* rehearse(input, "correct")
  const record = yield* openRecord(input, "correct", true)
  const { address, company, names } = record
  const options = { ...yield* readSumFlags(input), ...authorship(input.note) }
  yield* Effect.gen(function*() {
    yield* printLimits(yield* requireCopy(company, address, input.maxAge))
    const correction = yield* Close.correct(company, options)
    // They say what the record does not.
    const remarks = printRemarks(correction, names)
    yield* Effect.onError(
      printWritten(correction.revisions, correction.due, record),
      () => remarks
    )
    if (correction.revisions.length === 0) yield* printError("nothing to correct")
    yield* remarks
  }).pipe(
    Effect.catchTag("NotReady", printNotReady(record, "correct")),
    Effect.andThen(warnOfHoles(company)),
    Effect.provide(record.layer)
  )
})
