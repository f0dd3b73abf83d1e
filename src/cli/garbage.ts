/** How V8 collects the garbage of a call that lists: benchmarks/RESULTS.md, "Two speeds". Loaded with the transport. */
import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/** Keeps processes alike: the young space stays small, and nothing is old from its birth on. */
export const collectSteadily = (): void => {
  setFlagsFromString("--no-allocation-site-pretenuring")
  limitYoungSpace()
}

/** Both halves of the young space, in bytes: more costs memory and saves no time. */
const enough = 32 * 1024 * 1024

/**
 * `--max-semi-space-size` limits it too, but Node reads that only when it starts. V8 shrinks the space of a process that is
 * idle, so it may grow again below the limit.
 */
const limitYoungSpace = () => {
  let isLimited = false
  new PerformanceObserver(() => {
    const isEnough = youngSpace() >= enough
    if (isEnough === isLimited) return
    isLimited = isEnough
    setFlagsFromString(`--semi-space-growth-factor=${isLimited ? 1 : 2}`)
  }).observe({ entryTypes: ["gc"] })
}

const youngSpace = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0
