/** Measures cases in turn within each round, so that noise of the machine affects all alike. */
import { prng } from "../src/testing/base/prng.ts"

export interface Case {
  readonly name: string
  readonly run: () => unknown
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] ?? NaN : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

/** A random order that depends only on the seed. */
const shuffled = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const { next } = prng(seed)
  return items.map((item) => [next(), item] as const).toSorted(([a], [b]) => a - b).map(([, item]) => item)
}

/**
 * Nanoseconds of each case's `run`, the median of the rounds. Each round has a different random order: the case after a
 * wasteful one pays for its garbage, and that must not always be the same case.
 */
export const interleaved = async (
  cases: ReadonlyArray<Case>,
  { repeat = 1, rounds, warmup = 1 }: { readonly rounds: number; readonly warmup?: number; readonly repeat?: number }
): Promise<ReadonlyMap<string, number>> => {
  const times = new Map<string, Array<number>>(cases.map(({ name }) => [name, []]))
  for (let round = -warmup; round < rounds; round++) {
    for (const { name, run } of shuffled(cases, round)) {
      const start = process.hrtime.bigint()
      for (let i = 0; i < repeat; i++) await run()
      const spent = Number(process.hrtime.bigint() - start) / repeat
      if (round >= 0) times.get(name)?.push(spent)
    }
  }
  return new Map([...times].map(([name, spent]) => [name, median(spent)]))
}

/** Bytes that one `run` allocates. Requires `--expose-gc`. */
export const allocated = (run: () => unknown, samples = 15): number => {
  const counts: Array<number> = []
  for (let i = 0; i < samples; i++) {
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    const kept = run()
    counts.push(process.memoryUsage().heapUsed - before)
    if (kept === counts) throw new Error("the result must outlive the count")
  }
  return median(counts)
}
