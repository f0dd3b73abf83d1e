/** Every form of every secret of SECURITY.md × every command that reads settings, in real processes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { calls, caught, planted } from "../cli/canaries.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches: [] })))

describe("a secret of the table in SECURITY.md", () => {
  it.live.each(calls)("is in no output and in no file of %s", (call) =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      const ended = yield* Effect.forEach(planted, (each) => caught(each, call, url), { concurrency: 3 })

      assert.deepStrictEqual(ended.filter(({ leaks }) => leaks.length > 0), [])
      assert.deepStrictEqual(ended.filter(({ code }) => typeof code !== "number" || code === 1), [])
    }).pipe(Effect.scoped, Effect.provide(served)))
})
