/** Closes as rows of the tables of a copy: their columns, and what is read of them. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Row } from "effect/sql/SqlConnection"
import * as Statement from "effect/sql/Statement"
import { Cents, type CompanyId, DepartmentId, LocationId, RoleId, UserId } from "../Ids.ts"
import { type Database, numberOf, orUndefined, raw } from "../internal/sql/dialect.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import type { Dialect } from "../sql/Dialect.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import type { CloseRow, CloseSums } from "./CloseSums.ts"
import { CloseTerms } from "./CloseTerms.ts"
import { CloseNumber } from "./ids.ts"
import { newestRevision, RecordedRevision, Revision, termsAt } from "./Revision.ts"
import * as RevisionName from "./RevisionName.ts"
import { FileNote } from "./WrittenFile.ts"

/** Where the closes of a company are. */
export interface CloseTables {
  readonly company: CompanyId
  readonly database: Database<Dialect>
}

/** A revision as it is stored, without its sums. */
export interface StoredRevision extends Omit<RecordedRevision, "first" | "last" | "rows"> {
  readonly number: number
  /** Random, one for each write. */
  readonly token: string
}

export interface StoredClose {
  readonly close: CloseNumber
  readonly terms: CloseTerms
  readonly revisions: ReadonlyArray<StoredRevision>
}

/** A close with an active revision. */
export type ActiveClose = ReturnType<typeof activeOf>[number]

export const activeOf = (closes: ReadonlyArray<StoredClose>) =>
  closes.flatMap((close) =>
    Option.toArray(newestRevision(close.revisions)).map((newest) => ({
      close: close.close,
      newest,
      /** How many revisions it has. */
      count: close.revisions.length,
      /** The terms of the newest revision, with the locations that were added. */
      terms: termsAt(close, newest)
    }))
  )

/** The columns behind the key of each table, in the order of its statements. */
export const columnsOf = {
  revision: [
    "before",
    "kind",
    "at",
    "closed_at",
    "user_name",
    "note",
    "accepted",
    "added",
    "release",
    "rules",
    "token"
  ],
  row: [
    "place",
    "user_id",
    "location_id",
    "department_id",
    "role_id",
    "punches",
    "incomplete",
    "net_ms",
    "cost_cents",
    "tips_cents",
    "hourly_wage",
    "over_ms",
    "double_ms"
  ],
  file: ["place", "noted_at", "user_name", "mapping", "mapping_hash", "codes", "codes_hash", "token"]
} as const

export const keyColumns = "company_id, close_id, number"

const instants: ReadonlySet<string> = new Set(["at", "closed_at", "noted_at"])

const optional = (value: unknown): Option.Option<number> => Option.fromUndefinedOr(orUndefined(value))

export const TermsText = Schema.fromJsonString(CloseTerms)
export const AddedText = Schema.fromJsonString(RecordedRevision.to.fields.added)
export const AcceptedText = Schema.fromJsonString(Revision.to.fields.accepted)

/** The row of a revision, as a driver returns it. */
const RevisionRow = Schema.Struct({
  kind: Revision.to.fields.kind,
  user_name: Schema.String,
  note: Schema.String,
  release: Schema.String,
  accepted: AcceptedText,
  added: AddedText,
  token: Schema.String
})

/** The columns of a table as a reader takes them. */
export const selected = ({ dialect: { millisOf }, sql }: CloseTables["database"], names: ReadonlyArray<string>) =>
  Statement.csv(names.map((name) => instants.has(name) ? sql`${millisOf(name)} AS ${raw(name)}` : raw(name)))

export const fileNoteColumns = ["noted_at", "user_name", "mapping_hash", "codes_hash"] as const

const FileNoteRow = Schema.Struct({
  user_name: Schema.String,
  mapping_hash: FileNote.fields.mappingHash,
  codes_hash: FileNote.fields.codesHash
})

export const fileNoteOf = (company: CompanyId, row: Row): Effect.Effect<FileNote, SyncError> =>
  Effect.map(decodeStored(company, FileNoteRow, row), (texts) => ({
    at: DateTime.makeUnsafe(numberOf(row["noted_at"])),
    user: texts.user_name,
    mappingHash: texts.mapping_hash,
    codesHash: texts.codes_hash
  }))

