/** Lists the punches of a copy: the filters of the service as conditions on its rows, and pages of one snapshot. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import * as Stream from "effect/Stream"
import { InvalidRequest } from "../ApiError.ts"
import type { CompanyId } from "../Ids.ts"
import { formatInstant, isWritable } from "../internal/wire/instant.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { validFilter } from "../listing/request.ts"
import type { InstantRange, PunchFilter } from "../PunchFilter.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import { TimePunch } from "../TimePunch.ts"
import { columns, type ColumnType } from "./columns.ts"
import { connect, failedWith, inSnapshot, retried } from "./connection.ts"
import { type Dialect, numberOf } from "./Dialect.ts"
import { opened, type TableOptions } from "./TableOptions.ts"

// MERGED rows.ts: The rows of a copy, read back as punches.

/** A row of a copy. */
export interface StoredRow {
  readonly id: number
  /** Its punch, or why it is none. */
  readonly punch: Result.Result<TimePunch, Schema.SchemaError>
  readonly pass: number
  readonly isGone: boolean
}

/** The start of a statement that reads rows for `rowOf`; a condition follows. */
export const selectRows = (dialect: Dialect): string => `SELECT ${rowColumns(dialect)} FROM ${dialect.tables.rows}`

/** The columns that `rowOf` reads, of a row or of a version. */
export const rowColumns = ({ millisOf }: Dialect): string =>
  `${
    columns.map(({ name, type }) =>
      type === "timestamptz"
        ? `${millisOf(name)} AS ${name}`
        : type === "jsonb"
        ? `CAST(${name} AS text) AS ${name}`
        : name
    ).join(", ")
  }, pass, CASE WHEN gone_at IS NULL THEN 0 ELSE 1 END AS is_gone`

export const rowOf = (row: Row): StoredRow => ({
  id: numberOf(row["id"]),
  punch: decode(Object.fromEntries(columns.map(({ name, type }) => [name, wireOf(row[name], type)]))),
  pass: numberOf(row["pass"]),
  isGone: numberOf(row["is_gone"]) === 1
})

/** The punch of a row. One that cannot be read is no reason to leave it out: a sum would be wrong in silence. */
export const punchOf = (company: CompanyId, { id, punch }: StoredRow): Result.Result<TimePunch, SyncError> =>
  Result.mapError(
    punch,
    (error) => storeFailed(company, `row ${id} is no punch at ${firstIssue(error).path}`, error)
  )

const decode = Schema.decodeUnknownResult(TimePunch.fromWire)
const parse = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** A value as the wire has it. What cannot be one is left to the codec, which names it. */
const wireOf = (value: unknown, type: (typeof columns)[number]["type"]): unknown => {
  if (value === null) return null
  switch (type) {
    case "bigint":
      return numberOf(value)
    case "boolean":
      return typeof value === "boolean" ? value : numberOf(value) === 1
    case "timestamptz": {
      const millis = numberOf(value)
      return isWritable(millis) ? formatInstant(millis) : millis
    }
    case "jsonb":
      return Result.getOrElse(parse(value), () => value)
    case "text":
      return value
  }
}

/**
 * Lists the punches of a copy by clock-in, then by id: those that the service would list for this filter, as of the last pass.
 * Rows that are gone are not listed. Memory is that of a page, however many rows there are.
 *
 * All rows are of one state of the copy, that of the first page. The stream does not see what a sync commits meanwhile, and
 * does not delay the sync. Inside a transaction of the caller, the isolation of that transaction decides instead. The stream
 * keeps a connection until it ends. A client with only one connection, such as `NodeSqlite`, runs no other statement in that
 * time: a consumer of the stream that waits for one waits for ever.
 *
 * Fails with `InvalidRequest` for `flags`, `employeeApprovalStatuses`, `localizeSearchTime`, `businessDate` and `sortBy`, which
 * only the service knows, and for what `TimePunches.list` refuses; neither reads the database. Fails with `Store` if the
 * database fails, and at a row that is not a valid punch, with its id.
 */
export const list = (
  company: CompanyId,
  filter: PunchFilter = {},
  options: TableOptions = {}
): Stream.Stream<TimePunch, SyncError | InvalidRequest, SqlClient> => readPages(company, filter, options, pageSize)

/** Rows of a page: more of them save little time, and a page is in memory twice. */
const pageSize = 1000

/** The same, with so many rows a page. @internal */
export const readPages = (
  company: CompanyId,
  filter: PunchFilter,
  options: TableOptions,
  size: number
): Stream.Stream<TimePunch, SyncError | InvalidRequest, SqlClient> =>
  Stream.unwrap(Effect.gen(function*() {
    const conditions = yield* Effect.fromResult(conditionsOf(company, filter))
    const { dialect, sql } = yield* opened(company, options)

    const pages = Stream.paginate(
      Option.none<TimePunch>(),
      Effect.fnUntraced(function*(last) {
        const { parameters, text } = statementOf(dialect, company, conditions, last, size)
        const rows = yield* sql.unsafe<Row>(text, parameters)
        const punches: Array<TimePunch> = []
        for (const row of rows) punches.push(yield* Effect.fromResult(punchOf(company, rowOf(row))))
        const end = Option.fromUndefinedOr(punches.at(-1))
        return [punches, rows.length < size ? Option.none() : Option.map(end, Option.some)] as const
      })
    )
    return inSnapshot({ dialect, sql }, pages)
  })).pipe(Stream.catchTag("SqlError", (error) => Stream.fail(failedWith(company, "the rows cannot be read")(error))))

