/** `time-punches fleet list`: the companies, and the pauses of the whole fleet. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { isJson, jsonFlags, onFlag } from "../flags/values.ts"
import { jsonArray } from "../print/machine.ts"
import { printLines, screen } from "../print/output.ts"
import { operating } from "./arguments.ts"

export const list = Command.make(
  "list",
  {
    database: databaseFlag,
    late: onFlag("late", "Only companies that are later than their interval"),
    state: Flag.Literals("state", ["active", "paused", "blocked", "quarantined"]).pipe(
      Flag.withDescription("Only companies in this state"),
      Flag.optional
    ),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const json = yield* Effect.fromResult(isJson(input))
    const { encodeStatus, pauseLine, statusTable, withFleet } = yield* operating
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
      ...statusTable(shownOn, companies)
    ])
  })
).pipe(
  Command.withDescription(`List the companies, and above them the pauses of the whole fleet.

  JSON has times as ISO 8601, and null for what is missing.`),
  Command.withShortDescription("List the companies and the pauses"),
  Command.withExamples([
    { command: "time-punches fleet list --database punches.db", description: "All companies" },
    {
      command: "time-punches fleet list --database punches.db --state blocked",
      description: "Those that need a person"
    }
  ])
)
