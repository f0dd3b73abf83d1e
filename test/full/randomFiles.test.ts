/** The files of random closes, corrections and voids by random mappings, against a second computation from the punches. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect } from "effect"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { temporaryFolder } from "../cli/support.ts"
import { databases } from "../support/databases.ts"
import { openHistory } from "../support/histories.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { isReplay, reportOf, seedsFrom, within } from "../support/series.ts"
import * as CloseRuns from "./closeRuns.ts"
import { makeCounts } from "./fileLaws.ts"
import * as StateRuns from "./stateRuns.ts"

const file = "test/full/randomFiles.test.ts"

for (const [at, database] of databases().entries()) {
  describe(`The files of random closes in ${database.name}`, () => {
    it.live(
      "add up to the newest sums, cell by cell, in any partition; what is refused says why and is not noted",
      (context) => {
        needs(context, database.isHere, noPostgres)
        const counts = makeCounts()
        let plans = 0
        return Effect.gen(function*() {
          const folder = yield* temporaryFolder
          for (const seed of within("18 seconds", seedsFrom(52_000 + 500 * at, 24))) {
            const client = database.dialect === "sqlite"
              ? NodeSqlite.layer({ filename: `${folder}/${seed}.db` })
              : database.client
            // Two of three plans have edits, voids and moved edges of two companies, the third one calendars, gaps and mistakes.
            yield* Effect.scoped(Effect.flatMap(openHistory(client), (copy) =>
              seed % 3 === 0
                ? StateRuns.runPlan(seed, copy, StateRuns.makeCounts(), new Set(), counts)
                : CloseRuns.runPlan(seed, copy, CloseRuns.makeCounts(), new Set(), counts))).pipe(
                Effect.catchCause((cause) =>
                  Effect.die(new Error(reportOf(file, seed, Cause.pretty(cause), `files in ${database.name}`)))
                )
              )
            plans++
          }
          const { refused, ...others } = counts
          const shown = [["plans", plans], ...Object.entries(others), ...refused].map((each) => each.join(" "))
          process.stdout.write(`${database.name}: ${shown.join(", ")}, wrong 0\n`)
          assert.isAbove(plans, 0)
          // A few plans need not have each form and each refusal.
          if (isReplay || plans < 8) return
          assert.isAbove(Math.min(...Object.values(others)), 0)
          assert.isAtLeast(refused.size, 8)
        }).pipe(Effect.scoped)
      },
      600_000
    )
  })
}
