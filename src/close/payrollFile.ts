/** The file of revisions for a payroll program: they are found and encoded, the file is noted, and only then given. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { SqlClient } from "effect/sql/SqlClient"
import type { BusinessDate, CompanyId } from "../Ids.ts"
import type { MissingDayRule } from "../payroll/DayRule.ts"
import type { SumOverflow } from "../payroll/Labor.ts"
import { type Checks, each, isDate, isText, must, optional, orFail, refusalOf } from "../payroll/options.ts"
import * as PayrollFile from "../payroll/PayrollFile.ts"
import type { HistoryUnavailable } from "../sql/known.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { type Books, inBooks, inCopiedBooks, openTables } from "./books.ts"
import { refusal, type UnknownClose, type VerificationFailed } from "./CloseError.ts"
import { detailOf, insertFile, readFiles } from "./files.ts"
import type { RevisionId } from "./ids.ts"
import { foundIn, revisionNamed, storedOf } from "./read.ts"
import { type ActiveRevision, activeRevisions, getVoid, type RecordedRevision } from "./Revision.ts"
import { withDetail } from "./verdict.ts"
import { type FileNote, type FormChange, formChanges, notedTexts } from "./WrittenFile.ts"

/** What a file is made of. */
export interface FileOptions {
  /** The names of the revisions, such as `["2.1", "1.2"]`, each once. Every row has the dates and the name of the first. */
  readonly revisions: ReadonlyArray<string>
  /** The form of the file. */
  readonly mapping: PayrollFile.Mapping
  /** The codes and names of ids. */
  readonly codes: PayrollFile.PayrollCodes
  /** The date on which it is paid, for `payDate`. */
  readonly payDate?: BusinessDate | undefined
  /** The texts of this file alone, by the names that its columns have in `set`. They are noted. */
  readonly set?: Readonly<Record<string, string>> | undefined
  /** Who writes it, for the note. Default: `unknown`. */
  readonly user?: string | undefined
}

const fileChecks: Checks<FileOptions> = {
  revisions: (names) =>
    each(must<string>(Predicate.isString, "the name of a revision, such as 7.2"))(names) ??
      must<ReadonlyArray<string>>(({ length }) => length > 0, "a list of at least one revision")(names),
  mapping: must(Predicate.isObject, "a mapping"),
  codes: must(Predicate.hasProperty("getCode"), "an object with getCode"),
  payDate: optional(isDate),
  set: optional(must(Predicate.isObject, "texts by their names")),
  user: isText
}

/** What the notes say of a file before it is paid. */
export type FileRemark =
  | {
    /** `written`: the revision has a file that was written out. `voided`: so has one that was voided, whose amounts this file has. */
    readonly kind: "written" | "voided"
    /** The revision that was written out. */
    readonly revision: RevisionId
    /** Its last file. */
    readonly file: FileNote
  }
  | {
    /** This file has the difference to the revision before, of which no file was written out. */
    readonly kind: "unwritten"
    /** The revision before. */
    readonly revision: RevisionId
  }

/** A file of revisions. */
export interface ClosedFile extends PayrollFile.PayrollFile {
  /** The revisions, in the order in which they were named, each with the one before it. */
  readonly revisions: ReadonlyArray<ActiveRevision>
  /** How it differs from the files of other revisions of the closes: if it does, the files do not add up. */
  readonly changes: ReadonlyArray<FormChange>
  /** What was written out before. */
  readonly remarks: ReadonlyArray<FileRemark>
}

/** Why there is no file. */
export type FileError =
  | PayrollFile.EncodeError
  | SyncError
  | UnknownClose
  | VerificationFailed
  | HistoryUnavailable
  | MissingDayRule
  | SumOverflow

/**
 * The file of one revision or more for a payroll program: of a first revision its sums, of a later one the difference to the one
 * that it follows. Rows of equal texts are added. It is noted for each revision, in one transaction, before it is given: if it
 * cannot be noted, there is none. Fails with `UnknownClose` for a revision that is named twice, or is not active, also if it is voided
 * meanwhile. A file by day or punch is computed from the history: it fails with `VerificationFailed` if that does not add up to the
 * record.
 */
export const file = (company: CompanyId, options: FileOptions): Effect.Effect<ClosedFile, FileError, SqlClient> =>
  Effect.gen(function*() {
    const { file, note } = yield* prepareFile(company, options)
    yield* note
    return file
  })

