/** `time-punches fleet status`: one company, its last error and its last turns. */
import * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Removal } from "../../fleet/store/operator.ts"
import { escaped } from "../../internal/text/printable.ts"
import { databaseFlag } from "../database/database.ts"
import { usage } from "../failure.ts"
import { isJson, jsonFlags } from "../flags/values.ts"
import { printError } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { idArgument, operating } from "./arguments.ts"

/** How many turns are shown. */
const shownTurns = 10

export const status = Command.make(
  "status",
  { database: databaseFlag, id: idArgument("The company"), ...jsonFlags },
  Effect.fnUntraced(function*(input) {
    const json = yield* Effect.fromResult(isJson(input))
    const { encodeStatus, encodeTurn, turnTable, statusTable, withFleet } = yield* operating
    const { all, value } = yield* withFleet(
      input,
      "reads",
      Effect.fnUntraced(function*({ removal, runs, status }) {
        const found = yield* status(input.id)
        if (Option.isSome(found)) return { value: found.value, all: yield* runs(input.id) }
        // Only now: the table is new, and a role may have no right to it yet.
        return yield* usage(`not in the fleet: ${input.id}${removedText(yield* removal(input.id))}`)
      })
    )
    const runs = all.slice(0, shownTurns)
    if (json) {
      return yield* printLines([JSON.stringify({ ...encodeStatus(value), runs: runs.map(encodeTurn) })])
    }
    const shownOn = yield* screen
    yield* printLines([
      ...statusTable(shownOn, [value]),
      ...Option.toArray(
        Option.map(
          value.lastError,
          ({ at, tag, text }) =>
            shownOn.styles.yellow(`last error, ${DateTime.formatIso(at)}: ${tag}: ${escaped(text)}`)
        )
      ),
      ...(runs.length === 0 ? [] : ["", ...turnTable(shownOn, runs)])
    ])
    if (runs.length === 0) yield* printError("no turn has ended yet")
  })
).pipe(
  Command.withDescription(`Show a company, its last error, and its last ten turns, the latest first. Of a
  company that was removed, say who removed it, and when, and exit with 2.

  JSON has times as ISO 8601, and null for what is missing.`),
  Command.withShortDescription("Show a company and its last turns"),
  Command.withExamples([
    { command: "time-punches fleet status --database punches.db 4021", description: "One company" }
  ])
)

const removedText = (removal: Option.Option<Removal>): string =>
  Option.match(removal, {
    onNone: () => "",
    onSome: ({ at, by }) =>
      `, which ${Option.match(by, { onNone: () => "was removed", onSome: (by) => `${escaped(by)} removed` })} at ${
        DateTime.formatIso(at)
      }`
  })
