/** Chance from a seed, so that a run that fails can be run again. */

export interface Random {
  /** From 0 to 1, without 1. */
  readonly next: () => number
  /** A whole number, both ends included. */
  readonly between: (low: number, high: number) => number
  readonly chance: (share: number) => boolean
  readonly pick: <A>(items: readonly [A, ...ReadonlyArray<A>]) => A
}

/** The 32-bit generator "mulberry": small, and good enough to choose test data. */
export const random = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0]
  }
}
