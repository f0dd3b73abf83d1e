/** The straight reader of a row against the codec that it answers for, on rows as each database returns them. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { TimePunchId } from "../../src/Ids.ts"
import { connect } from "../../src/sql/connection.ts"
import { PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { rowColumns, StoredPunch } from "../../src/sql/row.ts"
import { SyncStore } from "../../src/sync/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { disagreement } from "../internal/wire/difference.ts"
import { databases } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { PunchPair } from "../support/punchPair.ts"
import { batchOf, company } from "../support/storeBatches.ts"

const decode = Schema.decodeUnknownResult(StoredPunch)

/** A rule for excess keys, even the one that is in force anyway, is for the schema as it is written. */
const decodeAsWritten = Schema.decodeUnknownResult(StoredPunch, { onExcessProperty: "ignore" })

/** What a row may hold by an edit by hand, or by another driver. */
const others: readonly [unknown, ...ReadonlyArray<unknown>] = [
  null,
  undefined,
  true,
  false,
  -0,
  0,
  1,
  2,
  -1,
  1.5,
  NaN,
  Infinity,
  2 ** 53,
  253_402_300_799_999,
  253_402_300_800_000,
  -62_135_596_800_000,
  -62_135_596_800_001,
  0n,
  7n,
  2n ** 60n,
  "",
  "0",
  "-0",
  "12",
  "1e3",
  "1.5",
  " 7 ",
  "12x",
  "t",
  "[]",
  "[ ]",
  "[1]",
  "{}",
  "null",
  "[",
  new Date(0),
  [],
  {}
]

const breaksWith = (changes: object): string =>
  JSON.stringify([{
    id: 1,
    user_id: 7,
    custom_break_id: 0,
    paid: false,
    in: "2026-03-02T12:00:00.000Z",
    out: null,
    ...changes
  }])

const breaks: readonly [string, ...ReadonlyArray<string>] = [
  breaksWith({}),
  breaksWith({ id: -1 }),
  breaksWith({ paid: 0 }),
  breaksWith({ in: "2026-02-30T12:00:00Z" }),
  breaksWith({ out: "2026-03-02T12:30:00.001Z" }),
  breaksWith({ out: undefined }),
  breaksWith({ more: 1 })
]

describe.each(databases())("in $name", ({ client, isHere }) => {
  /** The rows of these punches by place, as the driver returns them. */
  const rowsOf = (punches: Parameters<typeof batchOf>[1]) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(Layer.provideMerge(SqlStore.layer(), client))
      return yield* Effect.gen(function*() {
        const store = yield* SyncStore
        yield* store.commit(batchOf(1, punches), Option.none())
        const { dialect, sql } = yield* connect
        const rows = yield* sql`SELECT ${rowColumns(dialect)} FROM ${dialect.tables.rows} ORDER BY id`.values
        const listed = yield* Stream.runCollect(PunchCopy.list(company, { deleted: "include" }))
        return { rows, listed: listed.toSorted((one, other) => one.id - other.id) }
      }).pipe(Effect.provideContext(context))
    })

  it.live.prop(
    "gives what the codec gives, value or message, for any row and with any cells replaced",
    [Arbitrary.array(PunchPair, { minLength: 4, maxLength: 8 }), Arbitrary.schema(Schema.Int)],
    ([pairs, seed], context) => {
      needs(context, isHere, noPostgres)
      const punches = pairs.map(({ domain }, at) => ({ ...domain, id: TimePunchId.make(at + 1), companyId: company }))
      return Effect.scoped(Effect.gen(function*() {
        const { listed, rows } = yield* rowsOf({ punches })
        assert.deepStrictEqual(rows.map((row) => Result.getOrThrow(decode(row))), listed)

        const chance = prng(Math.abs(seed))
        const seen = { accepted: 0, refused: 0 }
        for (const row of rows) {
          assert.isUndefined(disagreement(decode(row), decodeAsWritten(row)))
          for (let run = 0; run < 60; run++) {
            const cells = [...row]
            for (let wrong = chance.between(1, 2); wrong > 0; wrong--) {
              const at = chance.between(0, 21)
              cells[at] = at === 21 && chance.chance(0.7) ? chance.pick(breaks) : chance.pick(others)
            }
            const outcome = decode(cells)
            seen[Result.isSuccess(outcome) ? "accepted" : "refused"]++
            assert.isUndefined(disagreement(outcome, decodeAsWritten(cells)))
          }
        }
        assert.isAbove(seen.accepted, 10)
        assert.isAbove(seen.refused, 10)
      }))
    },
    { arbitrary: { runs: 30 } }
  )
})
