/** `time-punches fleet sync`: companies are due at once. */
import * as Effect from "effect/Effect"
import { databaseFlag } from "../database/database.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { onFlag } from "../flags/values.ts"
import { makeVerb } from "../verb.ts"
import { ids, printChange, withFleet } from "./operate.ts"

export const verb = makeVerb(
  "sync",
  {
    database: databaseFlag,
    ids,
    full: onFlag("full", "Sweep too: find rows that the service no longer shows"),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const { full, ids } = input
    const json = yield* isJson(input)
    const result = yield* withFleet(input, "changes", (fleet) => full ? fleet.sweep(ids) : fleet.trigger(ids))
    yield* printChange(
      json,
      result,
      (companies) => `${companies} due now${full ? " for a sweep" : ""}`,
      "not active"
    )
  }),
  {
    text: "Sync companies as soon as there is room, in the processes of fleet run.",
    examples: [
      ["fleet sync --database punches.db 4021", "What has changed since"],
      ["fleet sync --database punches.db 4021 --full", "Also rows that the service no longer shows"]
    ]
  }
)
