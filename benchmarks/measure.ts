/** Compares clients: a process for each sample, the order shuffled in each round, medians of the ratios within a round. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { prng } from "../src/testing/base/prng.ts"
import type { Sample, SampleOptions } from "./sample.ts"

export const quartile = (values: ReadonlyArray<number>, quarter: 1 | 2 | 3): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (quarter / 4) * (sorted.length - 1)
  const [low = NaN, high = NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low + (high - low) * (at - Math.floor(at))
}

export const median = (values: ReadonlyArray<number>): number => quartile(values, 2)

/** A random order that depends only on the seed. */
export const shuffled = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const { next } = prng(seed)
  return items.map((item) => [next(), item] as const).toSorted(([a], [b]) => a - b).map(([, item]) => item)
}

/**
 * V8 moves objects that lived long into the old space from their birth on. Whether it decides so for the punches of a page
 * is chance, and then each page stays until the next full collection: a process is at one of two speeds. With this flag
 * all are at the same one; `slowProcesses` counts the slow ones without it.
 */
export const oneSpeed = "--no-allocation-site-pretenuring"

/**
 * What a function of a file returns, called in a separate process. This process stays small: a peak of memory that a
 * child reports is never below that of its parent at the fork.
 */
export const called = <A>(file: string, name: string, argument: object = {}, flags = [oneSpeed]): A =>
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
      cpuRange: [quartile(cpu, 1), quartile(cpu, 3)]
    }
  })
}

export const rowOf = (rows: ReadonlyArray<Row>, name: string): Row => {
  const row = rows.find((row) => row.name === name)
  if (row === undefined) throw new Error(`nothing was measured under the name ${name}`)
  return row
}

/** How many of the processes of a client peak a fifth above the memory of the leanest one, without the flag of V8. */
export const slowProcesses = (options: SampleOptions, processes: number): number => {
  const peaks = Array.from({ length: processes }, () => called<Sample>("sample.ts", "sample", options, []).peakRssMb)
  const lean = Math.min(...peaks)
  return peaks.filter((peak) => peak > 1.2 * lean).length
}
