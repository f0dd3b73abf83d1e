/** What the command says if the base URL already ends in the version of the path. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { cli, environment } from "./support.ts"

it.effect("a base URL that ends in /v2 is named by the advice, with the path that is added to it", () =>
  Effect.gen(function*() {
    const env = {
      ...environment,
      TIME_PUNCHES_BASE_URL: `${environment["TIME_PUNCHES_BASE_URL"]}/v2`,
      TIME_PUNCHES_AUTH_URL: "https://api.test"
    }
    const { code, stderr } = yield* cli(["list"], { env })

    assert.strictEqual(code, 7)
    assert.include(
      stderr,
      `The path is /v2/company/${defaultCompany.id}/time_punches: the URL must not end in /v2.`
    )
  }).pipe(Effect.provide(FakeService.layer())))
