/** Seeds of random plans, one of them again, and how a plan that breaks a promise is reported: every simulation has them. */
import { Duration } from "effect"

/** The seed to run again, from the environment; `NaN` runs all seeds. */
const replaySeed = Number(process.env["SIMULATION_SEED"] ?? Number.NaN)

export const isReplay = !Number.isNaN(replaySeed)

/** `count` seeds from `first`, or only the seed in `SIMULATION_SEED`. */
export const seedsFrom = function*(first: number, count: number): Generator<number> {
  if (isReplay) yield replaySeed
  else for (let seed = first; seed < first + count; seed++) yield seed
}

/** Seeds, or whatever is run, until the time is over. It limits their number and never stops one. */
export const within = function*<A>(limit: Duration.Input, seeds: Iterable<A>): Generator<A> {
  const end = performance.now() + Duration.toMillis(Duration.fromInputUnsafe(limit))
  for (const seed of seeds) {
    if (performance.now() > end) return
    yield seed
  }
}

/** The seed that failed, what it broke, and the command that runs its plan again. */
export const reportOf = (
  file: string,
  seed: number,
  broken: string,
  plan: string,
  log: ReadonlyArray<string> = []
): string =>
  [
    `seed ${seed}: ${broken}`,
    `again: SIMULATION_SEED=${seed} npx vitest run ${file}`,
    `plan: ${plan}`,
    ...log
  ].join("\n")
