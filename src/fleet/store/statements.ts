/** What every statement of a fleet stands on: the client, its dialect, the clock, transactions, and the conditions that several share. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { dialectOf, raw } from "../../internal/sql/dialect.ts"
import { attempted, transact } from "../../internal/sql/transaction.ts"
import { invalidRequest } from "../../listing/request.ts"
import { fleetDialect } from "./dialect.ts"

/** A company with the turn that holds it. */
export interface Lease {
  readonly company: number
  readonly epoch: number
}

/** The shards of the fleet, for ever. A company is in `company_id % shards`. */
export const shards = 300

/** Starts without an end from which a company is a suspect, and from which it is quarantined. */
export const suspectStarts = 2
export const quarantineStarts = 5

export type FleetStatements = Effect.Success<typeof makeStatements>

export const makeStatements = Effect.gen(function*() {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const dialect = fleetDialect(
    yield* Effect.fromResult(Result.mapError(
      dialectOf(sql),
      (name) => invalidRequest(undefined, "SqlClient", `must be one of SQLite or PostgreSQL, and is one of ${name}`)
    ))
  )
  const big = (value: number | undefined): Fragment => value === undefined ? raw("NULL") : dialect.bigint(value)
  const age = (now: Fragment): Fragment => sql`(${now} - coalesce(last_ok_at, added_at))`
  const isOf = ({ company, epoch }: Lease): Fragment => sql`company_id = ${big(company)} AND epoch = ${big(epoch)}`
  return {
    sql,
    query: sql<Row>,
    dialect,
    big,
    /** All times of a statement are those of one clock. */
    withNow: <A, E, R>(use: (now: Fragment) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => use(dialect.now(Math.floor(now)))),
    /** One attempt: the loops of a runner repeat what fails. */
    transaction: <A, E>(body: Effect.Effect<A, E | SqlError>): Effect.Effect<A, E | SqlError> =>
      attempted({ sql, dialect }, body),
    /** Attempts for 5 seconds, for an operator. */
    patiently: <A, E>(body: Effect.Effect<A, E | SqlError>): Effect.Effect<A, E | SqlError> =>
      transact({ sql, dialect }, body),
    isOf,
    isHeldBy: (turn: Lease): Fragment => sql`${isOf(turn)} AND heartbeat_at IS NOT NULL`,
    isFree: (now: Fragment, takeover: number): Fragment =>
      sql`(heartbeat_at IS NULL OR heartbeat_at < ${now} - ${big(takeover)})`,
    isPaused: (now: Fragment): Fragment =>
      sql`EXISTS (SELECT 1 FROM fleet_pause WHERE until IS NULL OR until > ${now})`,
    isSuspect: sql`starts >= ${big(suspectStarts)} AND starts < ${big(quarantineStarts)}`,
    age,
    lateness: (now: Fragment): Fragment => sql`(${age(now)} - every_ms)`
  }
})
