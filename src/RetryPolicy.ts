/** How many attempts a page has, how long they may take, and how long the client waits between them. */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

import { refusedSetting } from "./internal/setting/setting.ts"
import { changeRetry, type RetryOptions, type RetrySettings } from "./internal/wire/retryOptions.ts"

export type { RetryOptions, RetrySettings } from "./internal/wire/retryOptions.ts"

const defaults: RetrySettings = {
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
 * The retry policy of a client, if it is provided to `TimePunches.layer`, or of one run, if it is provided to the run;
 * the latter replaces the former. A run shares the budget of its client, unless its policy has another `budget`.
 */
export class RetryPolicy extends Context.Reference<RetrySettings>("effect-time-punches/RetryPolicy", {
  defaultValue: () => defaults
}) {
  /**
   * The defaults with some of them changed; an `undefined` changes nothing. Fails with a `ConfigError` that names the
   * setting on fewer than one attempt, a negative budget and negative durations, and on a name that is not a setting.
   */
  static readonly layer = (
    options: RetryOptions
  ): Layer.Layer<never, Config.ConfigError> =>
    Layer.effect(
      RetryPolicy,
      Effect.suspend(() =>
        Result.match(changeRetry(defaults, options), {
          onFailure: ({ setting, what }) => refusedSetting(setting === "" ? "retry" : setting, what),
          onSuccess: Effect.succeed
        })
      )
    )

  /** One attempt per page, so no waits; the deadlines and the one replay after a 401 stay. */
  static readonly layerNone = Layer.succeed(RetryPolicy, { ...defaults, attempts: 1 })
}
