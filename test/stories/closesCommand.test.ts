/** The stories of closes, by the command over a copy in a file. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cli, companyOnly, environment, inFolder } from "../cli/support.ts"
import { closes } from "./closes.ts"
import { commandPlayer } from "./command.ts"
import { play } from "./story.ts"

describe("Closes by the command", () => {
  for (const [title, story] of closes) {
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
