/**
 * A sample of the faults of `diskFaults.ts`: a disk that is full or fails, and a process that is killed, at a call of the system that a
 * seed draws. `FUZZ_SEED` draws others; the soak has all of them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { prng } from "../../src/testing/base/prng.ts"
import { needs } from "../support/needs.ts"
import { drawFault, hasStrace, injector, noStrace, runners, served, verbs } from "./diskFaults.ts"

const seed = Number(process.env["FUZZ_SEED"] ?? 1)

const faultsOfVerb = 4

describe(`a call of the system that fails, or that kills (FUZZ_SEED=${seed}),`, () => {
  it.live("leaves each file absent, old or whole, and the same command again ends as undisturbed", (context) => {
    needs(context, hasStrace, noStrace)
    return Effect.gen(function*() {
      const { inject, prepare } = yield* injector
      const ended = yield* Effect.forEach(verbs, (verb, at) =>
        Effect.gen(function*() {
          const random = prng(seed + at)
          const prepared = yield* prepare(verb, random.pick(runners))
          return yield* Effect.forEach(
            Array.from({ length: faultsOfVerb }, () => drawFault(prepared, random)),
            (fault) => inject(prepared, fault)
          )
        }), { concurrency: 2 })
      const faults = ended.flat()

      assert.deepStrictEqual(faults.flatMap(({ broken }) => broken), [])
      assert.isAbove(faults.filter(({ isHit }) => isHit).length, faults.length * 0.8)
    }).pipe(Effect.scoped, Effect.provide(served))
  })
})
