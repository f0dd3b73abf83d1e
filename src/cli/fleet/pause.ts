/** `time-punches fleet pause`: companies, or the whole fleet. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import { databaseFlag, databaseWords } from "../database/database.ts"
import { usage } from "../failure.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { onFlag } from "../flags/values.ts"
import { printHint } from "../print/messages.ts"
import { makeVerb } from "../verb.ts"
import { idArgument, printChange, printPauses, withFleet } from "./operate.ts"

export const verb = makeVerb(
  "pause",
  {
    database: databaseFlag,
    ids: Argument.variadic(idArgument("Companies, or --all")),
    all: onFlag("all", "The whole fleet, until resume --all"),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const { all, ids } = input
    if (all === (ids.length > 0)) return yield* usage("pause takes ids, or --all")
    const json = yield* isJson(input)
    if (!all) {
      const result = yield* withFleet(input, "changes", (fleet) => fleet.pause(ids))
      return yield* printChange(json, result, (companies) => `${companies} paused`, "not active")
    }
    // Without a question: it erases nothing, and is for the moment in which something goes wrong.
    const pauses = yield* withFleet(input, "changes", (fleet) => Effect.andThen(fleet.pauseAll, fleet.pauses))
    yield* printPauses(json, pauses, "The fleet is paused; syncs that are in flight finish.")
    yield* printHint(`time-punches fleet resume --all${databaseWords(input.database)} ends the pause.`)
  }),
  {
    text: "Pause companies, or the whole fleet. Syncs that are in flight finish.",
    examples: [
      ["fleet pause --database punches.db 4021", "One company"],
      ["fleet pause --database punches.db --all", "The whole fleet"]
    ]
  }
)
