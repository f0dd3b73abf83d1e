/** Forgets the older part of a history. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { CompanyId } from "../Ids.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { parametersFor } from "./dialect/parameters.ts"
import { failedWith } from "./sqlFailure.ts"
import { opened, type TableOptions } from "./TableOptions.ts"
import { transact } from "./transaction.ts"

/**
 * Up to which instant a history is forgotten.
 *
 * @since 0.1.0
 */
export interface PruneOptions {
  /** The first instant that stays known. Later than the last commit: the last commit. */
  readonly before: DateTime.DateTime
}

/** Versions that one transaction removes, so that no sync waits for long. */
const chunkSize = 5000

/**
 * Removes the versions of a company that ended before an instant, and returns their number. The copy is then known since
 * that instant and no longer before it, which is stored with the first of them: where the call is interrupted, the next one
 * removes the rest. The rows and a company without a history stay as they are.
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
    const { name, tables } = dialect
    const move = parametersFor(dialect)
    const [later, earlier] = name === "sqlite" ? ["max", "min"] : ["greatest", "least"]
    const moveText = `UPDATE ${tables.sync} SET history_since = ${later}(history_since, ${earlier}(${
      move.placeholder("timestamptz", before.epochMilliseconds)
    }, history_last)) WHERE company_id = ${move.placeholder("bigint", company)} AND history_since IS NOT NULL`
    const remove = parametersFor(dialect)
    const removeText = `DELETE FROM ${tables.history} WHERE company_id = ${
      remove.placeholder("bigint", company)
    } AND (id, valid_to) IN (SELECT h.id, h.valid_to FROM ${tables.history} AS h JOIN ${tables.sync} AS s ON s.company_id = h.company_id WHERE h.company_id = ${
      remove.placeholder("bigint", company)
    } AND h.valid_to <= s.history_since LIMIT ${chunkSize}) RETURNING id`
    const removeChunk = Effect.andThen(
      sql.unsafe(moveText, move.parameters),
      Effect.map(sql.unsafe<Row>(removeText, remove.parameters), (rows) => rows.length)
    )
    let removed = 0
    while (true) {
      const count = yield* transact(sql, name, removeChunk).pipe(
        Effect.mapError(failedWith(company, "the history cannot be pruned"))
      )
      removed += count
      if (count < chunkSize) return removed
    }
  })
