/** A small seeded generator of random numbers. The tests of this repository use it too. */

/** Draws from a seed. The same seed gives the same draws. */
export type Prng = ReturnType<typeof prng>

/** The mulberry32 generator: 32 bits of state, enough for test data, useless for secrets. */
export const prng = (seed: number) => {
  let state = seed >>> 0
  /** A number from 0, inclusive, to 1, exclusive. */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  /** An integer from `low` to `high`, both inclusive. */
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  /** `true` in `share` of the draws. */
  const chance = (share: number) => next() < share
  /** One of `items`, which must not be empty. */
  const pick = <A>(items: readonly [A, ...ReadonlyArray<A>]): A => items[between(0, items.length - 1)] ?? items[0]
  return { next, between, chance, pick }
}
