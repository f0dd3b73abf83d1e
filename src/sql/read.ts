/** Lists the punches of a copy: the filters of the service as conditions on its rows, and pages of one snapshot. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { type Database, type DialectName, raw } from "../internal/sql/dialect.ts"
import { inSnapshot, retried } from "../internal/sql/transaction.ts"
import { checkOptions, invalidRequest, validFilter } from "../listing/request.ts"
import type { InstantRange, PunchFilter } from "../PunchFilter.ts"
import type { SyncError } from "../sync/SyncError.ts"
import type { TimePunch } from "../TimePunch.ts"
import { companyIdOf, connect, failedWith, opened } from "./connection.ts"
import type { Dialect } from "./Dialect.ts"
import { type HistoryUnavailable, requireKnown } from "./known.ts"
import { cellsOf, punchColumns, punchesOf, rowColumns, rowOf, type StoredRow } from "./row.ts"

/** Which copy is listed. */
export interface CopyListOptions {
  /**
   * Lists the copy as it was at this instant of the database's clock, such as `history.last` of `status`. Needs a history.
   * Default: as it is.
   */
  readonly at?: DateTime.DateTime | undefined
}

/**
 * Lists the punches of a copy by clock-in, then by id: those that the service would list for this filter, as of the last
 * sync run. Rows that are missing are not listed. It holds one page in memory, however many rows there are.
 *
 * All rows are of the state that the copy has at the first page. The stream does not see what a sync commits meanwhile, and
 * does not delay the sync. Inside a transaction of the caller, the isolation of that transaction decides instead. The stream
 * keeps a connection until it ends: `NodeSqlite` opens another one for it, and streams leave two of a pool. A client with only one
 * connection runs no other statement in that time: a consumer of the stream that waits for one waits for ever.
 *
 * Fails with `InvalidRequest` for `flags`, `employeeApprovalStatuses`, `localizeSearchTime`, `businessDate` and `sortBy`, which
 * only the service knows, and for what `TimePunches.list` refuses; neither reads the database. Fails with `HistoryUnavailable` if
 * the copy of `at` is not known, which only an `at` can cause; with `Store` if the database fails, and at a row that is not a
 * valid punch, with its id.
 */
export const list = (
  of: CompanyId | Company,
  filter: PunchFilter = {},
  options: CopyListOptions = {}
): Stream.Stream<TimePunch, SyncError | InvalidRequest | HistoryUnavailable, SqlClient> => {
  const company = companyIdOf(of)
  return Stream.catchTag(
    listWithin(company, filter, options),
    "SqlError",
    (error) => Stream.fail(failedWith(company, "the rows cannot be read")(error))
  )
}

/** `list` as a part of a larger reading, which is attempted again as a whole. @internal */
export const listWithin = (
  company: CompanyId,
  filter: PunchFilter,
  options: CopyListOptions
): Stream.Stream<TimePunch, SqlError | SyncError | InvalidRequest | HistoryUnavailable, SqlClient> =>
  Stream.unwrap(Effect.map(Effect.fromResult(checkOptions(company, options, { at: true })), () => {
    const { at } = options
    if (at !== undefined && !DateTime.isDateTime(at))
      return Stream.fail(invalidRequest(company, "at", "must be a DateTime"))
    return at === undefined ? readPages(company, filter) : readAt(company, filter, at)
  }))

/** Rows of a page, which is in memory twice. With a quarter of them PostgreSQL takes half as much time again; SQLite does not. */
const pageSizes: Readonly<Record<DialectName, number>> = { sqlite: 1000, pg: 4000 }

/** `listWithin` with pages of `size` rows. @internal */
export const readPages = (
  company: CompanyId,
  filter: PunchFilter,
  size?: number
): Stream.Stream<TimePunch, SqlError | SyncError | InvalidRequest, SqlClient> =>
  Stream.unwrap(Effect.gen(function*() {
    const conditions = yield* Effect.fromResult(conditionsOf(company, filter))
    const database = yield* opened(company)
    const most = size ?? pageSizes[database.dialect.name]

    const pages = Stream.paginate(
      Option.none<TimePunch>(),
      Effect.fnUntraced(function*(last) {
        const rows = yield* pageAfter(database, company, conditions, last, most).values
        const punches = yield* Effect.fromResult(punchesOf(company, rows))
        const end = Option.fromUndefinedOr(punches.at(-1))
        return [punches, rows.length < most ? Option.none() : Option.map(end, Option.some)] as const
      })
    )
    return inSnapshot(database, pages)
  }))

