/** The record as it is read: closes and revisions by their names, and the files of a revision that were written out. */
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { SqlClient } from "effect/sql/SqlClient"
import type { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { type Checks, isText, must, optional, orFail, refusalOf } from "../payroll/options.ts"
import { companyIdOf } from "../sql/connection.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { type Books, inBooks, openTables } from "./books.ts"
import { notFound, refusal, type UnknownClose, voidedBy } from "./CloseError.ts"
import type * as CloseTerms from "./CloseTerms.ts"
import { insertFile, readFiles } from "./files.ts"
import type { CloseNumber, RevisionId } from "./ids.ts"
import {
  type ActiveRevision,
  activeRevisions,
  type ClosedPeriod,
  getPrevious,
  getVoid,
  type RecordedRevision
} from "./Revision.ts"
import * as RevisionName from "./RevisionName.ts"
import { type CloseTables, readTotals, recorded, type StoredClose, type Totals } from "./rows.ts"
import type { WriteOptions } from "./write.ts"
import type { FileForm, WrittenFile } from "./WrittenFile.ts"

/** The closes of a company, each with all its revisions and sums. `totals` reads no rows: it is for a list of many closes. */
export const list = (
  of: CompanyId | Company
): Effect.Effect<ReadonlyArray<ClosedPeriod>, SyncError, SqlClient> =>
  inBooks(of, (books) => Effect.forEach(books.all, (each) => withSums(books, each)))

/** A revision without its rows, and what they add up to. */
export interface RevisionTotals extends Omit<RecordedRevision, "rows"> {
  /** What its rows add up to. */
  readonly totals: Totals
}

/** A close with the totals of its revisions. */
export interface ClosedTotals extends Omit<ClosedPeriod, "revisions"> {
  /** Its revisions, voids too, in the order in which they were written. A void has no amounts. */
  readonly revisions: ReadonlyArray<RevisionTotals>
}

const noTotals: Totals = { people: 0, net: Duration.zero, cost: 0, tips: 0, hasTips: false }

/** The closes of a company, each with all its revisions and their totals, which the database adds up. */
export const totals = (
  of: CompanyId | Company
): Effect.Effect<ReadonlyArray<ClosedTotals>, SyncError, SqlClient> =>
  inBooks(
    of,
    (books) =>
      Effect.map(readTotals(books), (totals) =>
        books.all.map(({ close, revisions, terms }) => ({
          close,
          terms,
          revisions: revisions.map(({ number: _number, token: _token, ...revision }): RevisionTotals => ({
            ...revision,
            first: terms.first,
            last: terms.last,
            totals: totals.get(revision.id) ?? noTotals
          }))
        })))
  )

/** A close with all its revisions and sums. Fails with `UnknownClose` for a number that no close has. */
export const get = (
  of: CompanyId | Company,
  close: CloseNumber
): Effect.Effect<ClosedPeriod, SyncError | UnknownClose, SqlClient> =>
  inBooks(of, (books) => Effect.flatMap(storedOf(books, close), (each) => withSums(books, each)))

/** The newest active revision of a close, without its sums, and the terms that say which punches it has. */
export interface NewestRevision {
  /** Its name, such as `7.2`. */
  readonly id: RevisionId
  /** The instant of the copy that is summed. */
  readonly at: DateTime.Utc
  /** The terms of its sums. */
  readonly terms: CloseTerms.CloseTerms
  /** The terms of the other active closes. */
  readonly otherTerms: ReadonlyArray<CloseTerms.CloseTerms>
}

/**
 * The newest active revision of a close; reads no sums. Fails with `UnknownClose` for a number that no close has, and for a
 * close that is over.
 */
export const newest = (
  of: CompanyId | Company,
  close: CloseNumber
): Effect.Effect<NewestRevision, SyncError | UnknownClose, SqlClient> =>
  inBooks(
    of,
    Effect.fnUntraced(function*(books: Books) {
      const { newest: { at, id }, terms } = yield* activeOne(books, close)
      const otherTerms = books.active.filter((each) => each.close !== close).map(({ terms }) => terms)
      return { id, at, terms, otherTerms } satisfies NewestRevision
    })
  )

/**
 * A revision by its name, such as `7.2`, with the one that it follows: what `PayrollFile.encode` takes. `7` alone is `7.1` while
 * that is the only revision of close 7. Fails with `UnknownClose` for one that is not active: a void, or one that was voided.
 */
export const find = (
  of: CompanyId | Company,
  name: string
): Effect.Effect<ActiveRevision, SyncError | UnknownClose, SqlClient> => inBooks(of, (books) => foundIn(books, name))

/** The same, among the closes that were read. */
export const foundIn = Effect.fnUntraced(function*(books: Books, name: string) {
  const refuse = refusal(books.company, name)
  const parsed = RevisionName.parse(name)
  if (Option.isNone(parsed)) return yield* refuse(notARevision)
  const { number } = parsed.value
  const close = yield* storedOf(books, parsed.value.close)
  const { revisions } = close
  if (Option.isNone(number) && revisions.length > 1) {
    const active = activeRevisions(revisions).map(({ id }) => id).join(", ")
    return yield* refuse(`the close has several revisions; name one that is active: ${active || "none is"}`)
  }
  const wanted = RevisionName.print({ close: close.close, number: Option.getOrElse(number, () => 1) })
  const revision = revisions.find(({ id }) => id === wanted)
  if (revision === undefined) return yield* refuse(notFound.revision)
  if (Option.isSome(revision.voids)) return yield* refuse(`it is itself a void, of ${revision.voids.value}`)
  const voided = getVoid(revisions, revision)
  if (Option.isSome(voided)) return yield* refuse(voidedBy(voided.value.id))
  const previous = Option.getOrUndefined(getPrevious(revisions, revision))
  return {
    revision: yield* recorded(books, close, revision),
    previous: Option.fromUndefinedOr(previous && (yield* recorded(books, close, previous)))
  } satisfies ActiveRevision
})

/** What is noted of a file. */
export interface NoteOptions extends FileForm, Pick<WriteOptions, "user"> {}

const noteChecks: Checks<NoteOptions> = {
  mapping: must(Predicate.isObject, "a mapping"),
  codes: must(Array.isArray, "the codes that the file uses"),
  texts: optional(must(Array.isArray, "the texts that the file uses")),
  set: optional(must(Predicate.isObject, "texts by their names")),
  user: isText
}

/**
 * Notes that a file of a revision was written out, by which mapping and codes: what another file of the close is compared with.
 * Notes are only added. Fails with `UnknownClose` for a revision that does not exist, or that was voided.
 */
export const noteFile = (
  of: CompanyId | Company,
  revision: string,
  options: NoteOptions
): Effect.Effect<WrittenFile, InvalidRequest | SyncError | UnknownClose, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    yield* orFail(refusalOf(options, noteChecks, company))
    const id = yield* revisionNamed(company, revision)
    const [file] = yield* insertFile(yield* openTables(company), [id], options, options.user ?? "unknown")
    return file ?? (yield* Effect.die("a note that is not there"))
  })

