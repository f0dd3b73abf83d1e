/** What `PunchCopy.purge` would erase of a company: its punches, its history, and its closes with their money. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { CompanyId } from "../Ids.ts"
import { numberOf } from "../internal/sql/dialect.ts"
import { failedWith, opened } from "../sql/connection.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { CloseNumber, type RevisionId } from "./ids.ts"
import * as RevisionName from "./RevisionName.ts"
import { nameOf, readTotals } from "./rows.ts"

/** One revision of a close, with the sums of its rows. A void has none. */
export interface HeldRevision {
  /** Its name, such as `7.2`. */
  readonly revision: RevisionId
  readonly isVoid: boolean
  /** In cents. */
  readonly cost: number
  /** In cents. */
  readonly tips: number
}

export interface HeldClose {
  readonly close: CloseNumber
  /** `None` if the terms of the close cannot be read. */
  readonly period: Option.Option<{ readonly first: string; readonly last: string }>
  readonly revisions: ReadonlyArray<HeldRevision>
}

/** What the copy holds of a company. */
export interface Holdings {
  readonly company: CompanyId
  /** Whether it holds anything: a row, a close, or at least a checkpoint. */
  readonly isCopy: boolean
  readonly punches: number
  /** Versions that later ones have replaced. */
  readonly versions: number
  readonly closes: ReadonlyArray<HeldClose>
}

const PeriodText = Schema.fromJsonString(Schema.Struct({ first: Schema.String, last: Schema.String }))

const readPeriod = Schema.decodeUnknownOption(PeriodText)

/**
 * Counts what the copy holds of a company. In a transaction no close is written until its end. It reads neither checkpoints nor
 * whole closes, so that a damaged copy can be erased too. @internal
 */
export const holdingsOf = (company: CompanyId): Effect.Effect<Holdings, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const database = yield* opened(company)
    const { dialect: { bigint, forUpdate, tables }, sql } = database
    const isOurs = sql`company_id = ${bigint(company)}`
    return yield* Effect.gen(function*() {
      // A close holds up this row while it is written.
      const known = yield* sql`SELECT company_id FROM ${tables.sync} WHERE ${isOurs} ${forUpdate}`
      const [counts] = yield* sql<Row>`SELECT
        (SELECT count(*) FROM ${tables.rows} WHERE ${isOurs}) AS punches,
        (SELECT count(*) FROM ${tables.history} WHERE ${isOurs}) AS versions`
      const closes = yield* sql<Row>`SELECT close_id, terms FROM ${tables.close} WHERE ${isOurs} ORDER BY close_id`
      const revisions = yield* sql<
        Row
      >`SELECT close_id, number, kind FROM ${tables.closeState} WHERE ${isOurs} ORDER BY close_id, number`
      const totals = yield* readTotals({ company, database })
      const idOf = (row: Row) => RevisionName.print(nameOf(row))
      const punches = numberOf(counts?.["punches"])
      const versions = numberOf(counts?.["versions"])
      return {
        company,
        isCopy: known.length + punches + versions + closes.length > 0,
        punches,
        versions,
        closes: closes.map(({ close_id: close, terms }) => ({
          close: CloseNumber.make(numberOf(close)),
          period: readPeriod(terms),
          revisions: revisions.filter(({ close_id }) => numberOf(close_id) === numberOf(close)).map((row) => {
            const sum = totals.get(idOf(row))
            return {
              revision: idOf(row),
              isVoid: row["kind"] === "void" || row["kind"] === "mistake",
              cost: sum?.cost ?? 0,
              tips: sum?.tips ?? 0
            }
          })
        }))
      }
    }).pipe(Effect.mapError(failedWith(company, "what the copy holds cannot be read")))
  })