/** The copy of an instant: the rows that were written before it, and the versions that were replaced after it. */
const readAt = (
  company: CompanyId,
  filter: PunchFilter,
  at: DateTime.DateTime
): Stream.Stream<TimePunch, SqlError | SyncError | InvalidRequest | HistoryUnavailable, SqlClient> =>
  Stream.unwrap(Effect.gen(function*() {
    const conditions = yield* Effect.fromResult(conditionsOf(company, filter))
    const database = yield* opened(company)
    const { dialect, sql } = database
    const tests = sql.and([...ofCompany(database, company), ...conditions.map(testOf(database))])
    const columns = punchColumns(dialect)
    const then = isAtInstant(database, at)
    const rows = sql<Row>`SELECT ${columns}
      FROM ${dialect.tables.rows} AS t
      WHERE ${tests} AND ${then.row}
      UNION ALL
      SELECT ${columns}
      FROM ${dialect.tables.history} AS t
      WHERE ${tests} AND ${then.version}
      ORDER BY clocked_in, id`
    const punches = Stream.unwrap(Effect.as(requireKnown(database, company, at), rows.stream)).pipe(
      Stream.chunks,
      Stream.mapEffect((rows) => Effect.fromResult(punchesOf(company, rows.map(cellsOf)))),
      Stream.flattenIterable
    )
    return inSnapshot(database, punches)
  }))

/** Whether a row, or a version, is what the copy had at an instant. @internal */
export const isAtInstant = ({ dialect: { timestamp }, sql }: Database<Dialect>, at: DateTime.DateTime) => {
  const instant = timestamp(at.epochMilliseconds)
  const row = sql`(valid_from IS NULL OR valid_from <= ${instant})`
  return { row, version: sql`valid_to > ${instant} AND ${row}` }
}

/** What a row must be: a column that holds, or a comparison with a parameter. @internal */
export interface Condition {
  readonly test: string
  readonly parameter?: { readonly type: "bigint" | "timestamp"; readonly value: number }
}

type Key = keyof PunchFilter

type Values = { readonly [K in Key]: NonNullable<PunchFilter[K]> }

const is = (test: string): ReadonlyArray<Condition> => [{ test }]

const isId = (column: string) => (value: number): ReadonlyArray<Condition> => [
  { test: `${column} =`, parameter: { type: "bigint", value } }
]

const isAt = (test: string, instant: DateTime.DateTime | undefined): ReadonlyArray<Condition> =>
  instant === undefined ? [] : [{ test, parameter: { type: "timestamp", value: instant.epochMilliseconds } }]

const within = (column: string) => ({ gte, lt, lte }: InstantRange): ReadonlyArray<Condition> => [
  ...isAt(`${column} >=`, gte),
  ...isAt(`${column} <=`, lte),
  ...isAt(`${column} <`, lt)
]

const byServiceAlone = () => undefined

/**
 * What each key of a filter asks of a row; `undefined`: the copy cannot tell. A value that is NULL is outside of every
 * range: an open punch has no clock-out, and one that was never modified has none since any instant.
 */
const conditions: { readonly [K in Key]: (value: Values[K]) => ReadonlyArray<Condition> | undefined } = {
  locationId: isId("t.location_id"),
  // The service has 0 if a punch has no department.
  departmentId: isId("coalesce(t.department_id, 0)"),
  roleId: isId("t.role_id"),
  userId: isId("t.user_id"),
  approved: (isApproved) => is(isApproved ? "t.approved" : "NOT t.approved"),
  deleted: (which) => ({ exclude: is("NOT t.deleted"), only: is("t.deleted"), include: [] })[which],
  modifiedSince: (since) => isAt("t.modified >", since),
  clockedIn: within("t.clocked_in"),
  clockedOut: within("t.clocked_out"),
  localizeSearchTime: (isLocal) => isLocal ? undefined : [],
  flags: byServiceAlone,
  employeeApprovalStatuses: byServiceAlone,
  businessDate: byServiceAlone,
  sortBy: byServiceAlone
}

const isKey = (key: string): key is Key => Object.hasOwn(conditions, key)

const keys = Object.keys(conditions).filter(isKey)

const conditionsOfKey = <K extends Key>(key: K, filter: { readonly [K in Key]?: Values[K] | undefined }) => {
  const value = filter[key]
  return value === undefined ? [] : conditions[key](value)
}

