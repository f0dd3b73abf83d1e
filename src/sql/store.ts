/** Loads and commits: rows and checkpoint in one transaction, whose first statement is the compare-and-set. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { CompanyId } from "../Ids.ts"
import { type Database, numberOf, orUndefined, raw } from "../internal/sql/dialect.ts"
import { awaited, retried, transact } from "../internal/sql/transaction.ts"
import { unknownOf } from "../internal/wire/unknown.ts"
import type { Batch, Committed, Missing } from "../sync/Batch.ts"
import { type Checkpoint, checkpointText } from "../sync/Checkpoint.ts"
import { isTooManyMissing, readStored, superseded, type SyncError, tooManyMissing } from "../sync/SyncError.ts"
import { failedWith } from "./connection.ts"
import type { AmbiguousWrite, BatchRows, Dialect } from "./Dialect.ts"

/** `beginsHistory`: whether the first commit of a company begins its history. One that has begun is kept in any case. */
export const makeStore = (database: Database<Dialect>, beginsHistory: boolean) => {
  const { dialect, sql } = database
  const { bigint, clock, clockAfter, millisOf, tables, timestamp } = dialect

  const readText = (company: CompanyId) =>
    Effect.map(
      sql`SELECT checkpoint FROM ${tables.sync} WHERE company_id = ${bigint(company)}`,
      ([row]) => row?.["checkpoint"]
    )

  // Each commit has an instant later than the last one, also if a clock was set back: it orders the versions.
  const historyOf = (table: string) =>
    beginsHistory
      ? sql`history_since = coalesce(${raw(`${table}.history_since`)}, ${clock}), history_last = ${
        clockAfter(`${table}.history_last`)
      }`
      : sql`history_last = CASE WHEN ${raw(`${table}.history_since`)} IS NOT NULL THEN ${
        clockAfter(`${table}.history_last`)
      } END`
  const changesHistory = historyOf("s")
  const firstInstant = beginsHistory ? clock : raw("NULL")
  const returnsInstant = sql`RETURNING ${millisOf("history_last")} AS history_last,
    CASE WHEN known_since IS NULL THEN 0 ELSE 1 END AS is_known`

  /**
   * `None` if the stored checkpoint was not the expected one. Else it is the new one; `at` is the instant of the commit if the
   * history of the company has begun.
   */
  const exchange = (company: CompanyId, previous: Option.Option<Checkpoint>, text: string) =>
    Effect.map(
      Option.isNone(previous)
        // The row may be there without a checkpoint: an error was noted before the first commit.
        ? sql`INSERT INTO ${tables.sync} AS s (company_id, checkpoint, history_since, history_last)
          VALUES (${bigint(company)}, ${text}, ${firstInstant}, ${firstInstant})
          ON CONFLICT (company_id) DO UPDATE SET checkpoint = excluded.checkpoint, ${changesHistory}
          WHERE s.checkpoint IS NULL ${returnsInstant}`
        : sql`UPDATE ${tables.sync} AS s SET checkpoint = ${text}, ${changesHistory}
          WHERE company_id = ${bigint(company)} AND checkpoint = ${checkpointText(previous.value)} ${returnsInstant}`,
      (rows) =>
        Option.map(Arr.head(rows), (row) => ({
          at: orUndefined(row["history_last"]),
          isKnown: orUndefined(row["is_known"]) === 1
        }))
    )

  const noteBegan = (company: CompanyId, began: DateTime.Utc) =>
    sql`UPDATE ${tables.sync}
      SET pass_began = ${timestamp(began.epochMilliseconds)}
      WHERE company_id = ${bigint(company)}`

  /** A first load replaces what was kept with its first batch. Every other one adds. */
  const noteUnknown = Effect.fnUntraced(function*(batch: Batch, previous: Option.Option<Checkpoint>) {
    const { companyId: company, kind, pass, unknown: found } = batch
    const begins = kind === "first" && !Option.exists(previous, (previous) => previous.pass === pass)
    if (Option.isNone(found) || (!begins && found.value.length === 0)) return
    const before = begins ? [] : yield* readUnknown(database, company)
    const paths = unknownOf(before, found.value)
    if (!begins && paths.length === before.length) return
    const text = paths.length === 0 ? raw("NULL") : sql`${JSON.stringify(paths)}`
    yield* sql`UPDATE ${tables.sync}
      SET unknown = ${text}
      WHERE company_id = ${bigint(company)}`
  })

  const clearError = (company: CompanyId) =>
    sql`UPDATE ${tables.sync}
      SET error_at = NULL, error_tag = NULL, error_text = NULL
      WHERE company_id = ${bigint(company)}`

  const knowFromNow = (company: CompanyId) =>
    sql`UPDATE ${tables.sync}
      SET known_since = history_last, history_since = history_last
      WHERE company_id = ${bigint(company)}`

  const lowerStamps = (company: CompanyId, pass: number) =>
    sql`UPDATE ${tables.rows}
      SET pass = 0
      WHERE company_id = ${bigint(company)} AND pass >= ${bigint(pass)}`

  const markMissing = Effect.fnUntraced(function*(company: CompanyId, missing: Missing, at: number | undefined) {
    const { gte, lt } = missing.window
    const isInWindow = sql.and([
      sql`company_id = ${bigint(company)} AND missing_at IS NULL`,
      ...(gte === undefined ? [] : [sql`clocked_in >= ${timestamp(gte.epochMilliseconds)}`]),
      ...(lt === undefined ? [] : [sql`clocked_in < ${timestamp(lt.epochMilliseconds)}`])
    ])
    const isUnseen = sql`pass < ${bigint(missing.before)}`
    const [found] = yield* sql`SELECT count(*) AS present, count(*) FILTER (WHERE ${isUnseen}) AS missing
      FROM ${tables.rows}
      WHERE ${isInWindow}`
    const count = numberOf(found?.["missing"])
    const present = numberOf(found?.["present"])
    if (!missing.allowed && isTooManyMissing(count, present))
      return yield* tooManyMissing(company, count, present)
    if (count === 0) return 0
    const keepsVersion = at === undefined ? raw("") : sql`, valid_from = ${timestamp(at)}`
    yield* sql`UPDATE ${tables.rows}
      SET missing_at = ${timestamp(yield* Clock.currentTimeMillis)}${keepsVersion}
      WHERE ${isInWindow} AND ${isUnseen}`
    return count
  })

  /** All of a commit but BEGIN and COMMIT. */
  const write = Effect.fnUntraced(function*(
    batch: Batch,
    previous: Option.Option<Checkpoint>,
    text: string,
    isExact: boolean
  ) {
    const { checkpoint, companyId: company, kind, pass } = batch
    const exchanged = yield* exchange(company, previous, text)
    if (Option.isNone(exchanged)) return yield* superseded(company)
    const { at, isKnown } = exchanged.value
    // From the end of a first load on, the copy is whole at every commit.
    if (at !== undefined && !isKnown && Option.isSome(checkpoint.completedAt)) yield* knowFromNow(company)
    if (isCompleted(checkpoint, previous)) yield* clearError(company)
    if (Option.isSome(batch.began)) yield* noteBegan(company, batch.began.value)
    yield* noteUnknown(batch, previous)
    // A stamp that is not lower than the number of a sweep would hide that a row is missing.
    if (kind === "sweep" && Option.exists(previous, (previous) => previous.pass < pass)) {
      yield* lowerStamps(company, pass)
    }
    const rows = rowsOf(batch, isExact, at)
    const { count, oldestModified } = yield* dialect.write(sql, rows)
    const missing = Option.isSome(batch.missing) ? yield* markMissing(company, batch.missing.value, at) : 0
    return {
      written: count,
      unchanged: rows.punches.length - count,
      missing,
      oldestModified: Option.map(Option.fromUndefinedOr(oldestModified), (millis) => DateTime.makeUnsafe(millis))
    } satisfies Committed
  })

  return {
    load: (company: CompanyId): Effect.Effect<Option.Option<Checkpoint>, SyncError> =>
      retried(awaited(readText(company))).pipe(
        Effect.mapError(failedWith(company, "the checkpoint cannot be read")),
        Effect.flatMap((stored) => readStored(company, stored))
      ),
    commit: (batch: Batch, previous: Option.Option<Checkpoint>): Effect.Effect<Committed, SyncError> =>
      Effect.suspend(() => {
        const text = checkpointText(batch.checkpoint)
        // What an attempt did, once there was nothing left but its COMMIT.
        let done: Committed | undefined
        const attempt = (isExact: boolean): Effect.Effect<Committed, SyncError | SqlError | AmbiguousWrite> => {
          const isStored = Effect.map(readText(batch.companyId), (stored) => stored === text)
          return transact(
            database,
            Effect.gen(function*() {
              if (done !== undefined && (yield* isStored)) return done
              const written = yield* Effect.result(write(batch, previous, text, isExact))
              if (Result.isFailure(written)) {
                // The COMMIT of the attempt before may have ended only now, while this one waited for the checkpoint.
                const isSuperseded = written.failure._tag === "SyncError" &&
                  written.failure.reason._tag === "Superseded"
                if (done !== undefined && isSuperseded && (yield* isStored)) return done
                return yield* written.failure
              }
              done = written.success
              return done
            }),
            () => done !== undefined
          )
        }
        return attempt(false).pipe(
          Effect.catchTag("AmbiguousWrite", () => Effect.catchTag(attempt(true), "AmbiguousWrite", Effect.die)),
          Effect.mapError(failedWith(batch.companyId, "the batch cannot be stored"))
        )
      })
  }
}

