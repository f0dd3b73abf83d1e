/** The stories of closes, on the library over both databases and by the command. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { cli, companyOnly, environment, inFolder } from "../cli/support.ts"
import { databases, itWithTable } from "../support/databases.ts"
import { openHistory } from "../support/histories.ts"
import { commandPlayer } from "./command.ts"
import { libraryPlayer } from "./library.ts"
import { play, storiesOf } from "./story.ts"

const stories = storiesOf(Fs.readFileSync(Path.join(import.meta.dirname, "closes.txt"), "utf8"))

for (const database of databases()) {
  describe(`Closes in ${database.name}`, () => {
    const itWithCopy = itWithTable(database, "stories", (table) => openHistory(database.client, table))
    for (const [title, story] of stories) {
      itWithCopy(
        title,
        (copy) => Effect.map(play(story, libraryPlayer(copy)), (told) => assert.strictEqual(told, story))
      )
    }
  })
}

describe("Closes by the command", () => {
  for (const [title, story] of stories) {
    it.live(title, () =>
      inFolder([], (folder) =>
        Effect.gen(function*() {
          // Only a sync has a credential.
          const player = yield* commandPlayer(
            folder,
            (...args) => cli(args, { env: args[0] === "sync" ? environment : companyOnly })
          )
          assert.strictEqual(yield* play(story, player), story)
        })))
  }
})
