/** `time-punches payroll due`: what is due of closes now. Writes nothing. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { intoOutput } from "../files/output.ts"
import { isJson } from "../flags/values.ts"
import { readFlags, sumFlags } from "./arguments.ts"
import { operating } from "./operating.ts"

const flags = { ...readFlags, ...sumFlags }

export const due = Command.make("due", flags, (input) => intoOutput(printDue(input), input)).pipe(
  Command.withDescription(
    `Sum closes again, and print what is due now; writes nothing.

  It is what payroll correct would record. Without an ID it sums every active
  close. --zone-file adds locations that a record lacks.`
  ),
  Command.withShortDescription("Print what is due since a period was closed"),
  Command.withExamples([
    { command: "time-punches payroll due --database punches.db", description: "Of every close" },
    { command: "time-punches payroll due 7 --database punches.db --json", description: "Of close 7, as JSON" }
  ])
)

const printDue = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof flags>) {
  const operate = yield* operating
  const { company, layer, shown } = yield* operate.recordOf(input, "due")
  const json = yield* Effect.fromResult(isJson(input))
  const options = yield* operate.readSumFlags(input)
  const names = yield* operate.readNames(input.names)
  yield* operate.requireCopy(company, shown, input.maxAge).pipe(
    Effect.andThen(operate.Close.due(company, options)),
    Effect.flatMap((due) => operate.printDue(due, json, names)),
    Effect.andThen(operate.warnOfHoles(company)),
    Effect.provide(layer)
  )
})
