/** How often, how long and how hard one page is tried. */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { invalidSetting } from "./internal/base/setting.ts"
import { wholeNumber } from "./internal/base/wholeNumber.ts"

/**
 * The knobs of `RetryPolicy`.
 *
 * - `attempts`: tries a page, the first one included; one replay after a 401 comes on top
 * - `attemptTimeout`: for headers and body of one try · `pageTimeout`: for all tries of a page, waits and token included
 * - `baseDelay`, `maxDelay`: before retry `i` a random wait of at most `baseDelay · 2^i`, never above `maxDelay`
 * - `throttleDelay`: a 429 without `Retry-After` waits about 1, 3, then 8 times this
 * - `retryAfterCap`: a longer `Retry-After` fails at once instead
 * - `budget`: tokens of this client; a transient retry takes 14, a throttled one 5, success gives back
 *
 * @since 0.1.0
 */
export interface RetryOptions {
  readonly attempts: number
  readonly attemptTimeout: Duration.Input
  readonly pageTimeout: Duration.Input
  readonly baseDelay: Duration.Input
  readonly throttleDelay: Duration.Input
  readonly maxDelay: Duration.Input
  readonly retryAfterCap: Duration.Input
  readonly budget: number
}

const defaults: RetryOptions = {
  attempts: 4,
  attemptTimeout: "30 seconds",
  pageTimeout: "2 minutes",
  baseDelay: "200 millis",
  throttleDelay: "5 seconds",
  maxDelay: "20 seconds",
  retryAfterCap: "1 minute",
  budget: 500
}

/**
 * The retry policy of a client. It is read when `TimePunches.layer` is built, so provide it *to* that layer, not
 * beside it.
 *
 * @since 0.1.0
 */
export class RetryPolicy extends Context.Reference<RetryOptions>("effect-time-punches/RetryPolicy", {
  defaultValue: () => defaults
}) {
  /**
   * The defaults with some of them changed; an `undefined` changes nothing. Fails with a `ConfigError` on fewer than
   * one attempt and on negative durations.
   *
   * @since 0.1.0
   */
  static readonly layer = (
    options: { readonly [Knob in keyof RetryOptions]?: RetryOptions[Knob] | undefined }
  ): Layer.Layer<never, Config.ConfigError> =>
    Layer.effect(
      RetryPolicy,
      checked({
        ...defaults,
        ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
      })
    )

  /** One try a page and no waiting; the deadlines stay, and so does the one replay after a 401. @since 0.1.0 */
  static readonly none = Layer.succeed(RetryPolicy, { ...defaults, attempts: 1 })
}

const checked = Effect.fnUntraced(function*(options: RetryOptions) {
  const attempts = wholeNumber(options.attempts, 1)
  if (Result.isFailure(attempts)) return yield* invalidSetting("attempts", attempts.failure)
  if (!(options.budget >= 0)) return yield* invalidSetting("budget", "a number from 0 on")
  const durations = [
    "attemptTimeout",
    "pageTimeout",
    "baseDelay",
    "throttleDelay",
    "maxDelay",
    "retryAfterCap"
  ] as const
  for (const knob of durations) {
    // The core reads a duration that is not a number as none at all.
    const duration = Number.isNaN(options[knob]) ? Option.none() : Duration.fromInput(options[knob])
    if (Option.isNone(duration) || Duration.isNegative(duration.value)) {
      return yield* invalidSetting(knob, "a duration that is not negative")
    }
  }
  return options
})
