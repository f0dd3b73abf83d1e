/** One sample of one client, alone in its process: processor time of all its threads, wall time, peak memory, collections. */
import { GCProfiler } from "node:v8"

/** Does its work once and returns the number of punches that it saw. */
export type Run = () => number | Promise<number>

/** A client: `target` is the URL of the service, or the shape of the page for a decoder. */
export type Client = (target: string) => Run

export interface SampleOptions {
  /** The file below `clients/`, and the name that it exports: `raw.ts#json`. */
  readonly client: string
  readonly target: string
  /** Punches of one run: a client that sees another number fails the benchmark. */
  readonly punches: number
  readonly warmup: number
  readonly times: number
  /** Runs at once. Default: 1. */
  readonly atOnce?: number
  /** Whether to collect garbage twice and count what lives. Not where processor time is compared. */
  readonly heap?: boolean
}

export interface Sample {
  /** Microseconds for each punch. */
  readonly cpu: number
  readonly wall: number
  readonly peakRssMb: number
  /** The live heap after the first fifth of the runs, and after the last one; 0 unless asked for. */
  readonly heapEarlyMb: number
  readonly heapEndMb: number
}

const liveHeapMb = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

export const open = async (client: string, target: string): Promise<Run> => {
  const [file = "", name = ""] = client.split("#")
  const module: Record<string, Client> = await import(`./clients/${file}`)
  const run = module[name]?.(target)
  if (run === undefined) throw new Error(`there is no client ${client}`)
  return run
}

export const sample = async (options: SampleOptions): Promise<Sample> => {
  const { atOnce = 1, client, heap = false, punches, target, times, warmup } = options
  const run = await open(client, target)
  const once = async () => {
    const seen = atOnce === 1 ? [await run()] : await Promise.all(Array.from({ length: atOnce }, run))
    const wrong = seen.find((count) => count !== punches)
    if (wrong !== undefined) throw new Error(`${client} saw ${wrong} punches of ${punches}`)
  }
  for (let i = 0; i < warmup; i++) await once()
  const [cpu, start] = [process.cpuUsage(), process.hrtime.bigint()]
  const early = Math.floor(times / 5)
  let heapEarlyMb = 0
  for (let i = 0; i < times; i++) {
    await once()
    if (heap && i === early) heapEarlyMb = liveHeapMb()
  }
  const wall = Number(process.hrtime.bigint() - start) / 1000
  const { system, user } = process.cpuUsage(cpu)
  const all = punches * times * atOnce
  const peakRssMb = process.resourceUsage().maxRSS / 1000
  const heapEndMb = heap ? liveHeapMb() : 0
  return { cpu: (user + system) / all, wall: wall / all, peakRssMb, heapEarlyMb, heapEndMb }
}

/** What the collector did in a sample. */
export interface Collections {
  readonly minor: number
  readonly major: number
  /** What minor collections moved to the old space: pages among it stay until the next major collection. */
  readonly keptMb: number
  /** The largest size of the new space, both halves. */
  readonly newSpaceMb: number
}

/** A sample, warm-up included, with its collections. */
export const collected = async (options: SampleOptions): Promise<Sample & Collections> => {
  const profiler = new GCProfiler()
  profiler.start()
  const measured = await sample(options)
  const { statistics } = profiler.stop()
  const sizeOf = ({ heapSpaceStatistics }: (typeof statistics)[number]["beforeGC"], name: string) =>
    heapSpaceStatistics.find(({ spaceName }) => spaceName === name)
  const old = (heap: (typeof statistics)[number]["beforeGC"]) =>
    (sizeOf(heap, "old_space")?.spaceUsedSize ?? 0) + (sizeOf(heap, "large_object_space")?.spaceUsedSize ?? 0)
  const minor = statistics.filter(({ gcType }) => gcType === "Scavenge")
  return {
    ...measured,
    minor: minor.length,
    major: statistics.filter(({ gcType }) => gcType === "MarkSweepCompact").length,
    keptMb: minor.reduce((sum, { afterGC, beforeGC }) => sum + old(afterGC) - old(beforeGC), 0) / 1e6,
    newSpaceMb: Math.max(0, ...statistics.map(({ beforeGC }) => sizeOf(beforeGC, "new_space")?.spaceSize ?? 0)) / 1e6
  }
}
