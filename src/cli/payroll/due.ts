/** `time-punches payroll due`: what is due of closes now, and what holds up their correction. Writes nothing. */
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Close from "../../close/Close.ts"
import { requireCopy } from "../database/copy.ts"
import { intoOutput } from "../flags/output.ts"
import { printError } from "../print/messages.ts"
import { makeVerb } from "../verb.ts"
import { printDue, printLimits, printRemarks } from "./print.ts"
import { openRecord, printNotReady, readFlags, readSumFlags, recordFlags, sumFlags, warnOfHoles } from "./record.ts"

const rehearsalFlags = { ...recordFlags, ...sumFlags }

/** Does all that a correction does but the write: prints what is due, or why it would be refused. */
export const rehearse = Effect.fnUntraced(
  function*(input: Command.Command.Config.Infer<typeof rehearsalFlags>, verb: "due" | "correct") {
    const record = yield* openRecord(input, verb)
    const { address, company, names } = record
    const options = yield* readSumFlags(input)
    yield* Effect.gen(function*() {
      yield* printLimits(yield* requireCopy(company, address, input.maxAge))
      const rehearsal = yield* Close.rehearse(company, options)
      const hasSum = ({ difference: { rows } }: Close.AmountDue) => rows.length > 0
      yield* printDue(rehearsal.due.filter(hasSum), record)
      for (const { after } of rehearsal.due.filter((each) => !hasSum(each))) {
        yield* printError(`after ${after} a revision without a sum: it records the added locations`)
      }
      yield* printRemarks(rehearsal, names)
    }).pipe(
      Effect.catchTag("NotReady", printNotReady(record, "correct")),
      Effect.andThen(warnOfHoles(company)),
      Effect.provide(record.layer)
    )
  }
)

export const verb = makeVerb(
  "due",
  { ...readFlags, ...sumFlags },
  (input) => intoOutput(rehearse(input, "due"), input),
  {
    text: `Sum closes again, and print what is due now; writes nothing.

  It is what payroll correct would record, or why that would be refused.
  Without an ID it sums every active close. --zone-file adds locations that a
  record lacks.`,
    examples: [
      ["payroll due --database punches.db", "Of every close"],
      ["payroll due 7 --database punches.db --json", "Of close 7, as JSON"]
    ]
  }
)
