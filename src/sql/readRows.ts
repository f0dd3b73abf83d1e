/** Reads the rows of a copy for a comparison with the service. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { CompanyId } from "../Ids.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { connect } from "./client.ts"
import { rowOf, selectRows, type StoredRow } from "./rows.ts"
import { failedWith } from "./sqlFailure.ts"
import { retried } from "./transaction.ts"

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
