/** Compares clients: a process for each sample, the order shuffled in each round, medians of the ratios within a round. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { prng } from "../src/testing/base/prng.ts"
import type { Sample, SampleOptions } from "./sample.ts"

/** The value that a part of all values, from 0 to 1, does not exceed. */
export const quantile = (values: ReadonlyArray<number>, part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = part * (sorted.length - 1)
  const [low = NaN, high = NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low + (high - low) * (at - Math.floor(at))
}

export const quartile = (values: ReadonlyArray<number>, quarter: 1 | 2 | 3): number => quantile(values, quarter / 4)

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** A random order that depends only on the seed. */
export const shuffled = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const { next } = prng(seed)
  return items.map((item) => [next(), item] as const).toSorted(([a], [b]) => a - b).map(([, item]) => item)
}

/**
 * With these flags all processes of a client are alike, and a fifth of them is not without: benchmarks/RESULTS.md, "Two speeds".
 * `speeds.ts` counts both. The command sets what comes to the same while it runs.
 */
export const v8Flags = ["--max-semi-space-size=16", "--no-allocation-site-pretenuring"] as const

/**
 * What a function of a file returns, called in a separate process. This process stays small: a peak of memory that a
 * child reports is never below that of its parent at the fork.
 */
export const called = <A>(
  file: string,
  name: string,
  argument: object = {},
  flags: ReadonlyArray<string> = v8Flags
): A =>
  JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", ...flags, call, file, name, JSON.stringify(argument)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 20 * 60_000
    })
  )

const call = join(import.meta.dirname, "call.ts")

/** A client under the name that its row has. */
export interface Case {
  readonly name: string
  readonly client: string
  /** Where it differs from the target of the comparison. */
  readonly target?: string
  /** In how many rounds it is measured; by default in all. */
  readonly rounds?: number
}

export interface Row extends Omit<Sample, "heapEarlyMb" | "heapEndMb"> {
  readonly name: string
  /** Medians of the ratios to the first case, each taken within one round. */
  readonly cpuRatio: number
  readonly wallRatio: number
  /** The quartiles of the ratios of processor time. */
  readonly cpuRange: readonly [number, number]
  /** How many processes peak a fifth above the leanest one, and how many there are. */
  readonly large: number
  readonly processes: number
}

export interface Comparison extends Omit<SampleOptions, "client"> {
  readonly samples: number
}

export const compare = (cases: ReadonlyArray<Case>, { samples, ...options }: Comparison): ReadonlyArray<Row> => {
  const rounds = Array.from({ length: samples }, (_, round) =>
    new Map(
      shuffled(cases.filter(({ rounds = samples }) => round < rounds), round).map((one) => [
        one.name,
        called<Sample>("sample.ts", "sample", { ...options, client: one.client, target: one.target ?? options.target })
      ])
    ))
  return cases.map(({ name }) => {
    const own = rounds.flatMap((round) => round.get(name) ?? [])
    const floors = rounds.flatMap((round) => round.get(cases[0]?.name ?? "") ?? [])
    const ratios = (what: "cpu" | "wall") => own.map((sample, i) => sample[what] / (floors[i]?.[what] ?? NaN))
    const cpu = ratios("cpu")
    return {
      name,
      cpu: median(own.map((sample) => sample.cpu)),
      wall: median(own.map((sample) => sample.wall)),
      peakRssMb: median(own.map((sample) => sample.peakRssMb)),
      cpuRatio: median(cpu),
      wallRatio: median(ratios("wall")),
      cpuRange: [quartile(cpu, 1), quartile(cpu, 3)],
      large: largeOf(own.map((sample) => sample.peakRssMb)),
      processes: own.length
    }
  })
}

export const rowOf = (rows: ReadonlyArray<Row>, name: string): Row => {
  const row = rows.find((row) => row.name === name)
  if (row === undefined) throw new Error(`nothing was measured under the name ${name}`)
  return row
}

/** How many of the peaks of processes that do the same are a fifth above the leanest one. */
export const largeOf = (peaks: ReadonlyArray<number>): number => {
  const lean = Math.min(...peaks)
  return peaks.filter((peak) => peak > 1.2 * lean).length
}
