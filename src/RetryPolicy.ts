/** How many attempts a page has, how long they may take, and how long the client waits between them. */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { invalidSetting, printable, refusedSetting, unknownKey, wholeNumber } from "./internal/wire/issue.ts"

/** The settings of `RetryPolicy`. */
export interface RetryOptions {
  /** Attempts per page, the first one included, at least 1; the one replay after a 401 is extra. Default: 4. */
  readonly attempts: number
  /** Deadline of one attempt, headers and body. Default: 30 seconds. */
  readonly attemptTimeout: Duration.Input
  /** Deadline of a page: all its attempts, the waits between them and the token. Default: 2 minutes. */
  readonly pageTimeout: Duration.Input
  /** Before retry `i`, counted from 0, the wait is random up to `baseDelay · 2^i`. Default: 200 milliseconds. */
  readonly baseDelay: Duration.Input
  /** Unit of the waits after a 429 without `Retry-After`: about 1, 3, then 8 times this. Default: 5 seconds. */
  readonly throttleDelay: Duration.Input
  /** Upper bound of the random waits. Default: 20 seconds. */
  readonly maxDelay: Duration.Input
  /** Longest `Retry-After` that the client waits for; a longer one fails at once. Default: 1 minute. */
  readonly retryAfterCap: Duration.Input
  /**
   * Tokens that all retries of the client share, so that an outage is not met with a flood: a transient retry takes 14,
   * a throttled one 5, success refunds them, and no retry is made without enough of them. Default: 500.
   */
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
 * The retry policy of a client. The setting is read when `TimePunches.layer` is built: provide it *to* that layer, not
 * beside it (see "Pitfall: provide settings to the client layer" in the docs).
 */
export class RetryPolicy extends Context.Reference<RetryOptions>("effect-time-punches/RetryPolicy", {
  defaultValue: () => defaults
}) {
  /**
   * The defaults with some of them changed; an `undefined` changes nothing. Fails with a `ConfigError` that names the
   * setting on fewer than one attempt, a negative budget and negative durations, and on a name that is not a setting.
   */
  static readonly layer = (
    options: { readonly [Setting in keyof RetryOptions]?: RetryOptions[Setting] | undefined }
  ): Layer.Layer<never, Config.ConfigError> =>
    Layer.effect(
      RetryPolicy,
      Effect.suspend(() => {
        // Untyped code may misspell a name, and would keep the default in silence.
        const unknown = Object.keys(options).find((name) => !Object.hasOwn(defaults, name))
        return unknown === undefined
          ? validate({
            ...defaults,
            ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
          })
          : refusedSetting(printable(unknown), unknownKey(unknown, Object.keys(defaults)))
      })
    )

  /** One attempt per page, so no waits; the deadlines and the one replay after a 401 stay. */
  static readonly layerNone = Layer.succeed(RetryPolicy, { ...defaults, attempts: 1 })
}

const validate = Effect.fnUntraced(function*(options: RetryOptions) {
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
  for (const setting of durations) {
    // `Duration.fromInput` reads NaN as zero.
    const duration = Number.isNaN(options[setting]) ? Option.none() : Duration.fromInput(options[setting])
    if (Option.isNone(duration) || Duration.isNegative(duration.value)) {
      return yield* invalidSetting(setting, "a duration that is not negative")
    }
  }
  return options
})
