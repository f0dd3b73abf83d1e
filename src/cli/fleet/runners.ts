/** `time-punches fleet runners`: the processes that live, and what each has in work. */
import * as Effect from "effect/Effect"
import { databaseFlag } from "../database/database.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { jsonArray } from "../print/machine.ts"
import { printError } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable } from "../print/table.ts"
import { makeVerb } from "../verb.ts"
import { encodeRunner, runnerColumns, troubleLines, withFleet } from "./operate.ts"

export const verb = makeVerb(
  "runners",
  { database: databaseFlag, ...jsonFlags },
  Effect.fnUntraced(function*(input) {
    const json = yield* isJson(input)
    const found = yield* withFleet(input, "reads", (fleet) => fleet.processes)
    if (json) return yield* printLines([jsonArray(found.map(encodeRunner))])
    const shownOn = yield* screen
    yield* printLines([...makeTable(runnerColumns, shownOn).lines(found), ...troubleLines(shownOn, found)])
    if (found.length === 0) yield* printError("no process of the fleet was seen in the last hour")
  }),
  {
    text: `List the processes of fleet run that were seen in the last hour: since when
  each runs, its release, and the companies that it has in work, with the time
  for which it has had each.

  working: it syncs. silent: it has noted nothing for 15 seconds; it was killed
  or frozen, or does not reach the database. refused: the service refuses its
  credential. sick: it does not reach the service.`,
    examples: []
  }
)