/** The same, not noted yet. @internal */
export const prepareFile = Effect.fnUntraced(function*(company: CompanyId, options: FileOptions) {
  yield* orFail(refusalOf(options, fileChecks, company))
  const { codes, mapping, payDate, set = {}, user = "unknown" } = options
  const detail = detailOf(mapping)
  const read = Effect.fnUntraced(function*<E, R>(
    books: Books,
    rowsOf: (revision: RecordedRevision) => Effect.Effect<ReadonlyArray<PayrollFile.PayrollRow>, E, R>
  ) {
    const revisions = yield* Effect.forEach(options.revisions, (name) => foundIn(books, name))
    const twice = options.revisions.find((_, at) =>
      revisions.findIndex(({ revision }) => revision.id === revisions[at]?.revision.id) < at
    )
    if (twice !== undefined) return yield* refusal(company, twice)("it is named twice")
    const remarks = yield* Effect.forEach(revisions, (each) => remarksOn(books, each))
    const files = yield* readFiles(books)
    const filesOf = yield* Effect.forEach(
      new Set(revisions.map(({ revision }) => revision.close)),
      Effect.fnUntraced(function*(close) {
        const active = new Set(activeRevisions((yield* storedOf(books, close)).revisions).map(({ id }) => id))
        return files.flatMap(({ file }) => active.has(file.revision) ? [file] : [])
      })
    )
    const pairs = yield* Effect.forEach(
      revisions,
      Effect.fnUntraced(function*({ previous, revision }) {
        const before = Option.getOrUndefined(previous)
        return {
          state: { ...revision, payDate, rows: yield* rowsOf(revision) },
          previous: Option.fromUndefinedOr(before && { ...before, rows: yield* rowsOf(before) })
        } satisfies PayrollFile.StatePair
      })
    )
    return { filesOf, pairs, remarks: remarks.flat(), revisions }
  })
  const { filesOf, pairs: [first, ...also], remarks, revisions } = yield* detail === undefined
    ? inBooks(company, (books) => read(books, ({ rows }) => Effect.succeed(rows)))
    : inCopiedBooks(company, (books) =>
      read(
        books,
        Effect.fnUntraced(function*({ close, id }) {
          const stored = yield* storedOf(books, close)
          const revision = stored.revisions.find((each) => each.id === id)
          return revision === undefined ? [] : yield* withDetail(books, stored, revision, detail)
        })
      ))
  const ids = revisions.map(({ revision }) => revision.id)
  if (first === undefined) return yield* Effect.die("a file of no revision")
  const encoded = yield* Effect.fromResult(PayrollFile.encode(mapping, { ...first, also, codes, set }))
  const form = { mapping, codes: encoded.codes, texts: yield* notedTexts(encoded.texts), set }
  const file: ClosedFile = {
    ...encoded,
    revisions,
    changes: filesOf.flatMap((files) => formChanges(files, ids, form)),
    // The file has the revision before too.
    remarks: remarks.filter(({ kind, revision }) => kind !== "unwritten" || !ids.includes(revision))
  }
  const names = yield* Effect.forEach(ids, (id) => revisionNamed(company, id))
  return { file, note: Effect.flatMap(openTables(company), (tables) => insertFile(tables, names, form, user)) }
})

/** What was written out of a revision, of the one before it, and of those that were voided before it. */
const remarksOn = Effect.fnUntraced(function*(books: Books, { previous, revision }: ActiveRevision) {
  const { close, revisions } = yield* storedOf(books, revision.close)
  const remark =
    (kind: "written" | "voided") =>
    ({ files, id }: { readonly files: ReadonlyArray<FileNote>; readonly id: RevisionId }) => {
      const file = files.at(-1)
      return file === undefined ? [] : [{ kind, revision: id, file } satisfies FileRemark]
    }
  const at = revisions.findIndex(({ id }) => id === revision.id)
  const voided = [
    ...revisions.slice(revisions.findIndex(({ id }) => Option.exists(previous, (each) => each.id === id)) + 1, at)
      .filter((each) => Option.isSome(getVoid(revisions, each))),
    // The amounts of a close that is over are those of another one now.
    ...Option.isSome(previous) ?
      [] :
      books.all.filter((other) =>
        other.close < close && activeRevisions(other.revisions).length === 0 &&
        other.terms.first <= revision.last && revision.first <= other.terms.last
      ).flatMap((other) => other.revisions)
  ]
  return [
    ...remark("written")(revision),
    ...voided.flatMap(remark("voided")),
    ...Option.match(previous, {
      onNone: () => [],
      onSome: ({ files, id }) => files.length > 0 ? [] : [{ kind: "unwritten", revision: id } satisfies FileRemark]
    })
  ]
})
