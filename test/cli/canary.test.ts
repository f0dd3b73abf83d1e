/** No secret that SECURITY.md lists is in what a process prints or in a file that it makes; the whole matrix is in `test/full`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { settings } from "../../src/cli/flags/settings.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { calls, canary, caught, findCanary, planted, secretVariables } from "./canaries.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches: [] })))

describe("a secret of the table in SECURITY.md", () => {
  it("is every setting of the command that is a secret, and every address", () => {
    const listed = settings.filter((each) => "isSecret" in each || "isUrl" in each).map(({ variable }) => variable)

    assert.deepStrictEqual(secretVariables.filter((name) => !name.endsWith("_PROXY")).toSorted(), listed.toSorted())
  })

  it("is found as it is, in capitals, in base64 at each offset, and with escapes", () => {
    const forms = [
      canary,
      canary.toUpperCase(),
      canary.replace("a", "%61"),
      canary.replace("a", "\\u0061"),
      ...["", "u", "u:", "u:p"].map((before) => Buffer.from(`${before}${canary}@h`).toString("base64"))
    ]

    for (const form of forms) assert.isTrue(findCanary(`x ${form} y`), form)
    assert.isFalse(findCanary("x Canary y"))
  })

  it.live("is in no output and in no file, whatever the form of its setting", () =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      // Some of the forms, each with another command; `database.test.ts` and `profile.test.ts` read all in this process.
      const runs = planted.filter((_, index) => index % 5 === 0)
        .map((each, index) => [each, calls[index % calls.length] ?? ""] as const)
      const ended = yield* Effect.forEach(runs, ([each, call]) => caught(each, call, url), { concurrency: 4 })

      assert.deepStrictEqual(ended.filter(({ leaks }) => leaks.length > 0), [])
      assert.deepStrictEqual(ended.filter(({ code }) => typeof code !== "number" || code === 1), [])
    }).pipe(Effect.scoped, Effect.provide(served)), 60_000)
})
