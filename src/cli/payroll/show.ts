/** `time-punches payroll show`: one close with all its revisions, or one revision with its sums. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { intoOutput } from "../files/output.ts"
import { namesFlag, readNames } from "../flags/names.ts"
import { isJson } from "../flags/values.ts"
import { operating, readFlags, revisionName } from "./arguments.ts"

const flags = { ...readFlags, name: revisionName, names: namesFlag }

export const show = Command.make("show", flags, (input) => intoOutput(showClose(input), input)).pipe(
  Command.withDescription(
    `Show a close with its revisions, or a revision with the sums of each person.

  With a close, --json prints the whole record: keep it before a company is
  erased. With a revision, it prints an array with that one.`
  ),
  Command.withShortDescription("Show one close, or one revision"),
  Command.withExamples([
    { command: "time-punches payroll show 7 --database punches.db", description: "The revisions of close 7" },
    { command: "time-punches payroll show 7.2 --database punches.db", description: "What revision 7.2 has" },
    { command: "time-punches payroll show 7 --json --database punches.db", description: "The whole record of close 7" }
  ])
)

const showClose = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof flags>) {
  const { Close, copyOf, printPeople, printRecord, printRevisions, printRows, notFound, refusal, rowsOf } =
    yield* operating
  const { company, layer } = yield* copyOf(input, "show")
  const json = yield* Effect.fromResult(isJson(input))
  const names = yield* readNames(input.names)
  const [close = 0, number] = input.name.split(".").map(Number)
  const whole = yield* Effect.provide(Close.get(company, close), layer)
  const rows = rowsOf([whole]).filter(({ revision }) => number === undefined || revision.id === input.name)
  const [row] = rows
  if (row === undefined) return yield* refusal(company, input.name)(notFound.revision)
  if (json) return yield* number === undefined ? printRecord(whole) : printRevisions([row.revision])
  yield* printRows(rows)
  if (number !== undefined) yield* printPeople(row.revision, names)
})
