/** The example programs print what their pages show. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Endpoints } from "../../src/index.ts"
import { outputs } from "./support/exampleOutputs.ts"
import { environment, served, spawn } from "./support/examples.ts"
import { fences, unchanging } from "./support/pages.ts"

const shown = fences("output")

const printed = new Map<string, string>()

const isIn = (page: string, output: string) => output.includes(unchanging(page))

describe("the examples", () => {
  for (const [name, output] of Object.entries(outputs)) {
    it.effect(`print the output on a page: ${name}`, () =>
      Effect.gen(function*() {
        const text = unchanging(yield* output)
        printed.set(name, text)

        assert.isTrue(shown.some(({ code }) => isIn(code, text)), `no page shows this output:\n${text}`)
      }), 60_000)
  }

  it("print every output in the pages", () => {
    for (const { code, page } of shown) {
      assert.isTrue([...printed.values()].some((text) => isIn(code, text)), `nothing prints this in ${page}:\n${code}`)
    }
  })

  it.live("run as separate processes, with settings from the environment", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Endpoints
      const [payroll, unset] = yield* Effect.all([
        spawn("payroll.ts", environment(baseUrl)),
        spawn("payroll.ts", { TIME_PUNCHES_BASE_URL: baseUrl })
      ], { concurrency: 2 })

      assert.deepStrictEqual([payroll.code, payroll.stdout], [0, printed.get("payroll")])
      assert.strictEqual(unset.code, 1)
      assert.include(unset.stdout + unset.stderr, "TIME_PUNCHES_CLIENT_ID")
    }).pipe(Effect.provide(served())), 60_000)
})
