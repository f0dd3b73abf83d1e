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
 * What a function of a file returns, called in a separate process. This process stays small: a peak of memory that a
 * child reports is never below that of its parent at the fork.
 */
export const called = <A>(file: string, name: string, argument: object = {}): A =>
  JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", call, file, name, JSON.stringify(argument)], {
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
      shuffled(cases, round).map((one) => [
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
