/** The error of an invalid setting. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { invalidSetting } from "../../../src/internal/setting/setting.ts"

describe("invalidSetting", () => {
  it.effect("names the setting and what it must be", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(invalidSetting("TIME_PUNCHES_BASE_URL", "an https URL"))

      assert.strictEqual(error._tag, "ConfigError")
      assert.include(error.message, "TIME_PUNCHES_BASE_URL must be an https URL")
    }))
})
