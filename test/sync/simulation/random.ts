/** Random numbers from a seed: the same seed gives the same plan. */

export interface Random {
  /** At least 0, less than 1. */
  readonly next: () => number
  /** A whole number, both ends included. */
  readonly int: (least: number, most: number) => number
  readonly chance: (share: number) => boolean
  readonly pick: <A>(list: readonly [A, ...ReadonlyArray<A>]) => A
  /** One of a list that may be empty. */
  readonly any: <A>(list: ReadonlyArray<A>) => A | undefined
}

/** Mulberry32. */
export const randomFrom = (seed: number): Random => {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const any = <A>(list: ReadonlyArray<A>) => list[Math.floor(next() * list.length)]
  return {
    next,
    int: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (share) => next() < share,
    any,
    pick: (list) => any(list) ?? list[0]
  }
}
