/** A small seeded generator of numbers, so that the same seed always gives the same data. */

/** Draws from a seed: the same seed, the same draws. */
export interface Prng {
  /** At least 0 and less than 1. */
  readonly next: () => number
  /** A whole number, at least `low` and at most `high`. */
  readonly between: (low: number, high: number) => number
  /** True in `share` of the draws. */
  readonly chance: (share: number) => boolean
  /** One of `items`, which must not be empty. */
  readonly pick: <A>(items: readonly [A, ...ReadonlyArray<A>]) => A
}

/** The mulberry32 generator: 32 bits of state, good enough for test data and of no use for secrets. */
export const prng = (seed: number): Prng => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  const chance = (share: number) => next() < share
  const pick = <A>(items: readonly [A, ...ReadonlyArray<A>]): A => items[between(0, items.length - 1)] ?? items[0]
  return { next, between, chance, pick }
}
