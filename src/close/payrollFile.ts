/** The file of revisions for a payroll program: they are found and encoded, the file is noted, and only then given. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Company } from "../Company.ts"
import type { BusinessDate, CompanyId } from "../Ids.ts"
import type { MissingDayRule } from "../payroll/DayRule.ts"
import type { SumOverflow } from "../payroll/Labor.ts"
import { type Checks, each, isDate, isText, must, optional, orFail, refusalOf } from "../payroll/options.ts"
import * as PayrollFile from "../payroll/PayrollFile.ts"
import { companyIdOf } from "../sql/connection.ts"
import type { HistoryUnavailable } from "../sql/known.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { type Books, inBooks, inCopiedBooks, openTables } from "./books.ts"
import { refusal, type UnknownClose, type VerificationFailed } from "./CloseError.ts"
import { detailOf, insertFile, readFiles } from "./files.ts"
import type { RevisionId } from "./ids.ts"
import { foundIn, revisionNamed, storedOf } from "./read.ts"
import { type ActiveRevision, activeRevisions, getVoid, type RecordedRevision } from "./Revision.ts"
import type { StoredClose } from "./rows.ts"
import { withDetail } from "./verdict.ts"
import { type FileNote, type FormChange, formChanges, notedTexts } from "./WrittenFile.ts"

/** What a file is made of. */
export interface FileOptions {
  /** The names of the revisions, such as `["2.1", "1.2"]`, each once. Every row has the dates and the name of the first. */
  readonly revisions: ReadonlyArray<string>
  /** The form of the file. */
  readonly mapping: PayrollFile.Mapping
  /** The codes and names of ids. Default: none. */
  readonly codes?: PayrollFile.PayrollCodes | undefined
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
  codes: optional(must(Predicate.hasProperty("getCode"), "an object with getCode")),
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
export const file = (
  of: CompanyId | Company,
  options: FileOptions
): Effect.Effect<ClosedFile, FileError, SqlClient> =>
  Effect.gen(function*() {
    const { file, note } = yield* prepareFile(companyIdOf(of), options)
    yield* note
    return file
  })

/** The same, not noted yet. @internal */
export const prepareFile = Effect.fnUntraced(function*(company: CompanyId, options: FileOptions) {
  yield* orFail(refusalOf(options, fileChecks, company))
  const { codes = { getCode: () => undefined }, mapping, payDate, set = {}, user = "unknown" } = options
  const detail = detailOf(mapping)
  const read = Effect.fnUntraced(function*<E, R>(
    books: Books,
    rowsOf: (close: StoredClose, revision: RecordedRevision) => Effect.Effect<PayrollFile.PayrollSums["rows"], E, R>
  ) {
    const revisions = yield* Effect.forEach(options.revisions, (name) => foundIn(books, name))
    const ids = revisions.map(({ revision }) => revision.id)
    const twice = options.revisions.find((_, at) => ids.slice(0, at).some((id) => id === ids[at]))
    if (twice !== undefined) return yield* refusal(company, twice)("it is named twice")
    const parts = yield* Effect.forEach(
      revisions,
      Effect.fnUntraced(function*(active) {
        const close = yield* storedOf(books, active.revision.close)
        const sumsOf = (revision: RecordedRevision) =>
          Effect.map(rowsOf(close, revision), (rows) => ({ ...revision, payDate, rows }))
        const state = yield* sumsOf(active.revision)
        const previous = yield* Effect.transposeOption(Option.map(active.previous, sumsOf))
        return { close, pair: { state, previous }, remarks: remarksOn(books, close, active) }
      })
    )
    return { files: yield* readFiles(books), ids, parts, revisions }
  })
  const { files, ids, parts, revisions } = yield* detail === undefined
    ? inBooks(company, (books) => read(books, (_, { rows }) => Effect.succeed(rows)))
    : inCopiedBooks(
      company,
      (books) => read(books, (close, revision) => withDetail(books, close, revision, detail))
    )
  const [first, ...also] = parts.map(({ pair }) => pair)
  if (first === undefined) return yield* Effect.die("a file of no revision")
  const encoded = yield* Effect.fromResult(PayrollFile.encode(mapping, { ...first, also, codes, set }))
  const form = { mapping, codes: encoded.codes, texts: yield* notedTexts(encoded.texts), set }
  const changes = [...new Set(parts.map(({ close }) => close))].flatMap((close) => {
    const active = activeRevisions(close.revisions).map(({ id }) => id)
    return formChanges(files.flatMap(({ file }) => active.includes(file.revision) ? [file] : []), ids, form)
  })
  // The file has the revision before too.
  const remarks = parts.flatMap((part) => part.remarks)
    .filter(({ kind, revision }) => kind !== "unwritten" || !ids.includes(revision))
  const names = yield* Effect.forEach(ids, (id) => revisionNamed(company, id))
  return {
    file: { ...encoded, revisions, changes, remarks } satisfies ClosedFile,
    note: Effect.flatMap(openTables(company), (tables) => insertFile(tables, names, form, user))
  }
})

/** What was written out of a revision, of the one before it, and of those that were voided before it. */
const remarksOn = (
  books: Books,
  { close, revisions }: StoredClose,
  { previous, revision }: ActiveRevision
): ReadonlyArray<FileRemark> => {
  const remark =
    (kind: "written" | "voided") =>
    ({ files, id }: { readonly files: ReadonlyArray<FileNote>; readonly id: RevisionId }): ReadonlyArray<FileRemark> =>
      files.slice(-1).map((file) => ({ kind, revision: id, file }))
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
    ...Option.toArray(Option.filter(previous, ({ files }) => files.length === 0))
      .map(({ id }): FileRemark => ({ kind: "unwritten", revision: id }))
  ]
}
