/** Forgets the older part of a history. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { CompanyId } from "../Ids.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { parametersFor } from "./dialect/parameters.ts"
import { numberOf } from "./dialect/result.ts"
import { failedWith } from "./sqlFailure.ts"
import { opened, type TableOptions } from "./TableOptions.ts"
import { transact } from "./transaction.ts"

/**
 * Up to which instant a history is forgotten.
 *
 * @since 0.1.0
 */
export interface PruneOptions {
  /** The first instant that stays known. An instant after the last commit is replaced by that of the last commit. */
  readonly before: DateTime.DateTime
}

/** Versions that one transaction removes, so that no sync waits for long. */
const chunkSize = 5000

/**
 * Removes the versions of a company that ended before an instant, and returns their number. The copy is then known since
 * that instant. This is stored together with the first removal: if the call is interrupted, the next call removes the rest.
 * It changes no row of the copy, and nothing of a company without a history.
 *
 * @since 0.1.0
 */
export const pruneHistory = (
  company: CompanyId,
  { before }: PruneOptions,
  tableOptions: TableOptions = {}
): Effect.Effect<number, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const { dialect, sql } = yield* opened(company, tableOptions)
    const { millisOf, name, tables } = dialect
    const isSqlite = name === "sqlite"
    const move = parametersFor(dialect)
    const [later, earlier] = isSqlite ? ["max", "min"] : ["greatest", "least"]
    const moveText = `UPDATE ${tables.sync} SET history_since = ${later}(history_since, ${earlier}(${
      move.placeholder("timestamptz", before.epochMilliseconds)
    }, history_last)) WHERE company_id = ${
      move.placeholder("bigint", company)
    } AND history_since IS NOT NULL RETURNING ${millisOf("history_since")} AS since`
    const removeChunk = Effect.gen(function*() {
      const [known] = yield* sql.unsafe<Row>(moveText, move.parameters)
      if (known === undefined) return 0
      // With the instant as a parameter and in the order of its index, or a database may read all versions for a few. A row
      // by its place, since those of one commit have one instant.
      const remove = parametersFor(dialect)
      const oldest = `SELECT ${isSqlite ? "rowid" : "ctid"} FROM ${tables.history} WHERE company_id = ${
        remove.placeholder("bigint", company)
      } AND valid_to <= ${
        remove.placeholder("timestamptz", numberOf(known["since"]))
      } ORDER BY valid_to LIMIT ${chunkSize}`
      const removed = yield* sql.unsafe<Row>(
        `DELETE FROM ${tables.history} WHERE ${
          isSqlite ? `rowid IN (${oldest})` : `ctid = ANY (ARRAY(${oldest}))`
        } RETURNING id`,
        remove.parameters
      )
      return removed.length
    })
    let removed = 0
    while (true) {
      const count = yield* transact(sql, name, removeChunk).pipe(
        Effect.mapError(failedWith(company, "the history cannot be pruned"))
      )
      removed += count
      if (count < chunkSize) return removed
    }
  })
