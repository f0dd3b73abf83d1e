/** The closes of a company and what is known of the copy below them, read in one snapshot of its database. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Row } from "effect/sql/SqlConnection"
import { isSqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { retried } from "../internal/sql/transaction.ts"
import { companyIdOf, failedWith, inOneState, opened } from "../sql/connection.ts"
import { readKnown, unavailable } from "../sql/known.ts"
import { missedDeletions, readCheckpoint, versionsOf } from "../sync/Checkpoint.ts"
import type { CloseTerms } from "./CloseTerms.ts"
import { type ActiveClose, activeOf, type CloseTables, readCloses, type StoredClose } from "./rows.ts"

/** The closes of a company, as they were read. */
export interface Books extends CloseTables {
  /** In turn, with those that are over. */
  readonly all: ReadonlyArray<StoredClose>
  readonly active: ReadonlyArray<ActiveClose>
}

/** The same, with the copy below them. */
export interface CopiedBooks extends Books {
  readonly copy: Copy
}

/** What is read of the copy. */
type Copy = Effect.Success<ReturnType<typeof readCopy>>

/** The tables of this release: a later one may record what this one would sum in another way. */
export const openTables = (company: CompanyId) =>
  Effect.map(opened(company, "none"), (database): CloseTables => ({ company, database }))

export const readBooks = (tables: CloseTables) =>
  Effect.map(readCloses(tables), (all): Books => ({ ...tables, all, active: activeOf(all) }))

/**
 * Runs an effect whose statements all see one snapshot of the database, and again if the connection is lost: it only reads.
 * Readers leave the errors of their statements to it, and to `write`.
 */
export const inBooks = <A, E, R>(of: CompanyId | Company, use: (books: Books) => Effect.Effect<A, E, R>) => {
  const company = companyIdOf(of)
  return retried(Stream.runHead(
    inOneState(
      company,
      Stream.fromEffect(openTables(company).pipe(Effect.flatMap(readBooks), Effect.flatMap(use))),
      "none"
    )
  )).pipe(
    Effect.map(Option.getOrThrow),
    Effect.catchIf(isSqlError, (error) => Effect.fail(failedWith(company, "the copy cannot be read")(error)))
  )
}

/** The same, for a copy with a history. */
export const inCopiedBooks = <A, E, R>(of: CompanyId | Company, use: (books: CopiedBooks) => Effect.Effect<A, E, R>) =>
  inBooks(of, (books) => Effect.flatMap(readCopy(books), (copy) => use({ ...books, copy })))

const readCopy = Effect.fnUntraced(function*({ company, database }: CloseTables) {
  const known = yield* readKnown(database, company)
  const { last, passBegan, since } = known
  if (since === undefined) return yield* unavailable(company, known)
  return {
    /** Since when its history is known. */
    since: DateTime.makeUnsafe(since),
    /** The instant of its last commit. */
    at: DateTime.makeUnsafe(last),
    /** When the last complete pass began, by the service's clock. */
    passBegan: passBegan === undefined ? undefined : DateTime.makeUnsafe(passBegan),
    ...yield* readDoubts({ company, database })
  }
})

/** A checkpoint that was set to NULL, or cannot be read, says nothing: the sync itself refuses it. */
const readDoubts = ({ company, database: { dialect: { bigint, tables }, sql } }: CloseTables) =>
  Effect.map(
    sql<Row>`SELECT checkpoint FROM ${tables.sync} WHERE company_id = ${bigint(company)}`,
    ([row]) => {
      const text = row?.["checkpoint"]
      const checkpoint = Predicate.isString(text)
        ? Result.getOrUndefined(readCheckpoint(text, company))
        : undefined
      const versions = checkpoint && versionsOf(checkpoint)
      return {
        /** Why it may have punches that were deleted; `undefined` if it has none as far as is known. */
        missedDeletions: checkpoint && missedDeletions(checkpoint),
        /** Why its amounts may be in whole units; `undefined` if they are not as far as is known. */
        oldVersion: versions?.isRefused === true ? versions.warning : undefined,
        /** Fields that take away by their name, and that this release does not read. */
        marks: checkpoint?.marks ?? []
      }
    }
  )

/** Why the copy is too old for the close, or `undefined`. */
export const stalenessOf = (terms: CloseTerms, { passBegan }: Copy): string | undefined => {
  const end = Math.max(...terms.clocks.map(({ starts }) => starts.at(-1)?.epochMilliseconds ?? 0))
  if (passBegan !== undefined && passBegan.epochMilliseconds >= end) return undefined
  const ends = `the period ends ${DateTime.formatIso(DateTime.makeUnsafe(end))}`
  return passBegan === undefined
    ? `no sync run is complete, and ${ends}`
    : `the last complete sync run began ${DateTime.formatIso(passBegan)}, and ${ends}: run a sync`
}
