/** Tries again what may succeed: the one loop behind a page and behind a token. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"

/** How a failure may be tried again. */
export interface Retry {
  /** Failures of one kind share its `limit`: how many of them in one run are worth another try. */
  readonly kind: string
  readonly limit: number
  readonly throttled: boolean
  readonly retryAfter: Option.Option<Duration.Duration>
}

/** The retry of a failure that may pass, without limit unless one is given. */
export const transientRetry = (
  kind: string,
  options: {
    readonly limit?: number
    readonly throttled?: boolean
    readonly retryAfter?: Option.Option<Duration.Duration>
  } = {}
): Retry => ({ kind, limit: Infinity, throttled: false, retryAfter: Option.none(), ...options })

/** Times in milliseconds. */
export interface Limits {
  readonly attempts: number
  readonly total: number
  readonly baseDelay: number
  readonly throttleDelay: number
  readonly maxDelay: number
  readonly retryAfterCap: number
}

/** What all runs of a client may spend on retries together, so that an outage is not met with a flood. */
export interface Budget {
  readonly take: (cost: number) => boolean
  readonly give: (amount: number) => void
}

export const makeBudget = (capacity: number): Budget => {
  let left = capacity
  return {
    take: (cost) => {
      if (left < cost) return false
      left -= cost
      return true
    },
    give: (amount) => {
      left = Math.min(capacity, left + amount)
    }
  }
}

/** A throttled retry costs less: a service that says "later" is alive. */
const cost = (retry: Retry): number => retry.throttled ? 5 : 14

/** A 429 that does not say how long is met with patience: services of this kind block for about a minute. */
const throttleSteps = [1, 3, 8] as const

interface Persistence<A, E, R> {
  readonly attempt: Effect.Effect<A, E, R>
  /** When the time that `limits` give began, in nanoseconds of the monotonic clock; now, where it is not said. */
  readonly started?: bigint
  readonly retryOf: (error: E) => Retry | undefined
  readonly limits: Limits
  readonly budget: Budget
  /** Told before each wait, whose length is in milliseconds. */
  readonly onRetry: (retry: Retry, delay: number) => Effect.Effect<void>
}

/**
 * Runs `attempt` until it succeeds, fails for good, or one more try would break a limit; then fails with the last error.
 * It never sleeps past its cap or its deadline: where it would, it fails at once.
 */
export const retry = <A, E, R>(options: Persistence<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    options.started === undefined ? Clock.monotonicTimeNanos : Effect.succeed(options.started),
    (started) =>
      Effect.matchEffect(options.attempt, {
        onSuccess: (value) => {
          options.budget.give(1)
          return Effect.succeed(value)
        },
        onFailure: (failure) => tryAgain(options, started, failure)
      })
  )

/** The second try and those after it; most runs never come here. */
const tryAgain = Effect.fnUntraced(function*<A, E, R>(
  { budget, limits, attempt, onRetry, retryOf }: Persistence<A, E, R>,
  started: bigint,
  first: E
) {
  const failures = new Map<string, number>()
  let failure = first
  let spent = 0
  for (let tries = 1;; tries++) {
    const retry = retryOf(failure)
    if (retry === undefined || tries >= limits.attempts) return yield* Effect.fail(failure)
    const failed = (failures.get(retry.kind) ?? 0) + 1
    failures.set(retry.kind, failed)
    const asked = Option.match(retry.retryAfter, { onNone: () => 0, onSome: Duration.toMillis })
    const delay = Math.max(asked, yield* backoff(retry, asked > 0, tries - 1, limits))
    const elapsed = Number((yield* Clock.monotonicTimeNanos) - started) / 1e6
    if (
      failed > retry.limit || asked > limits.retryAfterCap || elapsed + delay >= limits.total ||
      !budget.take(cost(retry))
    ) return yield* Effect.fail(failure)
    spent += cost(retry)
    yield* onRetry(retry, delay)
    yield* Effect.sleep(delay)
    const result = yield* Effect.result(attempt)
    if (Result.isSuccess(result)) {
      budget.give(spent)
      return result.success
    }
    failure = result.failure
  }
})

/** Full jitter, or the steps of a throttle give or take a tenth, so that many waiters do not come back as one. */
const backoff = (retry: Retry, told: boolean, retries: number, limits: Limits): Effect.Effect<number> =>
  Effect.map(Random.next, (random) =>
    retry.throttled && !told
      ? limits.throttleDelay * (throttleSteps[retries] ?? 8) * (0.9 + 0.2 * random)
      : random * Math.min(limits.baseDelay * 2 ** retries, limits.maxDelay))
