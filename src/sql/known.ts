/** Since when the past of a copy is known, by the row of its sync; and the error where it is not. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { CompanyId } from "../Ids.ts"
import { type Database, numberOf, orUndefined, raw } from "../internal/sql/dialect.ts"
import { Instant } from "../internal/wire/schema.ts"
import type { Dialect } from "./Dialect.ts"

/**
 * The copy at that instant is not known: no history was kept, its first load ended later, its older part was pruned,
 * or rows were removed by hand since.
 */
export class HistoryUnavailable
  extends Schema.TaggedError<HistoryUnavailable>("effect-time-punches/sql/HistoryUnavailable")("HistoryUnavailable", {
    /** The company of the copy. */
    companyId: CompanyId,
    /** The first instant at which the copy is known; `None`: no history is kept, or the first load has not ended. */
    since: Schema.OptionFromNullOr(Instant),
    /** The `since` that was requested. */
    requested: Instant
  })
{
  /** Whether the history of that time is known and has no such commit. */
  get isForeign(): boolean {
    return Option.exists(this.since, (since) => since.epochMilliseconds <= this.requested.epochMilliseconds)
  }

  /** Whether the same call may succeed later with nothing changed. */
  get isRetryable(): boolean {
    return false
  }

  /** Since when the copy is known, and how to begin a history. */
  override get message(): string {
    const known = Option.match(this.since, {
      onNone: () =>
        "no history is known: SqlStore.layer({ history: true }) keeps one from the end of the first load on",
      onSome: (since) =>
        this.isForeign
          ? "no such commit is in this copy: it is of another database, this one was restored from a backup, or it is a replica that is behind"
          : `its history is known since ${DateTime.formatIso(since)}`
    })
    return `the copy of ${DateTime.formatIso(this.requested)} is not known; ${known} [company ${this.companyId}]`
  }
}

/** @internal */
export type Known = ReturnType<typeof knownOf>

/** The columns of a sync that `knownOf` reads. @internal */
export const knownColumns = ({ dialect: { millisOf }, sql }: Database<Dialect>): Fragment =>
  sql`${millisOf("known_since")} AS known_since,
    ${millisOf("history_since")} AS history_since,
    ${millisOf("history_last")} AS history_last,
    ${millisOf("pass_began")} AS pass_began,
    CASE WHEN history_since IS NULL AND checkpoint IS NOT NULL THEN 0 ELSE 1 END AS may_begin`

/**
 * What the row of a sync says of the past of its copy; without one nothing is there yet. Instants are in milliseconds, by the clock
 * of the database. @internal
 */
export const knownOf = (row: Row | undefined) => ({
  /** Since when the copy is known; `undefined`: no history is kept, or the first load has not ended. */
  since: orUndefined(row?.["known_since"]),
  /** Since when no row went without a version, whatever was pruned; 0 without a history. */
  unbroken: numberOf(row?.["history_since"] ?? 0),
  /** The last commit of the history; 0 without one. */
  last: numberOf(row?.["history_last"] ?? 0),
  /** When the last complete pass began, by the service's clock. */
  passBegan: orUndefined(row?.["pass_began"]),
  /** Whether a history begins or has begun, or nothing is there yet. */
  mayBegin: row === undefined || numberOf(row["may_begin"]) === 1
})

/** What is known of the past of a company. `lock` holds up its commits until the transaction ends. @internal */
export const readKnown = (
  database: Database<Dialect>,
  company: CompanyId,
  lock: Fragment = raw("")
): Effect.Effect<Known, SqlError> => {
  const { dialect: { bigint, tables }, sql } = database
  return Effect.map(
    sql<Row>`SELECT ${knownColumns(database)} FROM ${tables.sync} WHERE company_id = ${bigint(company)} ${lock}`,
    ([row]) => knownOf(row)
  )
}

/** The copy of an instant is not known; without one, the copy of now. @internal */
export const unavailable = Effect.fnUntraced(
  function*(companyId: CompanyId, { since }: Pick<Known, "since">, requested?: DateTime.DateTime) {
    return yield* new HistoryUnavailable({
      companyId,
      since: Option.map(Option.fromUndefinedOr(since), (millis) => DateTime.makeUnsafe(millis)),
      requested: requested === undefined ? yield* DateTime.now : DateTime.toUtc(requested)
    })
  }
)

/** Fails if the copy of an instant is not known. @internal */
export const requireKnown = Effect.fnUntraced(
  function*(database: Database<Dialect>, company: CompanyId, requested: DateTime.DateTime) {
    const known = yield* readKnown(database, company)
    if (known.since === undefined || requested.epochMilliseconds < known.since) {
      return yield* unavailable(company, known, requested)
    }
  }
)
