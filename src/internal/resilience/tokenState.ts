/** The state of the token of one OAuth client and its transitions: pure, in nanoseconds of the monotonic clock. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

/** A token of a cache. */
export interface CachedToken {
  /** The token as the service issued it, without `Bearer`. */
  readonly token: Redacted.Redacted
  /** 1 for the first token of the cache, one more for each successor; tells tokens apart whatever their text. */
  readonly generation: number
}

/** A token and its life on the monotonic clock, in nanoseconds. */
export interface TokenLife extends CachedToken {
  /** From here on a `get` starts a background renewal: the end less 300 s, or less half the life if that is shorter. */
  readonly renewAt: bigint
  /** From here on a `get` waits for a renewal: the end less 30 s, or less a tenth of the life if that is shorter. */
  readonly expiresAt: bigint
}

/** `E` is the error of a token request. */
export interface TokenState<E> {
  /** The newest token, also past its end; none before the first one and after one that the service refused. */
  readonly current: Option.Option<TokenLife>
  readonly generation: number
  /** No request before this time, except the first one that replaces a refused token. */
  readonly nextRequest: bigint
  /** Whether the last request replaced a refused token: a second one in a row keeps the distance like any other. */
  readonly lastReplacedRefused: boolean
  /** No background renewal before this time. */
  readonly nextRenewal: bigint
  /** No request before `time`, since it would lock a refused client or prolong a throttle; `error` answers instead. */
  readonly blockedUntil: Option.Option<{ readonly time: bigint; readonly error: E }>
}

export const emptyState: TokenState<never> = {
  current: Option.none(),
  generation: 0,
  nextRequest: BigInt(0),
  lastReplacedRefused: false,
  nextRenewal: BigInt(0),
  blockedUntil: Option.none()
}

const nanos = (duration: Duration.Input): bigint => Duration.toNanosUnsafe(duration)

const requestGap = nanos("1 second")
const renewalGap = nanos("30 seconds")
const earliestRenewal = Duration.minutes(5)
const latestRenewal = Duration.seconds(30)
const refusedClientBlock = Duration.seconds(30)
const longestThrottle = Duration.minutes(5)
/** The block after a throttle without `Retry-After`: services of this kind block for a minute. */
const unknownThrottle = Duration.minutes(1)
/** An infinite duration has no nanoseconds. */
const longestLife = Duration.days(36_500)

/**
 * Decides what a caller gets. It takes the three answers instead of returning a value, because it runs for every page
 * and should allocate nothing.
 */
export const decide = <A>(
  { current, nextRenewal }: TokenState<unknown>,
  now: bigint,
  answers: {
    readonly use: (token: TokenLife) => A
    /** Use the token and start a renewal in the background. */
    readonly useAndRenew: (token: TokenLife, now: bigint) => A
    /** Wait for a renewal. */
    readonly wait: A
  }
): A => {
  if (Option.isNone(current) || now >= current.value.expiresAt) return answers.wait
  return now < nextRenewal ? answers.use(current.value) : answers.useAndRenew(current.value, now)
}

/** What answers a renewal without a request: a token that is not due yet, or the error of a block that lasts. */
export const settled = <E>(
  { blockedUntil, current }: TokenState<E>,
  now: bigint
): Option.Option<Result.Result<TokenLife, E>> => {
  if (Option.isSome(current) && now < current.value.renewAt) return Option.some(Result.succeed(current.value))
  if (Option.isSome(blockedUntil) && now < blockedUntil.value.time) {
    return Option.some(Result.fail(blockedUntil.value.error))
  }
  return Option.none()
}

/** Whether the service refused the last token; an expired one stays the current one. */
const replacesRefused = (state: TokenState<unknown>): boolean => Option.isNone(state.current) && state.generation > 0

/** How long the next request has to wait. */
export const requestDelay = (state: TokenState<unknown>, now: bigint): Duration.Duration =>
  now >= state.nextRequest || (replacesRefused(state) && !state.lastReplacedRefused)
    ? Duration.zero
    : Duration.nanos(state.nextRequest - now)

/** A request is sent. */
export const requested = <E>(state: TokenState<E>, now: bigint): TokenState<E> => ({
  ...state,
  nextRequest: now + requestGap,
  lastReplacedRefused: replacesRefused(state)
})

/** A background renewal starts: the next one waits, so that one that fails is not repeated by every caller. */
export const renewalStarted = <E>(state: TokenState<E>, now: bigint): TokenState<E> => ({
  ...state,
  nextRenewal: now + renewalGap
})

/**
 * The endpoint issued a token. The life of a token is counted from before the request, so that it never seems longer
 * than it is.
 */
export const issued = <E>(
  state: TokenState<E>,
  { lifetime, token }: { readonly token: Redacted.Redacted; readonly lifetime: Duration.Duration },
  requestedAt: bigint
): readonly [TokenLife, TokenState<E>] => {
  const life = Duration.min(lifetime, longestLife)
  const before = (margin: Duration.Duration) => requestedAt + nanos(Duration.subtract(life, margin))
  const current: TokenLife = {
    token,
    generation: state.generation + 1,
    renewAt: before(Duration.min(earliestRenewal, Duration.times(life, 0.5))),
    expiresAt: before(Duration.min(latestRenewal, Duration.times(life, 0.1)))
  }
  return [current, {
    ...state,
    current: Option.some(current),
    generation: current.generation,
    nextRenewal: current.renewAt
  }]
}

/** The endpoint issued none. Only a refused client and a throttle block further requests. */
export const refused = <E extends { readonly reason: string; readonly retryAfter: Option.Option<Duration.Duration> }>(
  state: TokenState<E>,
  error: E,
  now: bigint
): TokenState<E> => {
  const block = error.reason === "InvalidClient"
    ? refusedClientBlock
    : error.reason === "Throttled"
    ? Duration.min(Option.getOrElse(error.retryAfter, () => unknownThrottle), longestThrottle)
    : Duration.zero
  return {
    ...state,
    blockedUntil: Duration.isZero(block) ? Option.none() : Option.some({ time: now + nanos(block), error })
  }
}

/** The service refused `used`. Only that token is dropped, so that a late 401 cannot evict its successor. */
export const invalidated = <E>(state: TokenState<E>, used: { readonly generation: number }): TokenState<E> =>
  Option.isSome(state.current) && state.current.value.generation === used.generation
    ? { ...state, current: Option.none() }
    : state
