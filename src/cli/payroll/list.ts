/** `time-punches payroll list`: the closes of a company with all their revisions. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { intoOutput } from "../files/output.ts"
import { isJson } from "../flags/values.ts"
import { printError } from "../print/messages.ts"
import { readFlags } from "./arguments.ts"
import { operating } from "./operating.ts"

export const list = Command.make("list", readFlags, (input) => intoOutput(listCloses(input), input)).pipe(
  Command.withDescription(
    `List the closes of a company with all their revisions.

  A revision that was not paid is not active, and neither is its void: nothing
  is due with them, so that each column of amounts due adds up to what is paid.
  --json prints an array of revisions with their whole sums.`
  ),
  Command.withShortDescription("List the closes and their revisions"),
  Command.withExamples([
    { command: "time-punches payroll list --database punches.db", description: "Every revision" },
    { command: "time-punches payroll list --json --database punches.db", description: "With all sums" }
  ])
)

const listCloses = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof readFlags>) {
  const { Close, recordOf, printRows, printRowsAsJson, rowsOf, warnOfHoles } = yield* operating
  const { company, layer } = yield* recordOf(input, "list")
  const json = yield* Effect.fromResult(isJson(input))
  yield* Effect.gen(function*() {
    const rows = rowsOf(yield* Close.list(company))
    if (json) yield* printRowsAsJson(rows)
    else if (rows.length === 0) yield* printError("no period was closed yet")
    else yield* printRows(rows)
    yield* warnOfHoles(company)
  }).pipe(Effect.provide(layer))
})
