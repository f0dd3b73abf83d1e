/** The rows of a copy, read back as punches. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Row } from "effect/sql/SqlConnection"
import type { CompanyId } from "../Ids.ts"
import { firstIssue } from "../internal/base/issue.ts"
import { formatInstant, isWritable } from "../internal/wire/instant.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import { TimePunch } from "../TimePunch.ts"
import { columns } from "./dialect/columns.ts"
import type { Dialect } from "./dialect/Dialect.ts"
import { numberOf } from "./dialect/result.ts"

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
