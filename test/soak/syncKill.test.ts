/** Kills many processes of the bundled `sync` at random moments: 200 for each store, or as many as `SOAK_KILLS` says. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { temporaryFolder } from "../cli/support.ts"
import { inFile, inPostgres, inService, killed, type Stage } from "../full/kills.ts"
import { needs } from "../support/needs.ts"
import { hasPostgres, noPostgres } from "../support/postgres.ts"
import { kills } from "./bounds.ts"

const report = Effect.fnUntraced(function*(store: string, stages: ReadonlyMap<Stage, number>) {
  const counts = [...stages].map(([stage, count]) => `${stage} ${count}`).join(", ")
  yield* Console.log(`${kills} kills of a sync into ${store}; the copy was then at: ${counts}`)
  // The first load is over before a slow machine has started most processes; of so many, some come in each later stage.
  if (kills < 200) return
  for (const stage of ["increment", "sweep", "confirm", "at rest"] as const) {
    assert.isAbove(stages.get(stage) ?? 0, 0, stage)
  }
})

/** Another one for each run. The moments of the kills also depend on the machine, so that a seed alone repeats none. */
const seed = Date.now() % 1_000_000

describe(`time-punches sync, killed at ${kills} random moments (seed ${seed}),`, () => {
  it.live("has the copy of an undisturbed run in SQLite", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      yield* report("SQLite", yield* killed(inFile(folder, "killed"), inFile(folder, "undisturbed"), kills, seed))
    })))

  it.live("has the copy of an undisturbed run in PostgreSQL", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inService(Effect.gen(function*() {
      yield* report("PostgreSQL", yield* killed(yield* inPostgres, yield* inPostgres, kills, seed + 1))
    }))
  })
})
