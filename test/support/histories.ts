/** Copies with a history for tests: two stores over one database, and the copy of an instant as SQL has it. */
import { type Context, DateTime, Effect, Layer, Option, Result, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { CompanyId } from "../../src/Ids.ts"
import { connect } from "../../src/sql/connection.ts"
import { PunchCopy } from "../../src/sql/index.ts"
import { rowColumns, rowOf } from "../../src/sql/row.ts"
import type { Committed } from "../../src/sync/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at } from "./arbitraryPunch.ts"
import { openSql, type OpenStore } from "./stores.ts"

/** A punch of a copy, without the number of its pass. */
export interface PastRow {
  readonly punch: TimePunch
  readonly isMissing: boolean
}

/** Two stores over the same tables, and their client. */
export interface OpenHistory {
  readonly kept: OpenStore
  /** Without the option. */
  readonly plain: OpenStore
  readonly run: <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) => Effect.Effect<A, E>
  readonly query: (text: string) => Effect.Effect<ReadonlyArray<{ readonly [column: string]: unknown }>>
}

export const openHistory = <E>(
  client: Layer.Layer<SqlClient.SqlClient, E>
): Effect.Effect<OpenHistory, never, Scope.Scope> =>
  Effect.gen(function*() {
    const context: Context.Context<SqlClient.SqlClient> = yield* Layer.build(client)
    const shared = Layer.succeedContext(context)
    const run: OpenHistory["run"] = (effect) => Effect.provideContext(effect, context)
    return {
      kept: yield* openSql(shared, { history: true }),
      plain: yield* openSql(shared),
      run,
      query: (text: string) =>
        Effect.orDie(run(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly [column: string]: unknown }>(text))
        ))
    }
  }).pipe(Effect.orDie)

/**
 * Commits a page on the checkpoint that is stored. With `isWhole`, every other row is then missing. It completes a pass, unless
 * it is the page of one that continues.
 */
export const commit = (
  { store }: OpenStore,
  company: CompanyId,
  punches: ReadonlyArray<TimePunch>,
  isWhole = false,
  isComplete = true
): Effect.Effect<Committed> =>
  Effect.gen(function*() {
    const previous = yield* store.load(company)
    const pass = Option.match(previous, { onNone: () => 1, onSome: ({ pass }) => pass + 1 })
    return yield* store.commit({
      companyId: company,
      kind: isWhole ? "confirm" : "increment",
      pass,
      punches: punches.map((punch) => ({ ...punch, companyId: company })),
      checkpoint: {
        v: 1,
        companyId: company,
        pass,
        watermark: Option.some(at(pass)),
        at: Option.none(),
        completedAt: isComplete
          ? Option.some(at(pass))
          : Option.flatMap(previous, ({ completedAt }) => completedAt),
        writer: "a run",
        running: Option.none()
      },
      missing: isWhole ? Option.some({ window: {}, before: pass, allowed: true }) : Option.none(),
      began: Option.none(),
      unknown: Option.none()
    }, previous)
  }).pipe(Effect.orDie)

/** Since when the history is known, and the instant of the last commit. */
export const historyOf = ({ run }: OpenHistory, company: CompanyId) =>
  Effect.map(Effect.orDie(run(PunchCopy.status(company))), ({ history }) => history)

export const lastOf = (opened: OpenHistory, company: CompanyId): Effect.Effect<DateTime.Utc> =>
  Effect.map(historyOf(opened, company), (history) => Option.getOrThrow(history).last)

/** The copy of an instant, from the rows and their versions, by id. */
export const copyAt = (
  { run }: OpenHistory,
  company: CompanyId,
  instant: DateTime.Utc
): Effect.Effect<ReadonlyArray<PastRow>> =>
  Effect.gen(function*() {
    const { dialect, sql } = yield* connect
    const { bigint, tables, timestamp } = dialect
    const then = timestamp(instant.epochMilliseconds)
    const was = sql`company_id = ${bigint(company)} AND (valid_from IS NULL OR valid_from <= ${then})`
    const columns = rowColumns(dialect)
    const rows = yield* sql`SELECT ${columns} FROM ${tables.rows} WHERE ${was}
      UNION ALL SELECT ${columns} FROM ${tables.history} WHERE ${was} AND valid_to > ${then}`
    return rows.map(rowOf).toSorted((one, other) => one.id - other.id).map(({ isMissing, punch }) => ({
      punch: Result.getOrThrow(punch),
      isMissing
    }))
  }).pipe(run, Effect.orDie)

/** The copy as it is now, by id. */
export const copyNow = ({ plain }: OpenHistory, company: CompanyId): Effect.Effect<ReadonlyArray<PastRow>> =>
  Effect.map(plain.rows(company), (rows) => rows.map(({ isMissing, punch }) => ({ punch, isMissing })))
