/** How long the companies of a fleet wait when one of its processes is killed or frozen. No other file runs beside this one. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { row } from "./fleetAges.ts"
import { queried, within } from "./fleetWorld.ts"

describe.concurrent("the worst age of a fleet of two processes", () => {
  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    row(`a process that gets ${signal}`, { most: 24, seconds: 40 }, (fleet) =>
      Effect.gen(function*() {
        // So that some of its turns are in work: no process may take such a company before `takeover`, 10 seconds, has passed.
        yield* fleet.b.door.set("hangs")
        const turns = queried(
          fleet,
          "SELECT company_id FROM fleet_company WHERE runner = 'b' AND heartbeat_at IS NOT NULL"
        )
        yield* within("turns of b are in work", Effect.map(turns, ({ length }) => length >= 2), turns)
        fleet.b.child.kill(signal)
        const held = yield* turns
        assert.isNotEmpty(held)
        return { named: held.map((row) => Number(row["company_id"])), mostOfNamed: 32 }
      }))
  }
})
