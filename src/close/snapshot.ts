/** The copy below the closes, in one snapshot of its database, and how old it is. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Row } from "effect/sql/SqlConnection"
import { isSqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { CompanyId } from "../Ids.ts"
import type { Database } from "../internal/sql/dialect.ts"
import { retried } from "../internal/sql/transaction.ts"
import { failedWith, inOneState, opened } from "../sql/connection.ts"
import type { Dialect } from "../sql/Dialect.ts"
import { readKnown, unavailable } from "../sql/known.ts"
import { missedDeletions, readCheckpoint } from "../sync/Checkpoint.ts"

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
  /** Why it may have punches that were deleted; `undefined` if it has none as far as is known. */
  readonly missedDeletions: string | undefined
}

export const readCopy = Effect.fnUntraced(function*(database: Db, company: CompanyId) {
  const known = yield* readKnown(database, company)
  const { last, passBegan, since } = known
  if (since === undefined) return yield* unavailable(company, known)
  return {
    since: DateTime.makeUnsafe(since),
    at: DateTime.makeUnsafe(last),
    passBegan: passBegan === undefined ? undefined : DateTime.makeUnsafe(passBegan),
    missedDeletions: yield* readMissed(database, company)
  } satisfies Copy
})

/** A checkpoint that was set to NULL, or cannot be read, says nothing: the sync itself refuses it. */
const readMissed = ({ dialect: { bigint, tables }, sql }: Db, company: CompanyId) =>
  Effect.map(
    sql<Row>`SELECT checkpoint FROM ${tables.sync} WHERE company_id = ${bigint(company)}`,
    ([row]) => {
      const text = row?.["checkpoint"]
      return Predicate.isString(text)
        ? Option.getOrUndefined(
          Option.flatMapNullishOr(Result.getSuccess(readCheckpoint(text, company)), missedDeletions)
        )
        : undefined
    }
  )
