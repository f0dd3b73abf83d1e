/** A sync of punches at the edges of what a copy can hold. PostgreSQL has its turn in `test/full/postgres.test.ts`. */
import { describe, it } from "@effect/vitest"
import { sqliteKind } from "../support/stores.ts"
import { carriesEdges } from "./edges.ts"

describe("a sync into SQLite", () => {
  it.effect.each([["with a Date", true], ["without a Date", false]] as const)(
    "[Y75] keeps instants at the edges of years 1 and 9999, lone surrogates and U+0000, and continues: %s",
    ([, sendsDate]) => carriesEdges(sqliteKind.open, sendsDate)
  )
})