/**
 * The files of the active revisions of a close that were written out and noted, the oldest of each revision first. Fails with
 * `UnknownClose` for a number that no close has.
 */
export const files = (
  of: CompanyId | Company,
  close: CloseNumber
): Effect.Effect<ReadonlyArray<WrittenFile>, SyncError | UnknownClose, SqlClient> =>
  inBooks(
    of,
    Effect.fnUntraced(function*(books: Books) {
      const { revisions } = yield* storedOf(books, close)
      const active = new Set(activeRevisions(revisions).map(({ id }) => id))
      return (yield* readFiles(books)).flatMap(({ file }) => active.has(file.revision) ? [file] : [])
    })
  )

const notARevision = "a revision is a close and its number, such as 7.2"

export const revisionNamed = Effect.fnUntraced(function*(company: CompanyId, name: string) {
  const parsed = RevisionName.parse(name)
  if (Option.isNone(parsed) || Option.isNone(parsed.value.number)) {
    return yield* refusal(company, name)(notARevision)
  }
  return { close: parsed.value.close, number: parsed.value.number.value } satisfies RevisionName.RevisionName
})

export const activeOne = Effect.fnUntraced(function*(books: Books, close: CloseNumber) {
  yield* storedOf(books, close)
  const found = books.active.find((each) => each.close === close)
  return found ?? (yield* refusal(books.company, `${close}`)(notFound.over))
})

export const storedOf = ({ all, company }: Books, close: CloseNumber) =>
  Effect.suspend(() => {
    const found = all.find((each) => each.close === close)
    return found === undefined ? refusal(company, `${close}`)(notFound.close) : Effect.succeed(found)
  })

const withSums = (tables: CloseTables, close: StoredClose) =>
  Effect.map(
    Effect.forEach(close.revisions, (revision) => recorded(tables, close, revision)),
    (revisions): ClosedPeriod => ({ close: close.close, terms: close.terms, revisions })
  )
