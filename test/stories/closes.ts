/** The stories of closes: on the library over one database, and for the players of the command. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { itWithDatabase, type TestDatabase } from "../support/databases.ts"
import { openHistory } from "../support/histories.ts"
import { libraryPlayer } from "./library.ts"
import { play, storiesOf } from "./story.ts"

const read = (name: string) => storiesOf(Fs.readFileSync(Path.join(import.meta.dirname, name), "utf8"))

export const closes = read("closes.txt")

/** Of what the verbs print, so that only the command plays them. */
export const verbs = read("verbs.txt")

export const itPlaysCloses = (database: TestDatabase) =>
  describe(`Closes in ${database.name}`, () => {
    const itWithCopy = itWithDatabase(database, openHistory)
    for (const [title, story] of closes) {
      itWithCopy(
        title,
        (copy) => Effect.map(play(story, libraryPlayer(copy)), (told) => assert.strictEqual(told, story))
      )
    }
  })
