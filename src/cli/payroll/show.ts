/** `time-punches payroll show`: one close with all its revisions, or one revision with its sums. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { intoOutput } from "../files/output.ts"
import { namesFlag } from "../flags/userFiles.ts"
import { isJson } from "../flags/values.ts"
import { readFlags, revisionName } from "./arguments.ts"
import { operating } from "./operating.ts"

const flags = { ...readFlags, revision: revisionName, names: namesFlag }

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
  const {
    Close,
    recordOf,
    printPeople,
    printRecord,
    printRows,
    printRowsAsJson,
    notFound,
    readNames,
    refusal,
    rowsOf
  } = yield* operating
  const { company, layer } = yield* recordOf(input, "show")
  const json = yield* Effect.fromResult(isJson(input))
  const names = yield* readNames(input.names)
  const { close, name, number } = input.revision
  const whole = yield* Effect.provide(Close.get(company, close), layer)
  const rows = rowsOf([whole])
  if (Option.isNone(number)) return yield* json ? printRecord(whole) : printRows(rows)
  const row = rows.find(({ revision }) => revision.id === name)
  if (row === undefined) return yield* refusal(company, name)(notFound.revision)
  if (json) return yield* printRowsAsJson([row])
  yield* printRows([row])
  yield* printPeople(row.revision, names)
})
