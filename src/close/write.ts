/** Writes revisions of closes in one transaction. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isSqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import { raw } from "../internal/sql/dialect.ts"
import { messageOf } from "../internal/sql/failure.ts"
import { durably, transact } from "../internal/sql/transaction.ts"
import { type Checks, isText } from "../payroll/options.ts"
import { storable } from "../sql/columns.ts"
import { failedWith } from "../sql/connection.ts"
import { readKnown } from "../sql/known.ts"
import { type Books, readBooks } from "./books.ts"
import { CloseChanged, OutcomeUnknown } from "./CloseError.ts"
import type { CloseSums } from "./CloseSums.ts"
import type { CloseTerms } from "./CloseTerms.ts"
import type { RecordedRevision, Revision } from "./Revision.ts"
import type * as RevisionName from "./RevisionName.ts"
import { AcceptedText, AddedText, type CloseTables, columnsOf, keyColumns, recorded, TermsText } from "./rows.ts"
import { sumRules } from "./verdict.ts"

/** What is kept with a revision when it is written. */
export interface WriteOptions {
  /** A note that is kept with it. */
  readonly note?: string | undefined
  /** Who writes it. Default: `unknown`. */
  readonly user?: string | undefined
  /** The release that writes it, for the record. */
  readonly release?: string | undefined
}

export const writeChecks: Checks<WriteOptions> = { note: isText, user: isText, release: isText }

export type Added = RecordedRevision["added"]

export const nothingAdded: Added = { clocks: [], locations: [], gaps: [] }

/** A revision to write. */
export interface Planned extends RevisionName.RevisionName {
  /** The number of the revision that it follows or voids. */
  readonly link: number | undefined
  readonly kind: Revision["kind"]
  readonly terms: CloseTerms
  readonly added: Added
  readonly accepted: Readonly<Record<string, number>>
  readonly sums: CloseSums
  readonly options: WriteOptions
}

/**
 * Writes revisions in one transaction, which holds up every commit of the company: `plan` sees the closes as they are then. The
 * history must still be known at the instant that was summed. A COMMIT without an answer is looked up by a random token. Fails
 * with `OutcomeUnknown` if it cannot be. What was written can be printed without another reading, which could fail.
 */
export const write = <E>(
  tables: CloseTables,
  at: DateTime.Utc | undefined,
  plan: (books: Books) => Effect.Effect<ReadonlyArray<Planned>, E>
) =>
  Effect.suspend(() => {
    const { company, database } = tables
    const token = globalThis.crypto.randomUUID()
    /** What the last attempt wrote, until it is known whether its COMMIT took place. */
    let open: ReadonlyArray<RecordedRevision> = []
    const written = ({ all }: Books) =>
      Effect.forEach(
        all.flatMap((close) =>
          close.revisions.filter((each) => each.token === token).map((revision) => ({ close, revision }))
        ),
        ({ close, revision }) => recorded(tables, close, revision)
      )
    const body = Effect.gen(function*() {
      const { last, since } = yield* readKnown(database, company, database.dialect.forUpdate)
      const books = yield* readBooks(tables)
      if (open.length > 0) {
        const done = yield* written(books)
        if (done.length > 0) return done
        open = []
      }
      const changed = (detail: string) => new CloseChanged({ companyId: company, detail })
      if (last === 0) return yield* changed("the copy was erased")
      if (at !== undefined && (since === undefined || since > at.epochMilliseconds)) {
        return yield* changed("the history of the instant that was summed is gone")
      }
      for (const each of yield* plan(books))
        yield* insert(tables, each, at?.epochMilliseconds ?? last, token)
      open = yield* written(yield* readBooks(tables))
      return open
    })
    return transact(database, durably(database, body), () => open.length > 0).pipe(
      Effect.catchIf(isSqlError, (error) =>
        Effect.fail(
          open.length === 0
            ? failedWith(company, "the close cannot be written")(error)
            : new OutcomeUnknown({ companyId: company, revisions: open.map(({ id }) => id), detail: messageOf(error) })
        ))
    )
  })

/** Rows of one statement. */
export const chunkSize = 200

const insert = Effect.fnUntraced(function*(
  { company, database: { dialect, sql } }: CloseTables,
  { accepted, added, close, kind, link, number, options, sums, terms }: Planned,
  at: number,
  token: string
) {
  const { bigint, clock, tables, timestamp } = dialect
  const orNull = (value: Option.Option<number>) => Option.match(value, { onNone: () => raw("NULL"), onSome: bigint })
  const millisOrNull = (time: Option.Option<Duration.Duration>) => orNull(Option.map(time, Duration.toMillis))
  if (kind === "close") {
    const text = yield* Effect.orDie(Schema.encodeEffect(TermsText)(terms))
    yield* sql`INSERT INTO ${tables.close} (company_id, close_id, terms)
      VALUES (${bigint(company)}, ${bigint(close)}, ${text})`
  }
  const key = [bigint(company), bigint(close), bigint(number)]
  const insertInto = (
    table: Statement.Fragment,
    columns: ReadonlyArray<string>,
    tuples: ReadonlyArray<Statement.Fragment>
  ) =>
    sql`INSERT INTO ${table} (${raw(keyColumns)}, ${Statement.csv(columns)})
      VALUES ${Statement.csv(tuples)}`
  const tuple = (values: ReadonlyArray<Statement.Fragment>) => sql`(${Statement.csv([...key, ...values])})`
  const acceptedText = yield* Effect.orDie(Schema.encodeEffect(AcceptedText)(accepted))
  const addedText = yield* Effect.orDie(Schema.encodeEffect(AddedText)(added))
  const { note = "", release = "", user = "unknown" } = options
  yield* insertInto(tables.closeState, columnsOf.revision, [
    tuple([
      orNull(Option.fromUndefinedOr(link)),
      sql`${kind}`,
      timestamp(at),
      clock,
      sql`${storable(user)}`,
      sql`${storable(note)}`,
      sql`${acceptedText}`,
      sql`${addedText}`,
      sql`${release}`,
      bigint(sumRules),
      sql`${token}`
    ])
  ])
  // The fragments of all rows would take more memory than the rows.
  for (let from = 0; from < sums.rows.length; from += chunkSize) {
    const tuples = sums.rows.slice(from, from + chunkSize).map((row, place) =>
      tuple([
        bigint(from + place),
        bigint(row.userId),
        bigint(row.locationId),
        orNull(row.departmentId),
        bigint(row.roleId),
        bigint(row.punches),
        bigint(row.incomplete),
        bigint(Duration.toMillis(row.net)),
        bigint(row.cost),
        bigint(row.tips),
        bigint(row.hourlyWage),
        millisOrNull(row.over),
        millisOrNull(row.double)
      ])
    )
    yield* insertInto(tables.closeRow, columnsOf.row, tuples)
  }
})
