/** `time-punches fleet migrate`: the tables of a fleet and of its copy. */
import * as Effect from "effect/Effect"
import { databaseFlag } from "../database/database.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { printDone } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { migrated } from "./operate.ts"

export const verb = makeVerb(
  "migrate",
  { database: databaseFlag, ...jsonFlags },
  Effect.fnUntraced(function*(input) {
    const json = yield* isJson(input)
    yield* migrated(input)
    yield* printDone("The tables are those of this release.", json ? JSON.stringify({ migrated: true }) : undefined)
  }),
  {
    text: "Create the tables of the fleet and of its copy, or bring them to this release.",
    examples: [["fleet migrate --database postgres://db.example.com/punches", "On a server"]]
  }
)
