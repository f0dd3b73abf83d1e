/** All stories of closes by the command, and some by the packed one, which `RANDOM_SEED` draws: each call is a process. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { bundle } from "../cli/bundle.ts"
import { ended, environmentOf, started } from "../cli/child.ts"
import { companyOnly, temporaryFolder } from "../cli/support.ts"
import { closes, verbs } from "../stories/closes.ts"
import { commandPlayer, itPlaysByCommand } from "../stories/command.ts"
import { play } from "../stories/story.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer()))

itPlaysByCommand("Closes", closes)

describe("Stories by the packed command", () => {
  const stories = [...closes, ...verbs]
  const random = prng(Number(process.env["RANDOM_SEED"] ?? 1))
  for (let played = 0; played < 24; played++) {
    const [[title, story] = ["", ""]] = stories.splice(random.between(0, stories.length - 1), 1)
    it.live(`prints what is written: ${title}`, () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const { url } = yield* FakeServer
        const player = yield* commandPlayer(folder, (...args) => {
          const env = { ...args[0] === "sync" ? environmentOf(url) : companyOnly, HOME: folder }
          return Effect.scoped(Effect.flatMap(started(args, env, bundle, folder), ended))
        })
        assert.strictEqual(yield* play(story, player), story)
      }).pipe(Effect.scoped, Effect.provide(served)))
  }
})
