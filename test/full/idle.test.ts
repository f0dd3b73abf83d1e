/** Ten thousand idle streams at once. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { timersOf } from "../support/idle.ts"

it.live("ten thousand idle streams hold a hundred timers at most", () =>
  Effect.gen(function*() {
    const { first, punches, second } = yield* timersOf(10_000)

    assert.strictEqual(punches, 500)
    assert.isAtMost(first, 100)
    assert.isAtMost(second, 100)
  }))
