/** The stories of a fleet, by the library over both databases, and by the command over a file. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Fleet } from "../../src/fleet/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { cli, inFolder } from "../cli/support.ts"
import { openStore } from "../fleet/support.ts"
import { databases, itWithDatabase, type TestDatabase } from "../support/databases.ts"
import { playFleet } from "./fleet.ts"
import { commandOperator, libraryOperator } from "./fleetPlayers.ts"
import { storiesIn } from "./tell.ts"

const stories = storiesIn("fleet.txt")

/** The tables of a fleet, and its operator's side. */
const openFleet = (client: TestDatabase["client"]) =>
  Effect.gen(function*() {
    const test = yield* openStore(client)
    const context = yield* Layer.build(Fleet.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, test.sql))))
    return { test, fleet: Context.get(context, Fleet) }
  })

for (const database of databases()) {
  describe(`A fleet in ${database.name}`, () => {
    const itWithFleet = itWithDatabase(database, openFleet)
    for (const [title, story] of stories) {
      itWithFleet(
        title,
        ({ fleet, test }) =>
          Effect.map(playFleet(story, libraryOperator(fleet), test), (told) => assert.strictEqual(told, story))
      )
    }
  })
}

describe("A fleet by the command", () => {
  for (const [title, story] of stories) {
    it.live(title, () =>
      inFolder([], (folder) =>
        Effect.gen(function*() {
          const database = `${folder}/punches.db`
          const test = yield* openStore(NodeSqlite.layer({ filename: database }))
          const operator = yield* commandOperator((...args) => cli([...args, "--database", database], { env: {} }))
          assert.strictEqual(yield* playFleet(story, operator, test), story)
        })))
  }
})
