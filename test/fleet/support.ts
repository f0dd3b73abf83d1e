/** The tables of a fleet in SQLite and in PostgreSQL, and what a test does to them behind the back of the fleet. */
import { Effect, Layer, Option, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { Outcome } from "../../src/fleet/CompanyState.ts"
import type { Claim } from "../../src/fleet/store/claims.ts"
import type { End } from "../../src/fleet/store/ends.ts"
import { type FleetStore, makeFleetStore } from "../../src/fleet/store/FleetStore.ts"
import { CompanyId } from "../../src/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { hasPostgres, noPostgres, postgresClient } from "../support/postgres.ts"

export interface TestStore {
  readonly store: FleetStore
  readonly sql: SqlClient.SqlClient
}

/** A store whose tables are there. */
export const openStore = <E, R>(
  client: Layer.Layer<SqlClient.SqlClient, E, R>
): Effect.Effect<TestStore, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Layer.build(client)
    return yield* Effect.provideContext(
      Effect.gen(function*() {
        const store = yield* makeFleetStore
        yield* store.migrate
        return { store, sql: yield* SqlClient.SqlClient }
      }),
      context
    )
  }).pipe(Effect.orDie)

export const sqliteStore = openStore(NodeSqlite.layer({ filename: ":memory:" }))

export const kinds = [
  { name: "SQLite", missing: Option.none<string>(), open: sqliteStore },
  {
    name: "PostgreSQL",
    missing: hasPostgres ? Option.none<string>() : Option.some(noPostgres),
    open: openStore(postgresClient)
  }
]

/** Removes all that tests have written: a database serves many tests. */
export const emptied = ({ sql }: TestStore) =>
  Effect.forEach(
    ["DELETE FROM fleet_company", "DELETE FROM fleet_run", "DELETE FROM fleet_minute", "DELETE FROM fleet_pause"]
      .concat("UPDATE fleet_solo SET runner = NULL, until = 0", "DELETE FROM fleet_setting", "DELETE FROM fleet_rate")
      .concat("DELETE FROM fleet_trouble", "DELETE FROM fleet_runner", "DELETE FROM fleet_removal"),
    (text) => sql.unsafe(text),
    { discard: true }
  ).pipe(Effect.orDie)

export const takeover = 10_000

/** The options of a claim, with the usual ones of a test. */
export const claiming = (runner = "a", more: Partial<Parameters<FleetStore["claim"]>[0]> = {}) => ({
  runner,
  takeover,
  helpAfter: 10_000,
  mine: undefined,
  room: 100,
  ...more
})

export const settings = {
  credentials: "shared",
  sweepEvery: 86_400_000,
  fullSweepEvery: 30 * 86_400_000,
  keepTurns: 50
} as const

/** The end of a turn, complete where nothing else is said. */
export const ending = (claim: Claim, more: Partial<End> = {}): End => ({
  claim,
  outcome: { _tag: "Complete", isResumed: false },
  phase: { phase: "increment", isSwept: claim.phase === "first" },
  isFullSweep: claim.phase === "first",
  proven: "began",
  isProbe: false,
  pages: 1,
  rows: 0,
  ...more
})

export const failing = (claim: Claim, outcome: Outcome, more: Partial<End> = {}): End =>
  ending(claim, {
    outcome,
    phase: { phase: claim.phase, isSwept: false },
    isFullSweep: false,
    proven: undefined,
    pages: 0,
    ...more
  })

export const throttled: Outcome = {
  _tag: "Throttled",
  failure: { tag: "RateLimited", text: "429" }
}

/** Companies of these ids. */
export const companies = (count: number, every?: number) =>
  Array.from({ length: count }, (_, at) => ({ id: CompanyId.make(at + 1), every }))

/** Whole numbers of a row, whatever the driver makes of them; `null` stays. */
export const readCompany = ({ sql }: TestStore, id: number) =>
  Effect.map(
    sql.unsafe<{ readonly [column: string]: unknown }>(`SELECT * FROM fleet_company WHERE company_id = ${id}`),
    ([row]) =>
      Object.fromEntries(
        Object.entries(row ?? {}).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value])
      )
  ).pipe(Effect.orDie)

/** Sets columns of companies, as time and other processes do. */
export const setCompanies = ({ sql }: TestStore, change: string, where = "true") =>
  Effect.orDie(sql.unsafe(`UPDATE fleet_company SET ${change} WHERE ${where}`))

/** Lets a lease expire. */
export const frozen = (store: TestStore, where = "true") =>
  setCompanies(store, `heartbeat_at = heartbeat_at - ${takeover + 1000}`, where)

/** What `elapsed` says. */
export const monotonic = () => Number(process.hrtime.bigint() / 1_000_000n)
