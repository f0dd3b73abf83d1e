/** `time-punches fleet migrate`: the tables of a fleet and of its copy. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { databaseFlag } from "../database/database.ts"
import { isJson, jsonFlags } from "../flags/values.ts"
import { printDone } from "../print/output.ts"
import { operating } from "./arguments.ts"

export const migrate = Command.make(
  "migrate",
  { database: databaseFlag, ...jsonFlags },
  Effect.fnUntraced(function*(input) {
    const json = yield* Effect.fromResult(isJson(input))
    yield* (yield* operating).migrated(input)
    yield* printDone("The tables are those of this release.", json ? JSON.stringify({ migrated: true }) : undefined)
  })
).pipe(
  Command.withDescription("Create the tables of the fleet and of its copy, or bring them to this release."),
  Command.withShortDescription("Create the tables, or bring them to this release"),
  Command.withExamples([
    { command: "time-punches fleet migrate --database postgres://db.example.com/punches", description: "On a server" }
  ])
)
