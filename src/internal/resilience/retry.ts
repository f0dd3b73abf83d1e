/**
 * START HERE. Attempts, waits, budget, deadlines, and the state of a token. The one loop for a page and for a token retries
 * what may succeed.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"

/** Milliseconds of the monotonic clock, which measures limits of time: the wall clock may step. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6
)

/** How a failure may be retried. */
export interface Retry {
  /** Failures of one kind share a `limit`: how many of them in one run are worth a retry. */
  readonly kind: string
  readonly limit: number
  /** The service refused for its load, not for a fault. */
  readonly throttled: boolean
  /** The least wait that the service demands. */
  readonly retryAfter: Option.Option<Duration.Duration>
}

/** A retry without a limit of its kind, not throttled, after the backoff, unless `options` say otherwise. */
export const transientRetry = (
  kind: string,
  options: {
    readonly limit?: number
    readonly throttled?: boolean
    readonly retryAfter?: Option.Option<Duration.Duration>
  } = {}
): Retry => ({
  kind,
  limit: options.limit ?? Infinity,
  throttled: options.throttled ?? false,
  retryAfter: options.retryAfter ?? Option.none()
})

/** Times in milliseconds. */
export interface Limits {
  readonly attempts: number
  readonly total: number
  readonly baseDelay: number
  readonly throttleDelay: number
  readonly maxDelay: number
  readonly retryAfterCap: number
}

/** The tokens that all runs of a client share for retries, so that an outage is not met with a flood. */
export type Budget = ReturnType<typeof makeBudget>

export const makeBudget = (capacity: number) => {
  let left = capacity
  return {
    /** Takes the tokens if there are enough, and returns whether there were. */
    take: (cost: number): boolean => {
      if (left < cost) return false
      left -= cost
      return true
    },
    /** Gives tokens back, up to the capacity. */
    give: (amount: number): void => {
      left = Math.min(capacity, left + amount)
    }
  }
}

/** A throttled retry costs less: a service that answers "later" is alive. */
const cost = (retry: Retry): number => retry.throttled ? 5 : 14

/**
 * Multiples of `throttleDelay` for a 429 without `Retry-After`. Services of this kind block for a minute: at the default, the last
 * attempt comes after it.
 */
const throttleSteps = [1, 3, 10] as const

/** The attempt after a wait. */
interface NextAttempt {
  /** The wait, in milliseconds. */
  readonly delay: number
  /** Its number; the first attempt is 1. */
  readonly attempt: number
  /** How many attempts may be made, if all failures to come are of this kind. */
  readonly attempts: number
}

interface Options<A, E, R> {
  readonly attempt: Effect.Effect<A, E, R>
  /** Start of the time that `limits` give, in nanoseconds of the monotonic clock; default: now. */
  readonly started?: bigint
  /** Milliseconds since then that do not count: of waits for a place in a limit of requests. */
  readonly uncounted?: () => number
  readonly retryOf: (error: E) => Retry | undefined
  readonly limits: Limits
  readonly budget: Budget
  /** Runs before each wait. */
  readonly onRetry: (retry: Retry, next: NextAttempt) => Effect.Effect<void>
}

/**
 * Runs `attempt` until it succeeds, fails permanently, or a retry would exceed a limit; then fails with the last error.
 * It never sleeps past the cap of `Retry-After` or the total time: it fails at once instead.
 */
export const retry = <A, E, R>(options: Options<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    options.started === undefined ? Clock.monotonicTimeNanos : Effect.succeed(options.started),
    (started) =>
      Effect.matchEffect(options.attempt, {
        onSuccess: (value) => {
          options.budget.give(1)
          return Effect.succeed(value)
        },
        onFailure: (failure) => retryFrom(options, started, failure)
      })
  )

/** The second attempt and those after it, apart from the first: most runs need only that one. */
const retryFrom = Effect.fnUntraced(function*<A, E, R>(
  { budget, limits, attempt, onRetry, retryOf, uncounted = () => 0 }: Options<A, E, R>,
  started: bigint,
  first: E
) {
  const failures = new Map<string, number>()
  let failure = first
  let spent = 0
  for (let attempts = 1;; attempts++) {
    const retry = retryOf(failure)
    if (retry === undefined || attempts >= limits.attempts) return yield* Effect.fail(failure)
    const ofKind = (failures.get(retry.kind) ?? 0) + 1
    failures.set(retry.kind, ofKind)
    const demanded = Option.match(retry.retryAfter, { onNone: () => 0, onSome: Duration.toMillis })
    const delay = Math.max(demanded, yield* backoff(retry, demanded > 0, attempts - 1, limits))
    const elapsed = Number((yield* Clock.monotonicTimeNanos) - started) / 1e6 - uncounted()
    if (
      ofKind > retry.limit || demanded > limits.retryAfterCap || elapsed + delay >= limits.total ||
      !budget.take(cost(retry))
    ) return yield* Effect.fail(failure)
    spent += cost(retry)
    yield* onRetry(retry, {
      delay,
      attempt: attempts + 1,
      attempts: Math.min(limits.attempts, attempts + 1 + retry.limit - ofKind)
    })
    // Every wait between two attempts: after a 429 or a 503, and the backoff of others.
    yield* Effect.sleep(delay)
    const result = yield* Effect.result(attempt)
    if (Result.isSuccess(result)) {
      budget.give(spent)
      return result.success
    }
    failure = result.failure
  }
})

/** Full jitter, or the steps of a throttle up to 20 % later, so that many clients do not retry at the same time. */
const backoff = (retry: Retry, isDemanded: boolean, retries: number, limits: Limits): Effect.Effect<number> =>
  Effect.map(Random.next, (random) =>
    retry.throttled && (!isDemanded || limits.throttleDelay === Infinity)
      ? limits.throttleDelay * (throttleSteps[retries] ?? 10) * (1 + 0.2 * random)
      : random * Math.min(limits.baseDelay * 2 ** retries, limits.maxDelay))