/** What a filter asks of the rows, or why the copy cannot answer it. @internal */
export const conditionsOf = (
  company: CompanyId,
  filter: PunchFilter
): Result.Result<ReadonlyArray<Condition>, InvalidRequest> =>
  Result.gen(function*() {
    const { deleted = "exclude", ...rest } = yield* validFilter(company, filter)
    const given: Array<Condition> = []
    for (const key of keys) {
      const each = conditionsOfKey(key, { ...rest, deleted })
      if (each === undefined) {
        return yield* Result.fail(
          new InvalidRequest({
            companyId: company,
            field: key,
            detail: "cannot go with a copy: only the service knows it"
          })
        )
      }
      given.push(...each)
    }
    return given
  })

/** The rows of the first page, or of the page after a punch. */
const pageAfter = (
  { dialect, sql }: Database<Dialect>,
  company: CompanyId,
  conditions: ReadonlyArray<Condition>,
  last: Option.Option<TimePunch>,
  size: number
) => {
  const { bigint, tables, timestamp } = dialect
  const after = Option.toArray(last).map(({ clockedIn, id }) =>
    sql`(t.clocked_in, t.id) > (${timestamp(clockedIn.epochMilliseconds)}, ${bigint(id)})`
  )
  // A later page has a lower end already. With two, the database might begin each page at the lower end of the filter.
  const rest = conditions.filter(({ test }) => after.length === 0 || test !== "t.clocked_in >=")
  const tests = sql.and([...ofCompany({ dialect, sql }, company), ...after, ...rest.map(testOf({ dialect, sql }))])
  // `t.`: without it the order would be by the columns of the result, which have the same names and no index.
  return sql`SELECT ${punchColumns(dialect)}
    FROM ${tables.rows} AS t
    WHERE ${tests}
    ORDER BY t.clocked_in, t.id
    LIMIT ${raw(String(size))}`
}

/** The rows of a company that are not missing. */
const ofCompany = ({ dialect: { bigint }, sql }: Database<Dialect>, company: CompanyId) => [
  sql`t.company_id = ${bigint(company)}`,
  raw("t.missing_at IS NULL")
]

const testOf = ({ dialect, sql }: Database<Dialect>) => ({ parameter, test }: Condition): Statement.Fragment =>
  parameter === undefined ? raw(test) : sql`${raw(test)} ${dialect[parameter.type](parameter.value)}`

/** Which rows of a company are compared with the service. @internal */
export type Selection =
  /** The number of rows to draw at random, among those that are not missing. */
  | { readonly _tag: "Sample"; readonly count: number }
  /** Those whose clock-in is from one millisecond up to, and not including, the other. */
  | { readonly _tag: "Window"; readonly gte: number; readonly lt: number }
  /** Those with these ids. */
  | { readonly _tag: "Ids"; readonly ids: ReadonlyArray<number> }
  /** So many that follow an id, in the order of the ids. */
  | { readonly _tag: "After"; readonly id: number; readonly count: number }

/** The rows of a copy that are selected. Fails with `Store` if the database does. @internal */
export const readRows = (
  company: CompanyId,
  selection: Selection
): Effect.Effect<ReadonlyArray<StoredRow>, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const { dialect, sql } = yield* Effect.mapError(connect, failedWith(company, "the rows cannot be read"))
    const { bigint, tables, timestamp } = dialect
    const select = sql`SELECT ${rowColumns(dialect)}
      FROM ${tables.rows} AS t
      WHERE company_id = ${bigint(company)}`
    const statementOf = (): Statement.Statement<Row> => {
      switch (selection._tag) {
        case "Sample":
          return sql`${select} AND missing_at IS NULL
            ORDER BY random()
            LIMIT ${bigint(selection.count)}`
        case "Window":
          return sql`${select}
            AND clocked_in >= ${timestamp(selection.gte)}
            AND clocked_in < ${timestamp(selection.lt)}`
        case "Ids":
          return sql`${select} AND id IN (${sql.csv([raw("NULL"), ...selection.ids.map(bigint)])})`
        case "After":
          return sql`${select} AND id > ${bigint(selection.id)}
            ORDER BY t.id
            LIMIT ${bigint(selection.count)}`
      }
    }
    return (yield* retried(statementOf())).map(rowOf)
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(failedWith(company, "the rows cannot be read")(error))))
