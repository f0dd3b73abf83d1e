/** Reads the punches of a period that a commit changed since an instant, as they were and as they are. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { CompanyId } from "../Ids.ts"
import type { Interval } from "../Interval.ts"
import type * as Labor from "../Labor.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { type Changes, type ChangesOptions, HistoryUnknown } from "./changes/Changes.ts"
import { compare, type Pair, type State, windowOf } from "./changes/compare.ts"
import type { Dialect } from "./dialect/Dialect.ts"
import { parametersFor } from "./dialect/parameters.ts"
import { numberOf, orUndefined } from "./dialect/result.ts"
import { punchOf, rowColumns, rowOf } from "./rows.ts"
import { failedWith } from "./sqlFailure.ts"
import { opened, type TableOptions } from "./TableOptions.ts"
import { retried } from "./transaction.ts"

/**
 * What changed in a period since an instant, such as the one at which it was closed: each punch that is not what it was, and
 * for each person the sums now less the sums then. It is read at one moment; a commit in between does not mix.
 *
 * Law: the sums of the punches that counted at that instant, plus the differences, are the sums of those that count now, for
 * every person.
 *
 * Fails with `HistoryUnknown` where the copy of that instant is not known; with the error of `zone` for a location without
 * one; with `Store` where a row is no punch.
 *
 * **Example** (What changed since the week was closed)
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { BusinessDate, CompanyId, Period } from "effect-time-punches"
 * import { SqlStore } from "effect-time-punches/sql"
 *
 * export const changes = SqlStore.changes(CompanyId.make(7), {
 *   zone: DateTime.zoneMakeNamedUnsafe("America/New_York"),
 *   period: (zone) => Period.week(zone, BusinessDate.make("2026-03-09")),
 *   since: DateTime.makeUnsafe("2026-03-17T09:00:00Z"),
 *   rounding: "halfUp"
 * })
 * ```
 *
 * @since 0.1.0
 */
export const changes = <E = never>(
  company: CompanyId,
  options: ChangesOptions<E>,
  tableOptions: TableOptions = {}
): Effect.Effect<Changes, SyncError | HistoryUnknown | E | Labor.SumOverflow, SqlClient> =>
  Effect.gen(function*() {
    const { dialect, sql } = yield* opened(company, tableOptions)
    const { parameters, text } = changedRows(dialect, company, windowOf(options), options.since)
    const rows = yield* retried(sql.unsafe<Row>(text, parameters)).pipe(
      Effect.mapError(failedWith(company, "the history cannot be read"))
    )
    const since = orUndefined(rows[0]?.["known_since"])
    if (since === undefined || options.since.epochMilliseconds < since) {
      return yield* new HistoryUnknown({
        companyId: company,
        since: Option.map(Option.fromUndefinedOr(since), (millis) => DateTime.makeUnsafe(millis)),
        asked: DateTime.toUtc(options.since)
      })
    }
    const pairs = yield* Effect.fromResult(pairsOf(company, rows))
    return yield* Effect.fromResult(compare(pairs, options))
  })

/**
 * One statement, which sees one state of the database: since when the history is known, and every row that a commit replaced
 * since then and that lies in the window or did so, with its version of then.
 */
const changedRows = (dialect: Dialect, company: CompanyId, { gte, lt }: Interval, since: DateTime.DateTime) => {
  const { millisOf, tables } = dialect
  const { parameters, placeholder } = parametersFor(dialect)
  const isOurs = () => `company_id = ${placeholder("bigint", company)}`
  const instant = ({ epochMilliseconds }: DateTime.DateTime) => placeholder("timestamptz", epochMilliseconds)
  const inWindow = () => `clocked_in >= ${instant(gte)} AND clocked_in < ${instant(lt)}`
  const wasThen = () => `valid_to > ${instant(since)} AND (valid_from IS NULL OR valid_from <= ${instant(since)})`
  const text = `WITH changed AS (
SELECT id FROM ${tables.rows} WHERE ${isOurs()} AND ${inWindow()} AND valid_from > ${instant(since)}
UNION SELECT id FROM ${tables.history} WHERE ${isOurs()} AND ${inWindow()} AND ${wasThen()}
) SELECT ${millisOf("s.history_since")} AS known_since, states.* FROM ${tables.sync} AS s LEFT JOIN (
SELECT 1 AS is_now, ${rowColumns(dialect)} FROM ${tables.rows} WHERE ${isOurs()} AND id IN (SELECT id FROM changed)
UNION ALL SELECT 0, ${
    rowColumns(dialect)
  } FROM ${tables.history} WHERE ${isOurs()} AND id IN (SELECT id FROM changed) AND ${wasThen()}
) AS states ON true WHERE s.${isOurs()}`
  return { text, parameters }
}

/** The states of each row, by id. A row is never removed but with all others of its company. */
const pairsOf = (company: CompanyId, rows: ReadonlyArray<Row>): Result.Result<ReadonlyArray<Pair>, SyncError> => {
  const then = new Map<number, State>()
  const now = new Map<number, State>()
  for (const row of rows) {
    if (row["id"] === null) continue
    const stored = rowOf(row)
    const punch = punchOf(company, stored)
    if (Result.isFailure(punch)) return Result.fail(punch.failure)
    const states = numberOf(row["is_now"]) === 1 ? now : then
    states.set(stored.id, { punch: punch.success, isGone: stored.isGone })
  }
  const byId = [...now].toSorted(([one], [other]) => one - other)
  return Result.succeed(byId.map(([id, after]) => ({ before: then.get(id), after })))
}
