/** The punch of a row of a copy: read in straight lines, and by the codec of the wire what these do not accept. */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import type { Row } from "effect/sql/SqlConnection"
import * as Statement from "effect/sql/Statement"
import type { CompanyId } from "../Ids.ts"
import { numberOf, raw } from "../internal/sql/dialect.ts"
import { compiled, decodeBreak, decodeEach, isInt, isNatural } from "../internal/wire/decoder.ts"
import { formatInstant, isWritable, utc } from "../internal/wire/instant.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import { TimePunch } from "../TimePunch.ts"
import { columns, type ColumnType } from "./columns.ts"
import type { Dialect } from "./Dialect.ts"

/** A row of a copy. */
export interface StoredRow {
  readonly id: number
  /** Its punch, or what is wrong with it. */
  readonly punch: Result.Result<TimePunch, Schema.SchemaError>
  readonly pass: number
  readonly isMissing: boolean
}

/** The columns of a punch, for `punchesOf`. */
export const punchColumns = (dialect: Dialect): Statement.Fragment =>
  Statement.csv(
    columns.map(({ name, type }) =>
      Statement.fragment([...cellOf(dialect, name, type).segments, Statement.literal(` AS ${name}`)])
    )
  )

/** The columns of a row, or of a version, from which it is read. */
export const rowColumns = (dialect: Dialect): Statement.Fragment =>
  Statement.csv([
    punchColumns(dialect),
    raw("pass"),
    raw("CASE WHEN missing_at IS NULL THEN 0 ELSE 1 END AS is_missing")
  ])

const cellOf = ({ millisOf, wholeOf }: Dialect, name: string, type: ColumnType): Statement.Fragment => {
  switch (type) {
    case "timestamptz":
      return millisOf(name)
    case "bigint":
      return wholeOf(name)
    case "jsonb":
      return raw(`CAST(${name} AS text)`)
    case "boolean":
    case "text":
      return raw(name)
  }
}

/** The values of a punch in the order of `columns`, as a driver returns them. There may be more behind them. */
type Cells = ReadonlyArray<unknown>

/** The values of a punch in a row that has names. */
export const cellsOf = (row: Row): Cells => names.map((name) => row[name])

const names = columns.map(({ name }) => name)

/** Reads a row of a result with the columns of `rowColumns`. */
export const rowOf = (row: Row): StoredRow => ({
  id: numberOf(row["id"]),
  punch: decode(cellsOf(row)),
  pass: numberOf(row["pass"]),
  isMissing: numberOf(row["is_missing"]) === 1
})

/** The punch of a row, or a failure: to leave out a row that cannot be read would make sums wrong in silence. */
export const punchOf = (
  company: CompanyId,
  { id, punch }: Pick<StoredRow, "id" | "punch">
): Result.Result<TimePunch, SyncError> =>
  Result.mapError(
    punch,
    (error) => storeFailed(company, `row ${id} is not a valid punch at ${firstIssue(error).path}`, error)
  )

/** The punches of rows, or the failure of the first that has none. */
export const punchesOf = (
  company: CompanyId,
  rows: ReadonlyArray<Cells>
): Result.Result<ReadonlyArray<TimePunch>, SyncError> => {
  const punches: Array<TimePunch> = []
  for (const cells of rows) {
    const punch = decode(cells)
    if (Result.isFailure(punch)) {
      return Result.andThen(punchOf(company, { id: numberOf(cells[idPlace]), punch }), () => punches)
    }
    punches.push(punch.success)
  }
  return Result.succeed(punches)
}

/** A punch as a row has it. */
export interface PunchState {
  readonly punch: TimePunch
  /** Whether the last sweep of its window did not see it. */
  readonly isMissing: boolean
}

/** The punches of rows with the columns of `rowColumns`, and whether they are missing. */
export const punchStatesOf = (
  company: CompanyId,
  rows: ReadonlyArray<Cells>
): Result.Result<ReadonlyArray<PunchState>, SyncError> =>
  Result.map(
    punchesOf(company, rows),
    (punches) => punches.map((punch, at) => ({ punch, isMissing: numberOf(rows[at]?.[missingPlace]) === 1 }))
  )

const idPlace = names.indexOf("id")

/** Where a row of `rowColumns` says whether it is missing: behind the columns of the punch and its pass. */
export const missingPlace = columns.length + 1

const none = Option.none()

