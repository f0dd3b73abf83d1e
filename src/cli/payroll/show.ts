/** `time-punches payroll show`: one close with all its revisions, or one revision with its sums. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Close from "../../close/Close.ts"
import { notFound, refusal } from "../../close/CloseError.ts"
import { namesFlag } from "../flags/names.ts"
import { intoOutput } from "../flags/output.ts"
import { makeVerb } from "../verb.ts"
import { printPeople, printRecord, printRows, printRowsAsJson, rowsOf, totalOf } from "./print.ts"
import { openRecord, readFlags, revisionName } from "./record.ts"

export const verb = makeVerb(
  "show",
  { ...readFlags, revision: revisionName, names: namesFlag },
  Effect.fnUntraced(function*(input) {
    const { company, json, layer, names } = yield* openRecord(input, "show")
    const { close, name, number } = input.revision
    const whole = yield* Effect.provide(Close.get(company, close), layer)
    const rows = rowsOf([whole], totalOf)
    if (Option.isNone(number)) return yield* json ? printRecord(whole) : printRows(rows)
    const row = rows.find(({ revision }) => revision.id === name)
    if (row === undefined) return yield* refusal(company, name)(notFound.revision)
    if (json) return yield* printRowsAsJson([row])
    yield* printRows([row])
    yield* printPeople(row.revision, names)
  }, intoOutput),
  {
    text: `Show a close with its revisions, or a revision with the sums of each person.

  With a close, --json prints the whole record: keep it before a company is
  erased. With a revision, it prints an array with that one.`,
    examples: [
      ["payroll show 7 --database punches.db", "The revisions of close 7"],
      ["payroll show 7.2 --database punches.db", "What revision 7.2 has"],
      ["payroll show 7 --json --database punches.db", "The whole record of close 7"]
    ]
  }
)
