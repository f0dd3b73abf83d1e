/** Loads and commits: rows and checkpoint in one transaction, whose first statement is the compare-and-set. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type { CompanyId } from "../Ids.ts"
import type { Batch, Committed, Gone } from "../sync/Batch.ts"
import { type Checkpoint, checkpointText, readCanonical } from "../sync/Checkpoint.ts"
import { isTooManyGone, superseded, type SyncError, tooManyGone, unreadable } from "../sync/SyncError.ts"
import { failedWith, retried, transact } from "./connection.ts"
import {
  type Dialect,
  numberOf,
  orUndefined,
  parametersFor,
  type Rows,
  textOrUndefined,
  type Unclear
} from "./Dialect.ts"

/** The checkpoint of a company in the row that holds it; NULL where only an error was noted. */
export const checkpointOf = (
  stored: unknown,
  company: CompanyId
): Effect.Effect<Option.Option<Checkpoint>, SyncError> => {
  const text = textOrUndefined(stored)
  return text === undefined
    ? Effect.succeedNone
    : Effect.fromResult(Result.mapBoth(readCanonical(text, company), {
      onFailure: (why) => unreadable(company, why),
      onSuccess: Option.some
    }))
}

/** `beginsHistory`: whether the first commit of a company begins its history. One that has begun is kept in any case. */
export const makeStore = (sql: SqlClient, dialect: Dialect, beginsHistory: boolean) => {
  const { clock, clockAfter, integer, millisOf, placeholder, tables } = dialect
  const [one, two] = ([1, 2] as const).map((place) => placeholder(place, "bigint"))
  // Each commit has an instant later than the last one, also where a clock was set back: it orders the versions.
  const historyOf = (row: string) =>
    beginsHistory
      ? `history_since = coalesce(${row}history_since, ${clock}), history_last = ${clockAfter(`${row}history_last`)}`
      : `history_last = CASE WHEN ${row}history_since IS NOT NULL THEN ${clockAfter(`${row}history_last`)} END`
  const texts = {
    load: `SELECT checkpoint FROM ${tables.sync} WHERE company_id = ${one}`,
    // The row may be there without a checkpoint: an error was noted before the first commit.
    insert: `INSERT INTO ${tables.sync} AS s (company_id, checkpoint, history_since, history_last) VALUES (${one}, ${
      placeholder(2, "text")
    }, ${
      beginsHistory ? `${clock}, ${clock}` : "NULL, NULL"
    }) ON CONFLICT (company_id) DO UPDATE SET checkpoint = excluded.checkpoint, ${
      historyOf("s.")
    } WHERE s.checkpoint IS NULL RETURNING ${millisOf("history_last")} AS history_last`,
    update: `UPDATE ${tables.sync} SET checkpoint = ${placeholder(1, "text")}, ${
      historyOf("")
    } WHERE company_id = ${two} AND checkpoint = ${placeholder(3, "text")} RETURNING ${
      millisOf("history_last")
    } AS history_last`,
    clearError:
      `UPDATE ${tables.sync} SET error_at = NULL, error_tag = NULL, error_text = NULL WHERE company_id = ${one}`,
    lowerStamps: `UPDATE ${tables.rows} SET pass = 0 WHERE company_id = ${one} AND pass >= ${two}`
  }

  const textOf = makeTexts()

  const readText = (company: CompanyId) =>
    Effect.map(sql.unsafe<Row>(texts.load, [integer(company)]), ([row]) => row?.checkpoint)

  /** `None` where the stored checkpoint was not the expected one. Else it is the new one, and this the instant of the commit. */
  const exchange = (company: CompanyId, previous: Option.Option<Checkpoint>, text: string) =>
    Effect.map(
      Option.isNone(previous)
        ? sql.unsafe<Row>(texts.insert, [integer(company), text])
        : sql.unsafe<Row>(texts.update, [text, integer(company), textOf(previous.value)]),
      (rows) => Option.map(Arr.head(rows), (row) => orUndefined(row.history_last))
    )

  const markGone = Effect.fnUntraced(function*(company: CompanyId, gone: Gone, at: number | undefined) {
    const count = parametersFor(dialect)
    const [found] = yield* sql.unsafe<Row>(
      `SELECT count(*) AS present, coalesce(sum(CASE WHEN pass < ${
        count.placeholder("bigint", gone.before)
      } THEN 1 ELSE 0 END), 0) AS missing FROM ${tables.rows} WHERE company_id = ${
        count.placeholder("bigint", company)
      } AND gone_at IS NULL${isWithin(gone.window, count)}`,
      count.parameters
    )
    const missing = numberOf(found?.missing)
    const present = numberOf(found?.present)
    if (!gone.accepted && isTooManyGone(missing, present))
      return yield* Effect.fail(tooManyGone(company, missing, present))
    if (missing === 0) return 0
    const mark = parametersFor(dialect)
    const goneAt = `gone_at = ${mark.placeholder("timestamptz", yield* Clock.currentTimeMillis)}`
    const set = at === undefined ? goneAt : `${goneAt}, valid_from = ${mark.placeholder("timestamptz", at)}`
    yield* sql.unsafe<Row>(
      `UPDATE ${tables.rows} SET ${set} WHERE company_id = ${mark.placeholder("bigint", company)} AND pass < ${
        mark.placeholder("bigint", gone.before)
      } AND gone_at IS NULL${isWithin(gone.window, mark)}`,
      mark.parameters
    )
    return missing
  })

  /** All of a commit but BEGIN and COMMIT. */
  const write = Effect.fnUntraced(function*(
    batch: Batch,
    previous: Option.Option<Checkpoint>,
    text: string,
    isExact: boolean
  ) {
    const { checkpoint, company, kind, pass } = batch
    const exchanged = yield* exchange(company, previous, text)
    if (Option.isNone(exchanged)) return yield* Effect.fail(superseded(company))
    const at = exchanged.value
    if (isCompleted(checkpoint, previous)) yield* sql.unsafe<Row>(texts.clearError, [integer(company)])
    if (kind === "sweep" && Option.exists(previous, (previous) => previous.pass < pass)) {
      // A stamp that is not lower than the number of a sweep would hide a row that is gone.
      yield* sql.unsafe<Row>(texts.lowerStamps, [integer(company), integer(pass)])
    }
    const rows = rowsOf(batch, isExact, at)
    const { count, oldestModified } = yield* dialect.write(sql, rows)
    const gone = Option.isSome(batch.gone) ? yield* markGone(company, batch.gone.value, at) : 0
    return {
      written: count,
      unchanged: rows.punches.length - count,
      gone,
      oldestModified: Option.map(Option.fromUndefinedOr(oldestModified), (millis) => DateTime.makeUnsafe(millis))
    } satisfies Committed
  })

  return {
    load: (company: CompanyId): Effect.Effect<Option.Option<Checkpoint>, SyncError> =>
      retried(readText(company)).pipe(
        Effect.mapError(failedWith(company, "the checkpoint cannot be read")),
        Effect.flatMap((stored) => checkpointOf(stored, company))
      ),
    commit: (batch: Batch, previous: Option.Option<Checkpoint>): Effect.Effect<Committed, SyncError> =>
      Effect.suspend(() => {
        const text = textOf(batch.checkpoint)
        // What an attempt did, once there was nothing left but its COMMIT.
        let done: Committed | undefined
        const attempt = (isExact: boolean): Effect.Effect<Committed, SyncError | SqlError | Unclear> => {
          const isStored = Effect.map(readText(batch.company), (stored) => stored === text)
          return transact(
            sql,
            dialect.name,
            Effect.gen(function*() {
              if (done !== undefined && (yield* isStored)) return done
              const written = yield* Effect.result(write(batch, previous, text, isExact))
              if (Result.isFailure(written)) {
                // The COMMIT of the attempt before may have ended only now, while this one waited for the checkpoint.
                const isSuperseded = written.failure._tag === "SyncError" && written.failure.reason === "Superseded"
                if (done !== undefined && isSuperseded && (yield* isStored)) return done
                return yield* Effect.fail(written.failure)
              }
              done = written.success
              return done
            }),
            () => done !== undefined
          )
        }
        return attempt(false).pipe(
          Effect.catchTag("Unclear", () => Effect.catchTag(attempt(true), "Unclear", Effect.die)),
          Effect.mapError(failedWith(batch.company, "the batch cannot be stored"))
        )
      })
  }
}

