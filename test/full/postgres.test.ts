/** The full tests need PostgreSQL: a test that is skipped fails them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { CompanyId, TimePunchId } from "../../src/Ids.ts"
import { carriesEdges } from "../sql/edges.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { needs } from "../support/needs.ts"
import { hasPostgres, noPostgres, postgresClient } from "../support/postgres.ts"
import { batchOf, checkpointAt } from "../support/storeBatches.ts"
import { openSql } from "../support/stores.ts"

describe("PostgreSQL", () => {
  it.live("is here, and no row is lost or read twice in 50 000", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.scoped(Effect.gen(function*() {
      const { rows, store } = yield* openSql(postgresClient)
      for (let pass = 0; pass < 50; pass++) {
        const punches = Array.from({ length: 1000 }, (_, at) => punch({ id: TimePunchId.make(pass * 1000 + at) }))
        yield* store.commit(
          batchOf(pass, { punches }),
          pass === 0 ? Option.none() : Option.some(checkpointAt(pass - 1))
        )
      }

      const ids = (yield* rows(CompanyId.make(2))).map(({ punch }) => Number(punch.id))
      assert.deepStrictEqual(ids, Array.from({ length: 50_000 }, (_, id) => id))
    }))
  })

  it.effect.each([["with a Date", true], ["without a Date", false]] as const)(
    "[Y75] keeps instants at the edges of years 1 and 9999, lone surrogates and U+0000, and a sync continues: %s",
    ([, sendsDate], context) => {
      needs(context, hasPostgres, noPostgres)
      return carriesEdges(openSql(postgresClient), sendsDate)
    }
  )
})
