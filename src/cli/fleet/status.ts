/** `time-punches fleet status`: one company, its last error and its last turns. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Removal } from "../../fleet/store/operator.ts"
import { overloadText } from "../../fleet/store/runners.ts"
import { escaped } from "../../internal/text/printable.ts"
import { databaseFlag } from "../database/database.ts"
import { usage } from "../failure.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { printError } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable } from "../print/table.ts"
import { makeVerb } from "../verb.ts"
import { encodeStatus, encodeTurn, idArgument, statusColumns, turnColumns, withFleet } from "./operate.ts"

/** How many turns are shown. */
const shownTurns = 10

export const verb = makeVerb(
  "status",
  { database: databaseFlag, id: idArgument("The company"), ...jsonFlags },
  Effect.fnUntraced(function*(input) {
    const json = yield* isJson(input)
    const { all, requests, value } = yield* withFleet(
      input,
      "reads",
      Effect.fnUntraced(function*({ removal, requests, status, turns }) {
        const found = yield* status(input.id)
        if (Option.isSome(found)) {
          return { value: found.value, all: yield* turns(input.id), requests: yield* requests }
        }
        // Only now: the table is new, and a role may have no right to it yet.
        return yield* usage(`not in the fleet: ${input.id}${removedText(yield* removal(input.id))}`)
      })
    )
    const turns = all.slice(0, shownTurns)
    if (json) {
      const { limit, needed } = requests
      return yield* printLines([
        JSON.stringify({
          ...encodeStatus(value),
          turns: turns.map(encodeTurn),
          requests: { needed, limit: Option.getOrNull(limit) }
        })
      ])
    }
    const shownOn = yield* screen
    const overload = overloadText(requests)
    yield* printLines([
      ...(overload === undefined ? [] : [shownOn.styles.yellow(`LATE: ${overload}`)]),
      ...makeTable(statusColumns, shownOn).lines([value]),
      ...Option.toArray(
        Option.map(
          value.lastError,
          ({ at, tag, text }) =>
            shownOn.styles.yellow(`last error, ${DateTime.formatIso(at)}: ${escaped(`${tag}: ${text}`)}`)
        )
      ),
      ...(turns.length === 0 ? [] : ["", ...makeTable(turnColumns, shownOn).lines(turns)])
    ])
    if (turns.length === 0) yield* printError("no turn has ended yet")
  }),
  {
    text: `Show a company, its last error, and its last ten turns, the latest first. Of a
  company that was removed, say who removed it, and when, and exit with 2. If
  the intervals of the fleet need more requests a second than its limit gives,
  say both numbers.

  JSON has times as ISO 8601, and null for what is missing.`,
    examples: [["fleet status --database punches.db 4021", "One company"]]
  }
)

const removedText = (removal: Option.Option<Removal>): string =>
  Option.match(removal, {
    onNone: () => "",
    onSome: ({ at, by }) =>
      `, which ${Option.match(by, { onNone: () => "was removed", onSome: (by) => `${escaped(by)} removed` })} at ${
        DateTime.formatIso(at)
      }`
  })
