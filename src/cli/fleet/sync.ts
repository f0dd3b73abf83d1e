/** `time-punches fleet sync`: companies are due at once. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { databaseFlag } from "../database/database.ts"
import { isJson, jsonFlags, onFlag } from "../flags/values.ts"
import { ids, operating } from "./arguments.ts"

export const sync = Command.make(
  "sync",
  {
    database: databaseFlag,
    ids,
    full: onFlag("full", "Sweep too: find rows that the service no longer shows"),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const { full, ids } = input
    const json = yield* Effect.fromResult(isJson(input))
    const { printChange, withFleet } = yield* operating
    const result = yield* withFleet(input, "changes", (fleet) => full ? fleet.sweep(ids) : fleet.trigger(ids))
    yield* printChange(
      json,
      result,
      (companies) => `${companies} due now${full ? " for a sweep" : ""}`,
      "not active"
    )
  })
).pipe(
  Command.withDescription("Sync companies as soon as there is room, in the processes of fleet run."),
  Command.withShortDescription("Sync companies as soon as there is room"),
  Command.withExamples([
    { command: "time-punches fleet sync --database punches.db 4021", description: "What has changed since" },
    {
      command: "time-punches fleet sync --database punches.db 4021 --full",
      description: "Also rows that the service no longer shows"
    }
  ])
)
