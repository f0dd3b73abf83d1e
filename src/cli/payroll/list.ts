/** `time-punches payroll list`: the closes of a company with all their revisions. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Close from "../../close/Close.ts"
import { requireCopy } from "../database/copy.ts"
import { intoOutput } from "../flags/output.ts"
import { printError } from "../print/messages.ts"
import { makeVerb } from "../verb.ts"
import { printRows, printRowsAsJson, rowsOf, totalOf } from "./print.ts"
import { openRecord, readFlags, warnOfHoles } from "./record.ts"

export const verb = makeVerb(
  "list",
  readFlags,
  Effect.fnUntraced(function*(input) {
    const { address, company, json, layer } = yield* openRecord(input, "list")
    // A mistyped company would look like one without a close.
    const read = <A, E, R>(closes: Effect.Effect<ReadonlyArray<A>, E, R>) =>
      closes.pipe(
        Effect.tap((all) => all.length > 0 ? Effect.void : requireCopy(company, address, Option.none())),
        Effect.provide(layer)
      )
    if (json) yield* printRowsAsJson(rowsOf(yield* read(Close.list(company)), totalOf))
    else {
      const rows = rowsOf(yield* read(Close.totals(company)), ({ totals }) => totals)
      yield* rows.length === 0 ? printError("no period was closed yet") : printRows(rows)
    }
    yield* Effect.provide(warnOfHoles(company), layer)
  }, intoOutput),
  {
    text: `List the closes of a company with all their revisions.

  A revision that was not paid is not active, and neither is its void: nothing
  is due with them, so that each column of amounts due adds up to what is paid.
  --json prints an array of revisions with their whole sums.`,
    examples: [
      ["payroll list --database punches.db", "Every revision"],
      ["payroll list --json --database punches.db", "With all sums"]
    ]
  }
)
