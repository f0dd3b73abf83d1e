/** The migrations of a copy: the text of each is published, and a column that a later one adds loses no row and no version. */
import { afterAll, assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime, Result } from "effect"
import { CompanyId, TimePunchId } from "../../src/Ids.ts"
import { type Column, columns } from "../../src/sql/columns.ts"
import { connect } from "../../src/sql/connection.ts"
import { SqlStore } from "../../src/sql/index.ts"
import { migrate } from "../../src/sql/migrate.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { postgresMigrations } from "../../src/sql/postgres.ts"
import { sqliteMigrations } from "../../src/sql/sqlite.ts"
import { type Tables, tablesOf } from "../../src/sql/tables.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { commit, copyAt, copyNow, lastOf, openHistory } from "../support/histories.ts"
import { needs } from "../support/needs.ts"
import { hasPostgres, noPostgres, postgresClient } from "../support/postgres.ts"

describe("the migrations that were published", () => {
  it("have the text that they were published with", async () => {
    const texts = (["sqlite", "pg"] as const).map((dialect) => {
      const statements = Result.getOrThrow(SqlStore.migrations().ddl(dialect))
      return [`-- ${dialect}`, ...statements.map((text) => `${text};`)].join("\n\n")
    })

    await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("migrations.sql")
  })
})

const server = ManagedRuntime.make(postgresClient)
afterAll(() => server.dispose())

const kinds = [
  {
    name: "SQLite",
    isHere: true,
    client: NodeSqlite.layer({ filename: ":memory:" }),
    dialect: "sqlite",
    migrationsOf: sqliteMigrations,
    later: "valid_from + 1"
  },
  {
    name: "PostgreSQL",
    isHere: hasPostgres,
    client: Layer.effectContext(server.contextEffect),
    dialect: "pg",
    migrationsOf: postgresMigrations,
    later: "valid_from + interval '1 millisecond'"
  }
] as const

const company = CompanyId.make(2)
const row = (id: number, notes: string) => punch({ id: TimePunchId.make(id), companyId: company, notes })

describe.each(kinds)(
  "a column that a later migration adds, in $name",
  ({ client, dialect, isHere, later, migrationsOf }) => {
    const tables = (table: string): Tables => Result.getOrThrow(tablesOf(table, dialect))
    const newest = Math.max(...migrationsOf(tables("any")).map(({ id }) => id))
    const planted: Column = { name: "planted", since: newest + 1, type: "text", nullable: true, cell: () => null }
    const withPlanted = (table: string) => migrationsOf(tables(table), [...columns, planted])

    const upgrade = (table: string) =>
      Effect.flatMap(connect(table), ({ dialect, sql }) => migrate(sql, { ...dialect, migrations: withPlanted(table) }))

    it("leaves the migrations before it as they are", () => {
      assert.deepStrictEqual(withPlanted("any").slice(0, -1), migrationsOf(tables("any")))
    })

    it.live("loses no row and no version, and is kept in the versions from then on", (context) => {
      needs(context, isHere, noPostgres)
      const table = `upgraded_${dialect}`
      return Effect.scoped(Effect.gen(function*() {
        const opened = yield* openHistory(client, table)
        const { kept, query, run } = opened
        yield* commit(kept, company, [row(1, "a"), row(2, "a")])
        const first = yield* lastOf(opened, company)
        yield* commit(kept, company, [row(1, "b")])
        const copies = Effect.all([copyAt(opened, company, first), copyNow(opened, company)])
        const before = yield* copies
        yield* query(`CREATE VIEW ${table}_mine AS SELECT id, hours_worked FROM ${table}_current`)

        yield* run(upgrade(table))
        assert.deepStrictEqual(yield* copies, before)
        yield* run(upgrade(table))

        yield* commit(kept, company, [row(1, "c"), row(3, "c")])
        for (const value of ["B-1", "B-2"]) {
          yield* query(`UPDATE ${table} SET planted = '${value}', valid_from = ${later} WHERE id = 1`)
        }
        const versions = yield* query(`SELECT notes, planted FROM ${table}_history WHERE id = 1 ORDER BY valid_to`)
        const [current = {}] = yield* query(`SELECT * FROM ${table}_current WHERE id = 1`)

        assert.deepStrictEqual(versions.map(({ notes, planted }) => [notes, planted]), [
          ["a", null],
          ["b", null],
          ["c", null],
          ["c", "B-1"]
        ])
        assert.deepStrictEqual([Object.keys(current).at(-1), current["planted"], current["hours_worked"]], [
          "planted",
          "B-2",
          8
        ])
        assert.deepStrictEqual(yield* copyAt(opened, company, first), before[0])
        assert.lengthOf(yield* query(`SELECT * FROM ${table}_mine`), 3)
      }))
    })

    it.live("is in the tables that begin with it", (context) => {
      needs(context, isHere, noPostgres)
      const table = `begun_${dialect}`
      return Effect.scoped(Effect.gen(function*() {
        const context = yield* Layer.build(client)
        yield* Effect.provideContext(upgrade(table), context)
        const opened = yield* openHistory(Layer.succeedContext(context), table)
        yield* commit(opened.kept, company, [row(1, "a")])

        assert.deepStrictEqual(yield* opened.query(`SELECT planted FROM ${table}_current`), [{ planted: null }])
        assert.lengthOf(yield* opened.query(`SELECT planted FROM ${table}_history`), 0)
      }))
    })
  }
)