/** A number as it is, and what drivers return for one that may be larger. */
const whole = (cell: unknown): unknown => typeof cell === "string" || typeof cell === "bigint" ? Number(cell) : cell

const flag = (cell: unknown): boolean | undefined =>
  typeof cell === "boolean" ? cell : cell === 1 ? true : cell === 0 ? false : undefined

const optionalId = (cell: unknown): Option.Option<number> | undefined => {
  const id = whole(cell)
  return id === null || id === 0 ? none : isNatural(id) ? Option.some(id) : undefined
}

const optionalText = (cell: unknown): Option.Option<string> | undefined =>
  cell === null ? none : typeof cell === "string" ? Option.some(cell) : undefined

const instant = (cell: unknown): DateTime.Utc | undefined => {
  const millis = whole(cell)
  // A zero with a sign becomes one without, as in a text.
  return typeof millis === "number" && isWritable(millis) ? utc(millis + 0) : undefined
}

const nullableInstant = (cell: unknown): Option.Option<DateTime.Utc> | undefined => {
  if (cell === null) return none
  const at = instant(cell)
  return at === undefined ? undefined : Option.some(at)
}

/** A text that is not JSON throws, and is left to the codec too. */
const breaksOf = (cell: unknown) =>
  cell === "[]" ? [] : typeof cell === "string" ? decodeEach(JSON.parse(cell), decodeBreak) : undefined

/** The value of `StoredPunch`, with the cells by their places in `columns`. */
const straight = (cells: Cells) => {
  const companyId = whole(cells[0])
  const id = whole(cells[1])
  const userId = whole(cells[2])
  const roleId = whole(cells[3])
  const locationId = whole(cells[4])
  if (
    !isNatural(companyId) || companyId === 0 || !isNatural(id) || !isNatural(userId) || !isNatural(roleId) ||
    !isNatural(locationId)
  ) {
    return undefined
  }
  const departmentId = optionalId(cells[5])
  const shiftId = optionalId(cells[6])
  const clockedIn = instant(cells[7])
  const clockedOut = nullableInstant(cells[8])
  if (departmentId === undefined || shiftId === undefined || clockedIn === undefined || clockedOut === undefined) {
    return undefined
  }
  const hourlyWage = whole(cells[9])
  const tips = whole(cells[10])
  if (!isNatural(hourlyWage) || !isInt(tips)) return undefined
  const approved = flag(cells[11])
  const editablePunch = flag(cells[12])
  const autoClockedOut = flag(cells[13])
  const clockedInOffline = flag(cells[14])
  const clockedOutOffline = flag(cells[15])
  const deleted = flag(cells[20])
  if (
    approved === undefined || editablePunch === undefined || autoClockedOut === undefined ||
    clockedInOffline === undefined || clockedOutOffline === undefined || deleted === undefined
  ) return undefined
  const posType = optionalText(cells[16])
  const notes = cells[17]
  const created = nullableInstant(cells[18])
  const modified = nullableInstant(cells[19])
  const breaks = breaksOf(cells[21])
  if (
    posType === undefined || typeof notes !== "string" || created === undefined || modified === undefined ||
    breaks === undefined
  ) return undefined
  return {
    id,
    companyId,
    userId,
    roleId,
    locationId,
    shiftId,
    departmentId,
    clockedIn,
    clockedOut,
    hourlyWage,
    tips,
    approved,
    editablePunch,
    notes,
    posType,
    breaks,
    autoClockedOut,
    clockedInOffline,
    clockedOutOffline,
    created,
    modified,
    deleted
  }
}

const parse = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** A value as the wire has it. What cannot be one is left to the codec, which names it. */
const wireOf = (value: unknown, type: ColumnType): unknown => {
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

const wire: Schema.Codec<TimePunch, unknown> = TimePunch.Wire

/** The punch of the values of a row. It is only read: `columns` has the way back. */
export const StoredPunch: Schema.Codec<TimePunch, Cells> = compiled<TimePunch, Cells>({
  decode: (input) => Array.isArray(input) ? straight(input) : undefined
})(
  Schema.Array(Schema.Unknown).pipe(Schema.decodeTo(wire, {
    decode: Getter.transform((cells) =>
      Object.fromEntries(columns.map(({ name, type }, at) => [name, wireOf(cells[at], type)]))
    ),
    encode: Getter.forbidden(() => "a row is written by its columns")
  }))
)

const decode = Schema.decodeUnknownResult(StoredPunch)
