/** What an error says of a setting that is not accepted. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** Fails with a `ConfigError` that says what the setting must be. */
export const invalidSetting = (name: string, mustBe: string): Effect.Effect<never, Config.ConfigError> =>
  refusedSetting(name, `must be ${mustBe}`)

/** Fails with a `ConfigError` that says what is wrong with the setting. */
export const refusedSetting = (name: string, what: string): Effect.Effect<never, Config.ConfigError> =>
  Effect.fail(
    new Config.ConfigError(
      new Schema.SchemaError(
        new SchemaIssue.Pointer([name], new SchemaIssue.InvalidValue({ message: `${name} ${what}` }))
      )
    )
  )

/** A setting that must have a text. */
export const requiredSetting = (name: string): Effect.Effect<string, Config.ConfigError> =>
  Effect.flatMap(
    Config.option(Config.NonEmptyString(name)),
    Option.match({ onNone: () => refusedSetting(name, "is not set"), onSome: Effect.succeed })
  )

/** Whether a host is this machine, where a connection need not be encrypted. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

/** The number itself, or what it must be, as in `pageSize must be …`. Infinity is not a whole number. */
export const wholeNumber = (value: number, least: number, most = Infinity): Result.Result<number, string> =>
  Number.isInteger(value) && value >= least && value <= most
    ? Result.succeed(value)
    : Result.fail(`a whole number ${most === Infinity ? `from ${least} on` : `from ${least} to ${most}`}`)
