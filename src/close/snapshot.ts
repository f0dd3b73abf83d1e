/** The copy below the closes, in one snapshot of its database, and how old it is. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Row } from "effect/sql/SqlConnection"
import { isSqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { CompanyId } from "../Ids.ts"
import { type Database, orUndefined } from "../internal/sql/dialect.ts"
import { retried } from "../internal/sql/transaction.ts"
import { failedWith, inOneState, opened } from "../sql/connection.ts"
import type { Dialect } from "../sql/Dialect.ts"
import { HistoryUnavailable } from "../sql/read.ts"

export type Db = Database<Dialect>

/** The tables of this release: a later one may record what this one would sum in another way. */
export const openedForCloses = (company: CompanyId) => opened(company, "none")

/**
 * Runs an effect whose statements all see one snapshot of the database, and again if the connection is lost: it only reads.
 * Readers leave the errors of their statements to it, and to `write`.
 */
export const inCopy = <A, E, R>(
  company: CompanyId,
  use: (database: Db) => Effect.Effect<A, E, R>
) =>
  retried(Stream.runHead(
    inOneState(
      Stream.fromEffect(Effect.flatMap(openedForCloses(company), use)),
      "none"
    )
  )).pipe(
    Effect.map(Option.getOrThrow),
    Effect.catchIf(isSqlError, (error) => Effect.fail(failedWith(company, "the copy cannot be read")(error)))
  )

/** What is read of the copy. */
export interface Copy {
  /** Since when its history is known. */
  readonly since: DateTime.Utc
  /** The instant of its last commit. */
  readonly at: DateTime.Utc
  /** When the last complete pass began, by the service's clock. */
  readonly passBegan: DateTime.Utc | undefined
}

export const readCopy = Effect.fnUntraced(function*({ dialect, sql }: Db, company: CompanyId) {
  const { bigint, millisOf, tables } = dialect
  const query = sql<Row>
  const [row] = yield* query`SELECT ${millisOf("known_since")} AS known_since,
      ${millisOf("history_last")} AS history_last,
      ${millisOf("pass_began")} AS pass_began
    FROM ${tables.sync}
    WHERE company_id = ${bigint(company)}`
  const [since, at, passBegan] = ["known_since", "history_last", "pass_began"].map((name) => orUndefined(row?.[name]))
  if (since === undefined || at === undefined) {
    return yield* new HistoryUnavailable({ companyId: company, since: Option.none(), requested: yield* DateTime.now })
  }
  return {
    since: DateTime.makeUnsafe(since),
    at: DateTime.makeUnsafe(at),
    passBegan: passBegan === undefined ? undefined : DateTime.makeUnsafe(passBegan)
  } satisfies Copy
})