/** What a row must be: a column that holds, or a comparison with a parameter. @internal */
export interface Condition {
  readonly test: string
  readonly parameter?: { readonly type: ColumnType; readonly value: number }
}

type Key = keyof PunchFilter

type Values = { readonly [K in Key]: NonNullable<PunchFilter[K]> }

const is = (test: string): ReadonlyArray<Condition> => [{ test }]

const isId = (column: string) => (value: number): ReadonlyArray<Condition> => [
  { test: `${column} =`, parameter: { type: "bigint", value } }
]

const isAt = (test: string, instant: DateTime.DateTime | undefined): ReadonlyArray<Condition> =>
  instant === undefined ? [] : [{ test, parameter: { type: "timestamptz", value: instant.epochMilliseconds } }]

const within = (column: string) => ({ gte, lt, lte }: InstantRange): ReadonlyArray<Condition> => [
  ...isAt(`${column} >=`, gte),
  ...isAt(`${column} <=`, lte),
  ...isAt(`${column} <`, lt)
]

const byServiceAlone = () => undefined

/**
 * What each key of a filter asks of a row; `undefined` where the copy cannot tell. A value that is NULL is outside of every
 * range: an open punch has no clock-out, and one that was never modified has none since any instant.
 */
const conditions: { readonly [K in Key]: (value: Values[K]) => ReadonlyArray<Condition> | undefined } = {
  locationId: isId("t.location_id"),
  // The service has 0 where there is no department.
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

/** The statement of the first page, or of the page after a punch. */
const statementOf = (
  dialect: Dialect,
  company: CompanyId,
  conditions: ReadonlyArray<Condition>,
  last: Option.Option<TimePunch>,
  size: number
) => {
  const { instant, integer, placeholder } = dialect
  const parameters: Array<number | string> = []
  const bound = (type: ColumnType, value: number) => {
    parameters.push(type === "timestamptz" ? instant(value) : integer(value))
    return placeholder(parameters.length, type)
  }
  // In the order of the text, as SQLite counts them.
  const ofCompany = `t.company_id = ${bound("bigint", company)}`
  const after = Option.toArray(last).map(({ clockedIn, id }) =>
    `(t.clocked_in, t.id) > (${bound("timestamptz", clockedIn.epochMilliseconds)}, ${bound("bigint", id)})`
  )
  // A later page has a lower end already. With two, the database might begin each page at that of the filter.
  const rest = conditions.filter(({ test }) => after.length === 0 || test !== "t.clocked_in >=").map((
    { parameter, test }
  ) => parameter === undefined ? test : `${test} ${bound(parameter.type, parameter.value)}`)
  const tests = [ofCompany, "t.gone_at IS NULL", ...after, ...rest]
  // The columns have the names of the results, so that without the table the order would be that of the results, by no index.
  return {
    text: `${selectRows(dialect)} AS t WHERE ${tests.join(" AND ")} ORDER BY t.clocked_in, t.id LIMIT ${size}`,
    parameters
  }
}

// MERGED readRows.ts: Reads the rows of a copy for a comparison with the service.

/** Which rows of a company. */
export type Selection =
  /** So many, drawn at random, of those that are not gone. */
  | { readonly _tag: "Sample"; readonly count: number }
  /** Those whose clock-in is from one millisecond up to, and not including, the other. */
  | { readonly _tag: "Window"; readonly gte: number; readonly lt: number }
  /** Those with these ids. */
  | { readonly _tag: "Ids"; readonly ids: ReadonlyArray<number> }
  /** So many that follow an id, in the order of the ids. */
  | { readonly _tag: "After"; readonly id: number; readonly count: number }

/** The rows of a copy that are selected. Fails with `Store` where the database does. */
export const readRows = (
  company: CompanyId,
  selection: Selection
): Effect.Effect<ReadonlyArray<StoredRow>, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const { dialect, sql } = yield* connect()
    const { instant, integer, placeholder } = dialect
    const select = `${selectRows(dialect)} WHERE company_id = ${placeholder(1, "bigint")}`
    const read = (rest: string, ...parameters: ReadonlyArray<number | string>) =>
      retried(sql.unsafe<Row>(`${select} AND ${rest}`, [integer(company), ...parameters]))
    const rows = selection._tag === "Sample"
      ? read(`gone_at IS NULL ORDER BY random() LIMIT ${selection.count}`)
      : selection._tag === "Window"
      ? read(
        `clocked_in >= ${placeholder(2, "timestamptz")} AND clocked_in < ${placeholder(3, "timestamptz")}`,
        instant(selection.gte),
        instant(selection.lt)
      )
      : selection._tag === "Ids"
      ? read(
        `id IN (${["NULL", ...selection.ids.map((_, at) => placeholder(at + 2, "bigint"))].join(", ")})`,
        ...selection.ids.map(integer)
      )
      : read(`id > ${placeholder(2, "bigint")} ORDER BY id LIMIT ${selection.count}`, integer(selection.id))
    return (yield* rows).map(rowOf)
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(failedWith(company, "the rows cannot be read")(error))))
