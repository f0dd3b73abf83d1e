/** The stories of closes, and those of what the verbs print, by the command over a copy in a file. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cli, companyOnly, environment, inFolder } from "../cli/support.ts"
import { closes, verbs } from "./closes.ts"
import { commandPlayer } from "./command.ts"
import { play } from "./story.ts"

describe.each([["Closes", closes], ["The verbs of payroll", verbs]] as const)("%s by the command", (_, stories) => {
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
