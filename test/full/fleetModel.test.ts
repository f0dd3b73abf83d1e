/** The model of a fleet over many plans: `npm test` runs a few of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { calm, type Plan, run, storm } from "../fleet/model.ts"

const seeds = (count: number, plan: Partial<Plan>) =>
  Array.from({ length: count }, (_, seed) => ({ ...calm, seed, ...plan }))

describe("the model of a fleet", () => {
  it.effect.each<readonly [string, ReadonlyArray<Plan>]>([
    ["no faults", seeds(2, {})],
    ["kills", seeds(6, { faults: ["kill"] })],
    ["freezes", seeds(6, { faults: ["freeze"] })],
    ["outages", seeds(6, { faults: ["outage"] })],
    ["companies that kill their process", seeds(6, { poison: 1, companies: 8 })],
    ["two of them, and kills", seeds(6, { poison: 2, faults: ["kill"] })],
    [
      "operators, refused credentials and a service that fails",
      seeds(6, { faults: ["operator", "credential", "service"] })
    ],
    [
      "a process that is refused or does not reach the service",
      seeds(8, { seconds: 120, faults: ["cut", "hang", "secret"] })
    ],
    [
      "that, throttled companies and kills",
      seeds(6, { throttled: 2, companies: 9, faults: ["cut", "secret", "kill"] })
    ],
    ["a clock that is set back", seeds(4, { faults: ["clock", "kill", "service"] })],
    ["everything", seeds(30, { poison: 1, faults: storm })],
    ["everything, and no engine", seeds(15, { poison: 1, faults: storm, isEngineDead: true })],
    ["one process", seeds(6, { processes: 1, poison: 1, faults: storm })]
  ])("is whole after %s", ([, plans]) =>
    Effect.gen(function*() {
      for (const plan of plans) {
        const { faults, runs } = yield* run(plan)
        assert.deepStrictEqual(faults, [], JSON.stringify(plan))
        assert.isAbove(runs, 10, JSON.stringify(plan))
      }
    }), 300_000)
})
