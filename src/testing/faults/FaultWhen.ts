/** Which requests an injected fault affects. */

/**
 * Selects the requests that a fault affects. Conditions combine with AND. Without any, it affects every request until
 * `clearFaults`; `unauthorizedOnce`, `tokenRevoked` and `emptyPage` then affect a single one.
 *
 * @since 0.1.0
 */
export interface FaultWhen {
  /** Endpoint. Default: `token` for `tokenMalformed` and `expiresIn`, `page` for every other fault. */
  readonly target?: "page" | "token" | undefined
  /** Numbers of requests to that endpoint, counted from 1 since the service was built. Default: all. */
  readonly requests?: number | ReadonlyArray<number> | undefined
  /** The cursor of the request; null selects requests without one. Default: any. */
  readonly cursor?: string | null | undefined
  /** A random share of the requests, the same ones for the same seed. Default: all. */
  readonly probability?: {
    /** Share of the requests, 0 to 1. */
    readonly chance: number
    /** Seed of the draws, an integer. */
    readonly seed: number
  } | undefined
  /** Maximum number of requests to affect. A request that fails before the fault takes effect does not count. */
  readonly times?: number | undefined
}
