/** What the command says if the base URL already has the path that is appended to it. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { cli, environment } from "./support.ts"

const withPath = (path: string) => ({
  ...environment,
  TIME_PUNCHES_BASE_URL: `${environment["TIME_PUNCHES_BASE_URL"]}${path}`,
  TIME_PUNCHES_AUTH_URL: "https://api.test"
})

it.effect("a base URL that ends in /v2 is refused by the name of its variable before anything is sent", () =>
  Effect.gen(function*() {
    const listed = yield* cli(["list"], { env: withPath("/v2") })
    const diagnosed = yield* cli(["doctor"], { env: withPath("/v2") })

    assert.deepStrictEqual([listed.code, diagnosed.code], [3, 3])
    for (const text of [listed.stderr, diagnosed.stdout]) {
      assert.match(text, /TIME_PUNCHES_BASE_URL must be a URL that ends before \/v2: remove the rest/)
    }
    assert.isEmpty(yield* (yield* FakeService).requests)
  }).pipe(Effect.provide(FakeService.layer())))

it.effect("with another path that the service does not have, the advice names what is appended", () =>
  Effect.gen(function*() {
    const { code, stderr } = yield* cli(["list"], { env: withPath("/v1") })

    assert.strictEqual(code, 7)
    assert.include(stderr, "Check the base URL (TIME_PUNCHES_BASE_URL): something else may answer there.")
    assert.include(stderr, `The client appends /v2/company/${defaultCompany.id}/time_punches to it.`)
  }).pipe(Effect.provide(FakeService.layer())))
