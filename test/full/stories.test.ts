/** The stories of closes by the packed command: each call is a process, and the service is at an address. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { bundle } from "../cli/bundle.ts"
import { ended, environmentOf, started } from "../cli/child.ts"
import { companyOnly, temporaryFolder } from "../cli/support.ts"
import { closes, verbs } from "../stories/closes.ts"
import { commandPlayer } from "../stories/command.ts"
import { play } from "../stories/story.ts"
import { within } from "../support/series.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer()))

describe("Stories by the packed command", () => {
  it.live("print what is written in them, as many as the time allows, in another order each time", () =>
    Effect.gen(function*() {
      const random = prng(Date.now())
      const stories = [...closes, ...verbs].map((story) => [random.between(0, 1_000_000), story] as const)
        .toSorted(([one], [other]) => one - other)
      let played = 0
      for (const [, [title, story]] of within("150 seconds", stories)) {
        yield* Effect.gen(function*() {
          const folder = yield* temporaryFolder
          const { url } = yield* FakeServer
          const player = yield* commandPlayer(folder, (...args) => {
            const env = { ...args[0] === "sync" ? environmentOf(url) : companyOnly, HOME: folder }
            return Effect.scoped(Effect.flatMap(started(args, env, bundle, folder), ended))
          })
          assert.strictEqual(yield* play(story, player), story, title)
        }).pipe(Effect.scoped, Effect.provide(served))
        played++
      }
      process.stdout.write(`${played} of ${stories.length} stories\n`)
      assert.isAbove(played, 4)
    }))
})
