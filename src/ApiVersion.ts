/** The version of the interface that requests name: the header `x-api-version`. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BusinessDate } from "./Ids.ts"
import { invalidSetting } from "./internal/setting/setting.ts"

/**
 * The version that each page request names, a date as `YYYY-MM-DD`; `None` sends none. Default: `2026-06-01`. Provide
 * it to `TimePunches.layer`, or to a run, which then has this version instead of the one of its client.
 */
export class ApiVersion extends Context.Reference<Option.Option<string>>("effect-time-punches/ApiVersion", {
  defaultValue: () => Option.some("2026-06-01")
}) {
  /** Sends this date, `YYYY-MM-DD`. Fails with a `ConfigError` on anything else. */
  static readonly layer = (date: string) => Layer.effect(ApiVersion, validateDate("version", date))

  /** Sends no version: the service uses the one that is assigned to the access token. */
  static readonly layerTokenDefault = Layer.succeed(ApiVersion, Option.none())

  /**
   * Reads `TIME_PUNCHES_API_VERSION`; without it the setting stays as it is. Fails with a `ConfigError` that names the
   * variable on anything but a date as `YYYY-MM-DD`.
   */
  static readonly layerFromConfig = Layer.effect(
    ApiVersion,
    Effect.gen(function*() {
      const date = yield* Config.option(Config.NonEmptyString("TIME_PUNCHES_API_VERSION"))
      return Option.isNone(date) ? yield* ApiVersion : yield* validateDate("TIME_PUNCHES_API_VERSION", date.value)
    })
  )
}

const isDate = Schema.is(BusinessDate)

/** A service answers an unknown version with its oldest one, in silence: a slip must not get that far. */
const validateDate = (name: string, date: string) =>
  isDate(date) ? Effect.succeedSome(date) : invalidSetting(name, "a real date as YYYY-MM-DD")
