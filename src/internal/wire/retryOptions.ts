/** The settings of a retry policy and their validation, for a client and for one run. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { wholeNumber } from "../setting/setting.ts"
import { unknownKey } from "../text/meant.ts"
import { printable } from "../text/printable.ts"

/** The settings of `RetryPolicy`. */
export interface RetrySettings {
  /** Attempts per page, the first one included, at least 1; the one replay after a 401 is extra. Default: 4. */
  readonly attempts: number
  /** Deadline of one attempt, headers and body, without the wait for a place in a `RateLimit`. Default: 30 seconds. */
  readonly attemptTimeout: Duration.Input
  /** Deadline of a page: all its attempts, the waits between them and the token, except that wait. Default: 2 minutes. */
  readonly pageTimeout: Duration.Input
  /** Before retry `i`, counted from 0, the wait is random up to `baseDelay · 2^i`. Default: 200 milliseconds. */
  readonly baseDelay: Duration.Input
  /**
   * Unit of the waits after a 429 without `Retry-After`: 1, 3, then 10 times this or up to a fifth more. `Infinity`: no 429 is retried, with
   * or without `Retry-After`. Default: 5 seconds.
   */
  readonly throttleDelay: Duration.Input
  /** Upper bound of the random waits. Default: 20 seconds. */
  readonly maxDelay: Duration.Input
  /** Longest `Retry-After` that the client waits for; a longer one fails at once. Default: 1 minute. */
  readonly retryAfterCap: Duration.Input
  /**
   * Tokens that all retries of the client share, so that a client does not flood a service that fails. A transient retry
   * takes 14, a throttled one 5, and a success refunds them; without enough tokens there is no retry. Default: 500.
   */
  readonly budget: number
}

/** Some of the settings; an `undefined` changes nothing. */
export type RetryOptions = { readonly [Setting in keyof RetrySettings]?: RetrySettings[Setting] | undefined }

/** A setting that is refused, and what is wrong with it; an empty name stands for all of them. */
interface Refusal {
  readonly setting: string
  readonly what: string
}

/** The settings with some of them changed, or the first that is refused. */
export const changeRetry = (
  options: RetrySettings,
  changes: RetryOptions
): Result.Result<RetrySettings, Refusal> => {
  if (!Predicate.isObject(changes)) return refuse("", "must be an object")
  // Untyped code may misspell a name, and would keep the default in silence.
  const unknown = Object.keys(changes).find((name) => !Object.hasOwn(options, name))
  return unknown === undefined
    ? validate({
      ...options,
      ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
    })
    : refuse(printable(unknown), unknownKey(unknown, Object.keys(options)))
}

const refuse = (setting: string, what: string): Result.Result<never, Refusal> => Result.fail({ setting, what })

const durations = [
  "attemptTimeout",
  "pageTimeout",
  "baseDelay",
  "throttleDelay",
  "maxDelay",
  "retryAfterCap"
] as const

const validate = (options: RetrySettings): Result.Result<RetrySettings, Refusal> => {
  const attempts = wholeNumber(options.attempts, 1)
  if (Result.isFailure(attempts)) return refuse("attempts", `must be ${attempts.failure}`)
  if (!(options.budget >= 0)) return refuse("budget", "must be a number from 0 on")
  const invalid = durations.find((setting) => !Option.exists(durationOf(options[setting]), isNotNegative))
  return invalid === undefined ? Result.succeed(options) : refuse(invalid, "must be a duration that is not negative")
}

const isNotNegative = (duration: Duration.Duration): boolean => !Duration.isNegative(duration)

/** The duration that an input stands for. `Duration.fromInput` reads NaN, and an object without a unit, as zero. */
export const durationOf = (input: Duration.Input): Option.Option<Duration.Duration> =>
  isMeant(input) ? Duration.fromInput(input) : Option.none()

const unit = /^(?:week|day|hour|minute|(?:milli|micro|nano)?second)s$/

const isMeant = (input: Duration.Input): boolean => {
  if (typeof input !== "object" || Duration.isDuration(input)) return !Number.isNaN(input)
  const parts = Object.entries(input ?? {}).filter(([, part]) => part !== undefined)
  return parts.length > 0 &&
    parts.every(([name, part]) =>
      (Array.isArray(input) || unit.test(name)) && Predicate.isNumber(part) && !Number.isNaN(part)
    )
}
