/** How a setting is refused when a layer is built: by its name and what it must be, never by its value. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

export const invalidSetting = (name: string, mustBe: string): Effect.Effect<never, Config.ConfigError> =>
  Effect.fail(
    new Config.ConfigError(
      new Schema.SchemaError(
        new SchemaIssue.Pointer([name], new SchemaIssue.InvalidValue({ message: `${name} must be ${mustBe}` }))
      )
    )
  )
