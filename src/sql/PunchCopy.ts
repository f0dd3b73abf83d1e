/** What a copy says: its punches, what changed in them, how far it is; and what is forgotten of it. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { numberOf, orUndefined, textOrUndefined } from "../internal/sql/dialect.ts"
import { durably, retried, transact } from "../internal/sql/transaction.ts"
import { readStored } from "../sync/SyncError.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { storable } from "./columns.ts"
import { companyIdOf, failedWith, opened } from "./connection.ts"
import type { CopyStatus, ErrorToRecord } from "./CopyStatus.ts"
import { knownColumns, knownOf } from "./known.ts"
import { unknownIn } from "./store.ts"
export { feed, feedPosition } from "./feed.ts"
export { changes, pruneHistory } from "./history.ts"
export { list } from "./read.ts"

/**
 * Says how far the copy of a company is. Fails with `Store` if there are no tables, and with `Checkpoint` if the
 * checkpoint cannot be read.
 */
export const status = (of: CompanyId | Company): Effect.Effect<CopyStatus, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    const database = yield* opened(company)
    const { dialect: { bigint, millisOf, tables }, sql } = database
    // One statement, so that the counts are those of the checkpoint.
    const [row] = yield* retried(
      sql`SELECT c.total, c.deleted, c.missing, s.checkpoint, s.unknown, s.error_tag, s.error_text,
        ${millisOf("s.error_at")} AS error_at,
        ${knownColumns(database)}
      FROM (
        SELECT count(*) AS total,
          coalesce(sum(CASE WHEN deleted THEN 1 ELSE 0 END), 0) AS deleted,
          coalesce(sum(CASE WHEN missing_at IS NULL THEN 0 ELSE 1 END), 0) AS missing
        FROM ${tables.rows} WHERE company_id = ${bigint(company)}
      ) AS c LEFT JOIN ${tables.sync} AS s ON s.company_id = ${bigint(company)}`
    ).pipe(Effect.mapError(failedWith(company, "the status cannot be read")))
    const lastError = Option.map(Option.fromUndefinedOr(orUndefined(row?.["error_at"])), (at) => ({
      at: DateTime.makeUnsafe(at),
      tag: textOrUndefined(row?.["error_tag"]) ?? "",
      text: textOrUndefined(row?.["error_text"]) ?? ""
    }))
    const known = knownOf(row)
    return {
      checkpoint: yield* readStored(company, row?.["checkpoint"]),
      rows: numberOf(row?.["total"]),
      deleted: numberOf(row?.["deleted"]),
      missing: numberOf(row?.["missing"]),
      lastError,
      history: Option.map(Option.fromUndefinedOr(known.since), (since) => ({
        since: DateTime.makeUnsafe(since),
        last: DateTime.makeUnsafe(known.last)
      })),
      unknown: unknownIn(row?.["unknown"])
    }
  })

/**
 * Erases the copy of a company: its rows, its history, its checkpoint, its last error. A sync that has stored a page, or a
 * claim, fails with `Superseded` at its next commit and stores nothing more. A first load that has stored neither looks
 * like one that begins later, and loads a new copy. A database may keep the erased content in free pages until it is
 * vacuumed.
 */
export const purge = (of: CompanyId | Company): Effect.Effect<void, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    const database = yield* opened(company)
    const { dialect: { bigint, tables }, sql } = database
    // In the order of a commit, so that the two never wait for each other. The first one holds up every commit, also one that
    // begins a copy: its rows would go, and its checkpoint stay. A history ends before its row may go.
    const erase = Effect.gen(function*() {
      yield* sql`INSERT INTO ${tables.sync} (company_id) VALUES (${bigint(company)})
        ON CONFLICT (company_id) DO UPDATE SET history_since = NULL, history_last = NULL, known_since = NULL`
      for (const table of [tables.sync, tables.rows, tables.history]) {
        yield* sql`DELETE FROM ${table} WHERE company_id = ${bigint(company)}`
      }
    })
    yield* transact(database, durably(database, erase)).pipe(
      Effect.mapError(failedWith(company, "the copy cannot be erased"))
    )
  })

/** Characters of an error that are kept. */
const mostText = 2000

/** Keeps the error that a sync ended with, for `status`. The next complete sync run clears it. */
export const recordError = (
  of: CompanyId | Company,
  error: ErrorToRecord
): Effect.Effect<void, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    const { dialect: { bigint, tables, timestamp }, sql } = yield* opened(company)
    const now = timestamp(yield* Clock.currentTimeMillis)
    const text = storable(error.message.slice(0, mostText))
    yield* retried(
      sql`INSERT INTO ${tables.sync} (company_id, error_at, error_tag, error_text)
      VALUES (${bigint(company)}, ${now}, ${storable(error._tag)}, ${text})
      ON CONFLICT (company_id) DO UPDATE
      SET error_at = excluded.error_at, error_tag = excluded.error_tag, error_text = excluded.error_text`
    ).pipe(Effect.mapError(failedWith(company, "the error cannot be recorded")))
  })