/** The condition of a window, behind others. */
const isWithin = ({ gte, lt }: Gone["window"], { placeholder }: ReturnType<typeof parametersFor>): string =>
  (gte === undefined ? "" : ` AND clocked_in >= ${placeholder("timestamptz", gte.epochMilliseconds)}`) +
  (lt === undefined ? "" : ` AND clocked_in < ${placeholder("timestamptz", lt.epochMilliseconds)}`)

/** The text of a checkpoint, which most commits need twice: the next one replaces it. */
const makeTexts = () => {
  const texts = new WeakMap<Checkpoint, string>()
  return (checkpoint: Checkpoint): string => {
    const text = texts.get(checkpoint) ?? checkpointText(checkpoint)
    texts.set(checkpoint, text)
    return text
  }
}

/** A pass ended with this checkpoint. Where its cursors were lost, it did not. */
const isCompleted = ({ completedAt }: Checkpoint, previous: Option.Option<Checkpoint>): boolean =>
  millisOf(completedAt) !== millisOf(Option.flatMap(previous, ({ completedAt }) => completedAt))

const millisOf = (instant: Option.Option<DateTime.Utc>) =>
  Option.getOrUndefined(Option.map(instant, ({ epochMilliseconds }) => epochMilliseconds))

/** The last row of a key wins. */
const rowsOf = ({ company, kind, pass, punches }: Batch, isExact: boolean, at: number | undefined): Rows => ({
  company,
  pass,
  punches: [...new Map(punches.map((punch) => [punch.id, punch])).values()].toSorted((one, other) => one.id - other.id),
  isStamping: kind !== "increment",
  isExact,
  at
})
