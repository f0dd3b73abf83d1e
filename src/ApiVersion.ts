/** Which version of the interface is asked for: the header `x-api-version` (spec 9). */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BusinessDate } from "./Ids.ts"
import { invalidSetting } from "./internal/base/setting.ts"

/**
 * The version sent with each page request, `None` to send none; `2026-06-01` unless set. It is read when
 * `TimePunches.layer` is built, so provide it *to* that layer, not beside it.
 *
 * @since 0.1.0
 */
export class ApiVersion extends Context.Reference<Option.Option<string>>("effect-time-punches/ApiVersion", {
  defaultValue: () => Option.some("2026-06-01")
}) {
  /** Sends this date, `YYYY-MM-DD`. Fails with a `ConfigError` on anything else. @since 0.1.0 */
  static readonly layer = (date: string) => Layer.effect(ApiVersion, checked("version", date))

  /** Sends no version: the one assigned to the access token counts (spec 9, rule 2). @since 0.1.0 */
  static readonly layerTokenDefault = Layer.succeed(ApiVersion, Option.none())

  /** Reads `TIME_PUNCHES_API_VERSION`; without it the default stands. @since 0.1.0 */
  static readonly layerFromConfig = Layer.effect(
    ApiVersion,
    Effect.gen(function*() {
      const date = yield* Config.option(Config.NonEmptyString("TIME_PUNCHES_API_VERSION"))
      return Option.isNone(date) ? yield* ApiVersion : yield* checked("TIME_PUNCHES_API_VERSION", date.value)
    })
  )
}

const isDate = Schema.is(BusinessDate)

/** A service answers an unknown version with its oldest one, in silence: a slip must not get that far. */
const checked = (name: string, date: string) =>
  isDate(date) ? Effect.succeed(Option.some<string>(date)) : invalidSetting(name, "a real date as YYYY-MM-DD")
