import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { simulate } from "./memory.ts"
import { drawPlan, type Plan } from "./plan.ts"
import type { Broken, Outcome, Row } from "./run.ts"
import { judge } from "./verdict.ts"

/** A plan with many rows and no faults, read to its end. */
const plan: Plan = {
  ...Array.from({ length: 200 }, (_, seed) => drawPlan(seed)).find(({ due }) => due.length > 20) ?? drawPlan(0),
  mode: "list",
  faults: [],
  pace: 0
}

const withoutBudget: Plan = { ...plan, credential: "accessToken", policy: { ...plan.policy, attempts: 4, budget: 0 } }

const messageOf = <A>(effect: Effect.Effect<A, Broken>) => Effect.map(Effect.flip(effect), (error) => error.what)

const later = (row: Row): Row =>
  Result.map(row, (punch) => ({ ...punch, clockedIn: DateTime.add(punch.clockedIn, { milliseconds: 1 }) }))

const damages: ReadonlyArray<readonly [what: string, damage: (rows: ReadonlyArray<Row>) => ReadonlyArray<Row>]> = [
  ["loses the first row", (rows) => rows.slice(1)],
  ["loses the last row", (rows) => rows.slice(0, -1)],
  ["loses a row", (rows) => rows.toSpliced(7, 1)],
  ["repeats a row", (rows) => rows.toSpliced(7, 0, ...rows.slice(6, 7))],
  ["repeats a page at the end", (rows) => [...rows, ...rows.slice(-3)]],
  ["swaps two rows", (rows) => [...rows.slice(0, 3), ...rows.slice(4, 5), ...rows.slice(3, 4), ...rows.slice(5)]],
  ["changes a row by a millisecond", (rows) => rows.map((row, index) => index === 9 ? later(row) : row)],
  ["emits nothing", () => []]
]

describe("The simulation", () => {
  it.live("accepts a correct client", () =>
    Effect.gen(function*() {
      const outcome = yield* simulate(plan)
      yield* judge(plan, outcome)

      assert.deepStrictEqual(outcome.ends, ["Done"])
      assert.isAbove(outcome.rows.length, 20)
    }))

  it.live.each(damages)("detects a client that %s", ([_, damage]) =>
    Effect.gen(function*() {
      const outcome = yield* simulate(plan)
      const damaged: Outcome = { ...outcome, rows: damage(outcome.rows) }

      assert.match(yield* messageOf(judge(plan, damaged)), /rows for/)
    }))

  it.live("detects a run that never ends", () =>
    Effect.gen(function*() {
      const message = yield* messageOf(simulate(plan, { beforeRequest: Effect.uninterruptible(Effect.never) }))

      assert.match(message, /^hung/)
    }))

  it.live("detects a wait beyond the caps of the policy", () =>
    Effect.gen(function*() {
      const nap = Effect.asVoid(Effect.forkDetach(Effect.sleep(600_000), { startImmediately: true }))
      const policy = { ...plan.policy, retryAfterCap: 0 }
      const message = yield* messageOf(simulate({ ...plan, policy }, { beforeRequest: nap }))

      assert.match(message, /^the client slept for 600000 ms/)
    }))

  it.live("detects a failure without a cause", () =>
    Effect.gen(function*() {
      const message = yield* messageOf(simulate(plan, { beforeRequest: Effect.never }))

      assert.match(message, /^no fault is left, but the run failed: .*Timeout/)
    }))

  it.live("accepts over sockets that a machine is late for 30 runs, and a client without budget retries none of them", () =>
    Effect.gen(function*() {
      let late = 30
      const beforeRequest = Effect.suspend(() => late-- > 0 ? Effect.never : Effect.void)
      const outcome = yield* simulate(withoutBudget, { beforeRequest, strict: false })
      yield* judge(plan, outcome)

      assert.deepStrictEqual(outcome.ends, [...Array.from({ length: 30 }, () => "TransportError"), "Done"])
    }))

  it.live("detects over sockets a client that never gets an answer", () =>
    Effect.gen(function*() {
      const message = yield* messageOf(simulate(withoutBudget, { beforeRequest: Effect.never, strict: false }))

      assert.match(message, /^not done after 400 runs: TransportError/)
    }))

  it.live("detects over sockets other failures without a cause, after 20 of them", () =>
    Effect.gen(function*() {
      const beforeRequest = FakeService.use(({ inject }) => inject(Fault.status(503), { times: 1 }))
      const message = yield* messageOf(simulate(withoutBudget, { beforeRequest, strict: false }))

      assert.match(message, /^no fault is left, but the run failed: .*503/)
    }))

  it.live("detects a defect", () =>
    Effect.gen(function*() {
      const message = yield* messageOf(simulate(plan, { beforeRequest: Effect.die(new Error("a slip")) }))

      assert.match(message, /^a defect: Error: a slip/)
    }))

  it.live("gives the same outcome for the same seed", () =>
    Effect.gen(function*() {
      for (const seed of [1, 2, 3, 7, 67, 241]) {
        const { ends, requests, elapsed } = yield* simulate(drawPlan(seed))
        const again = yield* simulate(drawPlan(seed))

        assert.deepStrictEqual([again.ends, again.requests, again.elapsed], [ends, requests, elapsed])
      }
    }))
})
