/** `time-punches fleet list`: the companies, and the pauses of the whole fleet. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { choice, onFlag } from "../flags/values.ts"
import { jsonArray } from "../print/machine.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable } from "../print/table.ts"
import { makeVerb } from "../verb.ts"
import { encodeStatus, pauseLine, statusColumns, withFleet } from "./operate.ts"

export const verb = makeVerb(
  "list",
  {
    database: databaseFlag,
    late: onFlag("late", "Only companies that are later than their interval"),
    state: choice("state", ["active", "paused", "blocked", "quarantined"], "Only companies in this state"),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const json = yield* isJson(input)
    const states = Option.getOrUndefined(Option.map(input.state, (state) => [state]))
    const { companies, pauses } = yield* withFleet(
      input,
      "reads",
      (fleet) => Effect.all({ companies: fleet.list({ states, late: input.late }), pauses: fleet.pauses })
    )
    if (json) return yield* printLines([jsonArray(companies.map((company) => encodeStatus(company)))])
    const shownOn = yield* screen
    yield* printLines([
      ...pauses.map((pause) => shownOn.styles.yellow(pauseLine(pause))),
      ...makeTable(statusColumns, shownOn).lines(companies)
    ])
  }),
  {
    text: `List the companies, and above them the pauses of the whole fleet.

  JSON has times as ISO 8601, and null for what is missing.`,
    examples: [
      ["fleet list --database punches.db", "All companies"],
      ["fleet list --database punches.db --state blocked", "Those that need a person"]
    ]
  }
)
