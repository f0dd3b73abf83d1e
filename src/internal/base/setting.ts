/** The error of an invalid setting when a layer is built: its name and what it must be, never its value. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** Fails with a `ConfigError` that says what the setting must be. */
export const invalidSetting = (name: string, mustBe: string): Effect.Effect<never, Config.ConfigError> =>
  Effect.fail(
    new Config.ConfigError(
      new Schema.SchemaError(
        new SchemaIssue.Pointer([name], new SchemaIssue.InvalidValue({ message: `${name} must be ${mustBe}` }))
      )
    )
  )
