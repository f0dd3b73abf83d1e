import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seedsFrom } from "../support/series.ts"
import { calm, keepsWhole, lost, type Plan, type Planting, run } from "./model.ts"

/** Short: a planted bug shows at once, and every run of the tests pays for these. */
const plan: Plan = { ...calm, seconds: 30 }

describe("the model of a fleet", () => {
  // `npm run test:full` draws more of each kind, and of others.
  it.effect.each(
    [
      ["two of them, and freezes", 6, 30],
      ["companies that are removed and added again", 3, 30],
      ["freezes while pages are long", 2, 60],
      ["everything", 8, 30],
      ["everything, and no engine", 9, 30]
    ] as const
  )(
    "is whole after %s",
    ([kind, seed, seconds]) =>
      keepsWhole(kind, seedsFrom(seed, 1), { file: "test/fleet/model.test.ts", seconds, turns: 25 })
  )
})

/** A bug in a statement, a plan that must find it, and what is then wrong. */
const plantings: ReadonlyArray<readonly [string, Planting, Plan, RegExp]> = [
  [
    "a counter that quarantines after two starts, also who did nothing",
    ({ sql }) => ({
      drain: () =>
        Effect.as(
          sql`UPDATE fleet_company SET state = 'quarantined', reason = 'starts', heartbeat_at = NULL WHERE state = 'active' AND starts >= 2`,
          { isDraining: false, isPaused: false, quarantined: [] }
        )
    }),
    { ...plan, seed: 5, poison: 1, faults: ["kill"] },
    /did nothing and is quarantined/
  ],
  [
    "suspects that no process takes",
    () => ({ drain: () => Effect.succeed({ isDraining: false, isPaused: false, quarantined: [] }) }),
    { ...plan, seed: 5, poison: 1 },
    /kills its process and is active/
  ],
  [
    "suspects that begin beside others",
    (store) => ({
      claim: (options) =>
        Effect.gen(function*() {
          yield* store.sql`UPDATE fleet_solo SET runner = ${options.runner}, until = 9999999999999`
          const suspect = yield* store.claimSuspect(options.runner, options.takeover)
          const claims = yield* store.claim(options)
          return suspect === undefined ? claims : [...claims, suspect]
        })
    }),
    { ...plan, seed: 5, poison: 1, companies: 9, processes: 2 },
    /beside others/
  ],
  [
    "a claim that takes what is held",
    (store) => ({
      claim: (options) => Effect.andThen(store.sql`UPDATE fleet_company SET heartbeat_at = NULL`, store.claim(options))
    }),
    plan,
    /late|quarantined/
  ],
  [
    "turns that end when another process owns the shard",
    // The engine gives no process a company, so every turn is that of a helper.
    (store) => ({ heartbeat: (turns) => Effect.as(store.heartbeat(turns), new Set<number>()) }),
    { ...plan, pageSeconds: 4, isEngineDead: true },
    /late|quarantined/
  ],
  [
    "a drain that never ends",
    () => ({ claimSuspect: () => Effect.fail(lost()) }),
    { ...plan, seed: 5, poison: 1 },
    /late/
  ],
  [
    "epochs that begin at 0",
    ({ operator, sql }) => ({
      operator: {
        ...operator,
        add: (additions) =>
          Effect.tap(operator.add(additions), () => sql`UPDATE fleet_company SET epoch = 0 WHERE runner IS NULL`)
      }
    }),
    { ...plan, seed: 3, faults: ["again"] },
    /two turns of one epoch/
  ],
  [
    "turns that do not claim the copy",
    () => ({ claimless: true }),
    { ...plan, seed: 2, seconds: 60, pageSeconds: 8, processes: 2, faults: ["freeze"] },
    /was written by epoch/
  ],
  [
    "pauses that are never tried",
    () => ({ probe: () => Effect.undefined }),
    { ...plan, seed: 7, faults: ["credential"] },
    /still paused/
  ],
  [
    "leases that are never held",
    () => ({ heartbeat: (turns) => Effect.succeed(new Set(turns.map(({ company }) => company))) }),
    { ...calm, pageSeconds: 12 },
    /late|quarantined/
  ],
  [
    "ends that are never written",
    () => ({ end: () => Effect.undefined }),
    plan,
    /late|quarantined/
  ]
]

describe("a planted bug", () => {
  it.effect.each(plantings)("is found: %s", ([, planting, plan, what]) =>
    Effect.gen(function*() {
      const { faults } = yield* run(plan, planting)

      assert.match(faults.join(", "), what)
    }))
})
