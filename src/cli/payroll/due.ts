/** `time-punches payroll due`: what is due of closes now. Writes nothing. */
import * as Effect from "effect/Effect"
import * as Close from "../../close/Close.ts"
import { requireCopy } from "../database/copy.ts"
import { intoOutput } from "../files/output.ts"
import { makeVerb } from "../verb.ts"
import { printDue } from "./print.ts"
import { openRecord, readFlags, readSumFlags, sumFlags, warnOfHoles } from "./record.ts"

export const verb = makeVerb(
  "due",
  { ...readFlags, ...sumFlags },
  Effect.fnUntraced(function*(input) {
    const { company, json, layer, names, shown } = yield* openRecord(input, "due")
    const options = yield* readSumFlags(input)
    yield* requireCopy(company, shown, input.maxAge).pipe(
      Effect.andThen(Close.due(company, options)),
      Effect.flatMap((due) => printDue(due, json, names)),
      Effect.andThen(warnOfHoles(company)),
      Effect.provide(layer)
    )
  }, intoOutput),
  {
    text: `Sum closes again, and print what is due now; writes nothing.

  It is what payroll correct would record. Without an ID it sums every active
  close. --zone-file adds locations that a record lacks.`,
    examples: [
      ["payroll due --database punches.db", "Of every close"],
      ["payroll due 7 --database punches.db --json", "Of close 7, as JSON"]
    ]
  }
)
