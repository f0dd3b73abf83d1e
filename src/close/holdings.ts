/** What `PunchCopy.purge` would erase of a company: its punches, its history, and its closes with their money. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Row } from "effect/sql/SqlConnection"
import type { CompanyId } from "../Ids.ts"
import { numberOf } from "../internal/sql/dialect.ts"
import { failedWith, opened } from "../sql/connection.ts"
import { CloseNumber } from "./ids.ts"
import * as RevisionName from "./RevisionName.ts"
import { nameOf, readTotals } from "./rows.ts"

/** What the copy holds of a company. */
export type Holdings = Effect.Success<ReturnType<typeof holdingsOf>>

export type HeldClose = Holdings["closes"][number]

const PeriodText = Schema.fromJsonString(Schema.Struct({ first: Schema.String, last: Schema.String }))

const readPeriod = Schema.decodeUnknownOption(PeriodText)

/**
 * Counts what the copy holds of a company. In a transaction no close is written until its end. It reads neither checkpoints nor
 * whole closes, so that a damaged copy can be erased too. @internal
 */
export const holdingsOf = (company: CompanyId) =>
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
        /** Whether it holds anything: a row, a close, or at least a checkpoint. */
        isCopy: known.length + punches + versions + closes.length > 0,
        punches,
        /** Versions that later ones have replaced. */
        versions,
        closes: closes.map(({ close_id: close, terms }) => ({
          close: CloseNumber.make(numberOf(close)),
          /** `None` if the terms of the close cannot be read. */
          period: readPeriod(terms),
          /** With the sums of their rows, in cents. A void has none. */
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