/** The closes of a company, in turn, with their revisions but without sums. */
export const readCloses = Effect.fnUntraced(function*({ company, database }: CloseTables) {
  const { dialect: { bigint, tables }, sql } = database
  const query = sql<Row>
  const closes = yield* query`SELECT close_id, terms
    FROM ${tables.close}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id`
  const revisions = yield* query`SELECT close_id, number, ${selected(database, columnsOf.revision)}
    FROM ${tables.closeState}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id, number`
  const files = yield* query`SELECT close_id, number, ${selected(database, fileNoteColumns)}
    FROM ${tables.closeFile}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id, number, place`
  const decoded = yield* Effect.forEach(
    revisions,
    Effect.fnUntraced(function*(row) {
      const { user_name: user, ...texts } = yield* decodeStored(company, RevisionRow, row)
      const { close, number } = nameOf(row)
      const link = Option.map(optional(row["before"]), (number) => RevisionName.print({ close, number }))
      const isVoid = texts.kind === "void" || texts.kind === "mistake"
      return {
        ...texts,
        user,
        close,
        number,
        id: RevisionName.print({ close, number }),
        previous: isVoid ? Option.none() : link,
        voids: isVoid ? link : Option.none(),
        at: DateTime.makeUnsafe(numberOf(row["at"])),
        closedAt: DateTime.makeUnsafe(numberOf(row["closed_at"])),
        rules: numberOf(row["rules"]),
        files: yield* Effect.forEach(
          files.filter((file) => closeOf(file) === close && numberOf(file["number"]) === number),
          (file) => fileNoteOf(company, file)
        )
      } satisfies StoredRevision
    })
  )
  return yield* Effect.forEach(
    closes,
    Effect.fnUntraced(function*(row) {
      const close = closeOf(row)
      const terms = yield* decodeStored(company, TermsText, row["terms"])
      return { close, terms, revisions: decoded.filter((each) => each.close === close) } satisfies StoredClose
    })
  )
})

const closeOf = (row: Row): CloseNumber => CloseNumber.make(numberOf(row["close_id"]))

/** The revision that a row is of. */
export const nameOf = (row: Row): RevisionName.RevisionName => ({
  close: closeOf(row),
  number: numberOf(row["number"])
})

export const decodeStored = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
  company: CompanyId,
  schema: S,
  value: unknown
): Effect.Effect<S["Type"], SyncError> =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(value),
    (error) => storeFailed(company, `a close cannot be read at ${firstIssue(error).path}`, error)
  )

/** The cell of a column of a row of sums. */
const cellOf = (cells: ReadonlyArray<unknown>) => (name: (typeof columnsOf.row)[number]): unknown =>
  cells[columnsOf.row.indexOf(name)]

/** The sums of a revision. */
export const readSums = Effect.fnUntraced(function*(
  { company, database: { dialect: { bigint, tables }, sql } }: CloseTables,
  { close, number }: RevisionName.RevisionName
) {
  const query = sql<Row>
  const isOurs = sql`company_id = ${bigint(company)} AND close_id = ${bigint(close)} AND number = ${bigint(number)}`
  // By place: an object with names takes five times the memory.
  const rows = yield* query`SELECT ${Statement.csv(columnsOf.row)}
    FROM ${tables.closeRow}
    WHERE ${isOurs}
    ORDER BY place`.values
  const time = (value: unknown) => Option.map(optional(value), Duration.millis)
  return {
    rows: rows.map((cells): CloseRow => {
      const cell = cellOf(cells)
      return {
        userId: UserId.make(numberOf(cell("user_id"))),
        locationId: LocationId.make(numberOf(cell("location_id"))),
        departmentId: Option.map(optional(cell("department_id")), (id) => DepartmentId.make(id)),
        roleId: RoleId.make(numberOf(cell("role_id"))),
        punches: numberOf(cell("punches")),
        incomplete: numberOf(cell("incomplete")),
        net: Duration.millis(numberOf(cell("net_ms"))),
        cost: Cents.make(numberOf(cell("cost_cents"))),
        tips: Cents.make(numberOf(cell("tips_cents"))),
        hourlyWage: Cents.make(numberOf(cell("hourly_wage"))),
        over: time(cell("over_ms")),
        double: time(cell("double_ms"))
      }
    })
  } satisfies CloseSums
})

/** A revision with its sums, as it is shown. */
export const recorded = (tables: CloseTables, { terms: { first, last } }: StoredClose, stored: StoredRevision) =>
  Effect.map(readSums(tables, stored), (sums): RecordedRevision => {
    const { number: _number, token: _token, ...revision } = stored
    return { ...revision, ...sums, first, last }
  })

/** What the rows of a revision add up to. */
export interface Totals {
  /** How many people have a row. */
  readonly people: number
  /** Paid time. */
  readonly net: Duration.Duration
  /** Wages in cents. Without tips. */
  readonly cost: number
  /** Tips in cents. */
  readonly tips: number
  /** Whether a row has tips. */
  readonly hasTips: boolean
}

/** The totals of the revisions that have rows, by name: the database adds them up, so that no row is read. */
export const readTotals = ({ company, database: { dialect: { bigint, tables }, sql } }: CloseTables) =>
  Effect.map(
    sql<Row>`SELECT close_id, number, count(DISTINCT user_id) AS people, CAST(sum(net_ms) AS BIGINT) AS net,
        CAST(sum(cost_cents) AS BIGINT) AS cost, CAST(sum(tips_cents) AS BIGINT) AS tips,
        max(CASE WHEN tips_cents = 0 THEN 0 ELSE 1 END) AS has_tips
      FROM ${tables.closeRow}
      WHERE company_id = ${bigint(company)}
      GROUP BY close_id, number`,
    (rows) =>
      new Map<string, Totals>(
        rows.map((row) => [RevisionName.print(nameOf(row)), {
          people: numberOf(row["people"]),
          net: Duration.millis(numberOf(row["net"])),
          cost: numberOf(row["cost"]),
          tips: numberOf(row["tips"]),
          hasTips: numberOf(row["has_tips"]) === 1
        }])
      )
  )
