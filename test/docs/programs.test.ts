/** The programs among the examples print what their pages show. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Endpoints } from "../../src/index.ts"
import { outputs } from "../support/exampleOutputs.ts"
import { environment, served, spawn } from "../support/examples.ts"
import { fences, unchanging } from "../support/pages.ts"

const shown = fences("text").map(({ code }) => unchanging(code))

describe("the examples", () => {
  for (const [name, output] of Object.entries(outputs)) {
    it.effect(`print what a page shows: ${name}`, () =>
      Effect.gen(function*() {
        const printed = unchanging(yield* output)

        assert.isTrue(shown.some((text) => printed.includes(text)), `no page shows this output:\n${printed}`)
      }), 20_000)
  }

  it.live("run as programs of their own, with their settings from the environment", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Endpoints
      const [start, payroll, unset] = yield* Effect.all([
        spawn("start.ts", environment(baseUrl)),
        spawn("payroll.ts", environment(baseUrl)),
        spawn("payroll.ts", { TIME_PUNCHES_BASE_URL: baseUrl })
      ], { concurrency: 2 })

      assert.deepStrictEqual([start.code, start.stdout], [0, yield* outputs.start])
      assert.deepStrictEqual([payroll.code, payroll.stdout], [0, yield* outputs.payroll])
      assert.strictEqual(unset.code, 1)
      assert.include(unset.stdout + unset.stderr, "TIME_PUNCHES_CLIENT_ID")
    }).pipe(Effect.provide(served())), 20_000)
})