const readUnknown = ({ dialect: { bigint, tables }, sql }: Database<Dialect>, company: CompanyId) =>
  Effect.map(
    sql`SELECT unknown FROM ${tables.sync} WHERE company_id = ${bigint(company)}`,
    ([row]) => unknownIn(row?.["unknown"])
  )

const decodePaths = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(Schema.String)))

/** The paths in the column of a sync, without those that this version knows. A text that was edited by hand has none. */
export const unknownIn = (stored: unknown): ReadonlyArray<string> =>
  unknownOf(Option.getOrElse(decodePaths(stored), () => []))

/** A pass ended with this checkpoint. If its cursors were lost, it did not. */
const isCompleted = ({ completedAt }: Checkpoint, previous: Option.Option<Checkpoint>): boolean =>
  millisOf(completedAt) !== millisOf(Option.flatMap(previous, ({ completedAt }) => completedAt))

const millisOf = (instant: Option.Option<DateTime.Utc>) =>
  Option.getOrUndefined(Option.map(instant, ({ epochMilliseconds }) => epochMilliseconds))

/** The last row of a key wins. */
const rowsOf = (
  { companyId: company, kind, pass, punches }: Batch,
  isExact: boolean,
  at: number | undefined
): BatchRows => ({
  company,
  pass,
  punches: [...new Map(punches.map((punch) => [punch.id, punch])).values()].toSorted((one, other) => one.id - other.id),
  isStamping: kind !== "increment",
  isExact,
  at
})
