/** Series of random plans: their seeds, one of them again, and how a plan that breaks a promise is reported. */
import { Cause, Duration, Effect } from "effect"

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

/** How the plans of a series are run. */
export interface Series<Plan, E, R> {
  /** The file that runs the plan of one seed again. */
  readonly file: string
  readonly draw: (seed: number) => Plan
  readonly run: (plan: Plan) => Effect.Effect<unknown, E, R>
  readonly describe?: (plan: Plan) => string
  /** Plans at a time. Default: 1. */
  readonly concurrency?: number
}

/** Runs the plan of each seed. Dies at the first that fails, with its seed and the command that runs it again. */
export const runSeries = <Plan, E, R>(
  seeds: Iterable<number>,
  { concurrency = 1, describe = JSON.stringify, draw, file, run }: Series<Plan, E, R>
): Effect.Effect<void, never, R> =>
  Effect.suspend(() => {
    // Each seed is drawn when its turn comes: `Effect.forEach` draws all of them first, and a limit of time would have no effect.
    const iterator = seeds[Symbol.iterator]()
    const worker = Effect.gen(function*() {
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        const seed = next.value
        const plan = draw(seed)
        yield* Effect.catchCause(
          run(plan),
          (cause) => Effect.die(new Error(reportOf(file, seed, Cause.pretty(cause), describe(plan))))
        )
      }
    })
    return Effect.forEach(Array.from({ length: concurrency }), () => worker, {
      discard: true,
      concurrency: "unbounded"
    })
  })
