/** Every fault of a disk, and a kill, at every call of the system of each command that writes files. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { prng } from "../../src/testing/base/prng.ts"
import { drawFault, faultsOf, hasStrace, injector, noStrace, runners, served, verbs } from "../full/diskFaults.ts"
import { needs } from "../support/needs.ts"
import { isBounded, seed, within } from "./bounds.ts"

/** Limits of the size of a file, of each command. */
const rooms = 20

describe(`each call of the system that fails, or that kills (seed ${seed}),`, () => {
  it.live("leaves each file absent, old or whole, and the same command again ends as undisturbed", (context) => {
    needs(context, hasStrace, noStrace)
    return Effect.gen(function*() {
      const random = prng(seed)
      const { inject, prepare } = yield* injector
      const prepared = yield* Effect.forEach(
        verbs.flatMap((verb) => runners.map((runner) => ({ verb, runner }))),
        ({ runner, verb }) => prepare(verb, runner)
      )
      // In any order, so that a soak that is bounded has some of each.
      const plans = prepared.flatMap((each) =>
        [...faultsOf(each), ...Array.from({ length: rooms }, () => drawFault(each, random, 1))].map((fault) => ({
          each,
          fault,
          place: random.next()
        }))
      ).toSorted((one, two) => one.place - two.place)
      const broken: Array<string> = []
      let [runs, hits] = [0, 0]
      for (const at of within("70 minutes", plans.keys())) {
        const plan = plans[at]
        if (plan === undefined) break
        const ended = yield* inject(plan.each, plan.fault)
        runs++
        if (ended.isHit) hits++
        broken.push(...ended.broken)
      }
      yield* Console.log(`${runs} of ${plans.length} faults in ${verbs.length} commands; ${hits} came to pass`)
      assert.deepStrictEqual(broken, [])
      if (!isBounded) assert.isAbove(hits, runs * 0.8)
    }).pipe(Effect.scoped, Effect.provide(served))
  })
})
