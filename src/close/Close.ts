/** START HERE. A period of a copy that is closed, corrected and voided, as a record of revisions that is only added to. */
import * as Arr from "effect/Array"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId, LocationId } from "../Ids.ts"
import { markText } from "../internal/wire/mark.ts"
import { isWithin, type MissingDayRule, union } from "../payroll/DayRule.ts"
import type * as Labor from "../payroll/Labor.ts"
import {
  type Checks,
  each,
  isBoolean,
  isFiniteTime,
  must,
  optional,
  orFail,
  refusalOf,
  word
} from "../payroll/options.ts"
import * as Period from "../payroll/Period.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import { toSink } from "../payroll/running.ts"
import { companyIdOf } from "../sql/connection.ts"
import type { HistoryUnavailable } from "../sql/known.ts"
import type { SyncError } from "../sync/SyncError.ts"
import type { TimePunch } from "../TimePunch.ts"
import { Blocker } from "./Blocker.ts"
import { type Books, type CopiedBooks, inBooks, inCopiedBooks, openTables, stalenessOf } from "./books.ts"
import {
  CloseChanged,
  type DifferingRevision,
  notFound,
  NotReady,
  type OutcomeUnknown,
  type PeriodClosed,
  refusal,
  type UnknownClose,
  VerificationFailed
} from "./CloseError.ts"
import * as CloseSums from "./CloseSums.ts"
import * as CloseTerms from "./CloseTerms.ts"
import { hasDetailedFile } from "./files.ts"
import { acceptedGaps, holesBefore, type Time } from "./holes.ts"
import { CloseNumber, type RevisionId } from "./ids.ts"
import { lossesOf, type LostHours } from "./losses.ts"
import { gapLines, refuseAdded, refuseOverlap } from "./neighbours.ts"
import { activeOne, revisionNamed, storedOf } from "./read.ts"
import { activeRevisions, endedOf, getVoid, isMistake, newestRevision, type Revision, termsAt } from "./Revision.ts"
import * as RevisionName from "./RevisionName.ts"
import { type ActiveClose, readSums } from "./rows.ts"
import { type Corrected, punchesIn, sumRules, verdictOf } from "./verdict.ts"
import { type Added, nothingAdded, type Planned, write, writeChecks, type WriteOptions } from "./write.ts"
import type { FileNote } from "./WrittenFile.ts"

export {
  type Hole,
  holes,
  type LateTime,
  lateTime,
  next,
  type NextOptions,
  type NextPeriod,
  type NextSearch
} from "./holes.ts"

export {
  type ClosedTotals,
  files,
  find,
  get,
  list,
  newest,
  type NewestRevision,
  noteFile,
  type NoteOptions,
  type RevisionTotals,
  totals
} from "./read.ts"

export { type Totals } from "./rows.ts"

export { type ClosedFile, file, type FileError, type FileOptions, type FileRemark } from "./payrollFile.ts"

export { formChanges } from "./WrittenFile.ts"

export { LossCause, type LostHours } from "./losses.ts"
export { type CloseListing, type CloseReportOptions, listing, toHtml } from "./report.ts"
export { type WriteOptions } from "./write.ts"

/** Why a copy or its closes cannot be read. */
export type ReadError = InvalidRequest | SyncError | MissingDayRule | Labor.SumOverflow | HistoryUnavailable

/** Why a revision is not written, or is not known to be. */
export type WriteError = CloseChanged | OutcomeUnknown

/** The period to close, and how it is summed. */
export interface CloseOptions extends Omit<CloseTerms.CloseTermsOptions, "companyId">, WriteOptions {
  /** A punch that is longer than this is `tooLong`. Default: 16 hours. */
  readonly maxDuration?: Duration.Input | undefined
  /** An hourly wage above this many cents is `wageFar`. Default: only one above ten times the median is. */
  readonly maxWage?: number | undefined
  /** Paths of fields that are harmless, such as `data[].voided`: without them each is an `unknownMark`. */
  readonly knownKeys?: ReadonlyArray<string> | undefined
  /** What does not keep the period from being closed. It is recorded with its number. */
  readonly accept?: ReadonlyArray<Blocker> | undefined
}

const closeChecks: Checks<CloseOptions> = {
  ...CloseTerms.termsChecks,
  ...writeChecks,
  maxDuration: optional(isFiniteTime),
  maxWage: PeriodCheck.isMaxWage,
  knownKeys: optional(each(must(Predicate.isString, "a path"))),
  accept: optional(each(word(Blocker.literals)))
}

/** The first revision of a close. */
export interface Created extends Revision {
  /** The terms that differ from the active close before it, the one behind it, and a voided one that had days of it. */
  readonly changedTerms: ReadonlyArray<CloseTerms.TermChange>
}

/**
 * Closes a period of a copy with a history, in one snapshot: checks it, sums it, and records the sums as its first revision.
 * All of it is due. The time of an open punch is due when it has ended.
 *
 * Fails with `NotReady` for an issue of `PeriodCheck`, a gap, an empty period, or a copy that is stale, may have punches that
 * were deleted, was answered by an old version of the interface, or has a field that takes away
 * by its name, unless the kind is accepted; with
 * `PeriodClosed` if another active close has an instant of the period; with `CloseChanged` if the copy was erased meanwhile, or
 * a close was written that moves its beginning; with `HistoryUnavailable` if the copy has no history. Nothing is written then.
 * Fails with `OutcomeUnknown` if the connection is lost at the COMMIT, and the outcome cannot be found out.
 */
export const create = (
  of: CompanyId | Company,
  options: CloseOptions
): Effect.Effect<Created, ReadError | NotReady | PeriodClosed | WriteError, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    yield* orFail(refusalOf(options, closeChecks, company) ?? CloseTerms.refuseOrder(options, company))
    const accept = new Set<string>(options.accept ?? [])
    const own = CloseTerms.termsOf({ ...options, companyId: company })
    const termsBeside = ({ active }: Books) =>
      accept.has("edge") ? CloseTerms.alignEdges(own, active.map(({ terms }) => terms)) : own
    const { books, close, gaps, holes, issues, sums, terms } = yield* inCopiedBooks(
      company,
      Effect.fnUntraced(function*(books: CopiedBooks) {
        const terms = termsBeside(books)
        const close = newCloseOf(books)
        const holes = holesBefore(books, close, terms)
        const gaps = accept.has("gap") ? yield* acceptedGaps(books, holes) : []
        return { books, close, gaps, holes, terms, ...yield* checkedSums(books, terms, options) }
      })
    )
    const staleness = stalenessOf(terms, books.copy)
    const { missedDeletions, oldVersion } = books.copy
    const marks = books.copy.marks.filter(({ path }) => options.knownKeys?.includes(path) !== true)
    /** What was found beside these closes, and accepted. */
    const requireReady = Effect.fnUntraced(function*(now: Books) {
      yield* refuseOverlap(company, terms, now.active)
      const open = holesBefore(now, close, terms)
      const isChanged = accept.has("gap") && !Equal.equals(open.map(placeOf), holes.map(placeOf))
      if (isChanged || !Equal.equals(termsBeside(now), terms)) {
        return yield* new CloseChanged({ companyId: company, detail: "another process wrote a close beside this one" })
      }
      const found: Record<string, number> = {}
      for (const { kind } of issues) found[kind] = (found[kind] ?? 0) + 1
      const ofCopy: ReadonlyArray<readonly [kind: Blocker, lines: ReadonlyArray<string>, count?: number]> = [
        ["gap", gapLines(open), open.length],
        ["stale", Arr.fromNullishOr(staleness)],
        ["deletionsUnseen", Arr.fromNullishOr(missedDeletions)],
        ["version", Arr.fromNullishOr(oldVersion)],
        ["unknownMark", marks.map(markText)],
        ["empty", [], sums.rows.length === 0 ? 1 : 0]
      ]
      for (const [kind, lines, count = lines.length] of ofCopy) if (count > 0) found[kind] = count
      const left = Object.entries(found).filter(([kind]) => !accept.has(kind))
      if (left.length > 0) {
        return yield* new NotReady({
          companyId: company,
          found: Object.fromEntries(left),
          issues: issues.filter(({ kind }) => !accept.has(kind)).map(PeriodCheck.issueOf),
          details: ofCopy.flatMap(([kind, lines]) => accept.has(kind) ? [] : lines)
        })
      }
      const edges = terms.locations.filter(({ begins }) => Option.isSome(begins)).length
      return edges > 0 ? { ...found, edge: edges } : found
    })
    // Of the closes that the transaction sees: another process may have written one after the snapshot.
    let others: ReadonlyArray<CloseTerms.NumberedTerms> = []
    const revisions = yield* write(
      books,
      books.copy.at,
      Effect.fnUntraced(function*(now) {
        const accepted = yield* requireReady(now)
        const sorted = now.active.toSorted((one, other) => one.terms.first < other.terms.first ? -1 : 1)
        others = [
          sorted.findLast((each) => each.terms.first < terms.first),
          sorted.find((each) => each.terms.first > terms.first),
          endedOf(now.all).findLast((each) => each.terms.first <= terms.last && terms.first <= each.terms.last)
        ].filter((each) => each !== undefined)
        return [{
          ...RevisionName.next(newCloseOf(now), 0),
          link: undefined,
          kind: "close",
          terms,
          added: { ...nothingAdded, gaps },
          accepted,
          sums,
          options
        }] satisfies ReadonlyArray<Planned>
      })
    )
    return {
      ...yield* headOrDie(revisions),
      changedTerms: others.flatMap((other) => CloseTerms.changesFrom(other, terms))
    }
  })

const newCloseOf = ({ all }: Books): CloseNumber =>
  CloseNumber.make(all.reduce((last, { close }) => Math.max(last, close), 0) + 1)

const placeOf = ({ interval, locationId, voided }: Time) => ({ ...interval, locationId, voided })

/** What is corrected. */
export interface CorrectOptions extends WriteOptions {
  /** The closes. Default: all that have an active revision. */
  readonly closes?: ReadonlyArray<CloseNumber> | undefined
  /** Day rules of locations that a record lacks. A location that it has keeps its own. */
  readonly dayRules?: ReadonlyMap<LocationId, Period.DayRule> | undefined
  /**
   * `rules`: a revision that was summed by other rules is corrected although it cannot be computed again. `gap`: an added
   * location may leave time in no close. `days`: a close with files by day or punch is corrected although the history does not
   * reach it, so that these files cannot be continued.
   */
  readonly accept?: ReadonlyArray<"rules" | "gap" | "days"> | undefined
}

const isCloseNumber = must<CloseNumber>((close) => Number.isSafeInteger(close) && close > 0, "the number of a close")

const dueChecks: Checks<DueOptions> = {
  closes: optional(each(isCloseNumber)),
  dayRules: optional(CloseTerms.isRuleMap)
}

const correctChecks: Checks<CorrectOptions> = {
  ...writeChecks,
  ...dueChecks,
  accept: optional(each(word(["rules", "gap", "days"])))
}

/** What a person should know of a correction beside its sums. */
export interface CorrectionRemarks {
  /** Revisions that are corrected although the history does not reach their instant. */
  readonly unverified: ReadonlyArray<RevisionId>
  /** Closes that were not named and differ too. */
  readonly otherCloses: ReadonlyArray<CloseNumber>
  /** Locations whose given day rule is not used, since the record has another one. */
  readonly unchangedLocations: ReadonlyArray<LocationId>
  /** The people who had hours in the revision before and have none in the new one, with the reasons. */
  readonly peopleWithoutHours: ReadonlyArray<LostHours>
}

/** What a correction wrote. */
export interface Correction extends CorrectionRemarks {
  /** The new revisions. Empty: nothing differs. */
  readonly revisions: ReadonlyArray<Revision>
  /** What is due with each of them: what it has more than the revision before. */
  readonly due: ReadonlyArray<CloseSums.CloseSums>
}

/** What a correction would write now. */
export interface Rehearsal extends CorrectionRemarks {
  /** What would be due with each new revision. One that only records added locations has no difference. */
  readonly due: ReadonlyArray<AmountDue>
}

/** Why a close is not corrected, before anything is written. */
export type CorrectError = ReadError | NotReady | PeriodClosed | UnknownClose | VerificationFailed

/**
 * Sums closes again, and records the next revision of each whose sums differ: the difference to the one before is due. All
 * of them are read in one snapshot of the copy, and written in one transaction: a punch that was moved between two closes leaves
 * one and enters the other.
 *
 * First, the revision before is computed again from the history. Fails with `VerificationFailed` if the result is not what was
 * recorded: the history was edited, or the rules of the sums changed. If the history does not reach its instant, only the rules
 * are compared. Fails with `MissingDayRule` for a location that neither the record nor `dayRules` has, with `PeriodClosed` and
 * `NotReady` as `create` does for an added location, with `UnknownClose` for a close that does not exist or is over, and with
 * `CloseChanged` if another process wrote a revision meanwhile. Nothing is written then. Fails with `OutcomeUnknown` as
 * `create` does.
 */
export const correct = (
  of: CompanyId | Company,
  options: CorrectOptions = {}
): Effect.Effect<Correction, CorrectError | WriteError, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    yield* orFail(refusalOf(options, correctChecks, company))
    const { accepted, books, corrected, remarks } = yield* inCopiedBooks(
      company,
      Effect.fnUntraced(function*(books: CopiedBooks) {
        const correction = yield* correctionOf(books, options)
        const accepted = yield* refuseAdded(books, correction.corrected, accepts(options, "gap"))
        const counted = new Map<number, Added["gaps"]>()
        for (const [close, gaps] of accepted) counted.set(close, yield* acceptedGaps(books, gaps))
        return { ...correction, accepted: counted }
      })
    )
    const revisions = corrected.length === 0
      ? []
      : yield* write(
        books,
        books.copy.at,
        Effect.fnUntraced(function*(now) {
          for (const { close } of corrected) {
            const known = now.active.find((each) => each.close === close.close)
            if (known?.newest.number === close.newest.number && known.count === close.count) continue
            const detail = `another process wrote a revision of close ${close.close}`
            return yield* new CloseChanged({ companyId: company, detail })
          }
          const found = yield* refuseAdded(now, corrected, accepts(options, "gap"))
          if (
            !Equal.equals(
              [...found.values()].map((each) => each.length),
              Array.from(accepted.values(), (each) => each.length)
            )
          ) {
            return yield* new CloseChanged({ companyId: company, detail: "another process wrote a close beside these" })
          }
          return corrected.map(({ added, close, sums, terms }): Planned => {
            const gaps = accepted.get(close.close) ?? []
            return {
              ...RevisionName.next(close.close, close.count),
              link: close.newest.number,
              kind: "correct",
              terms,
              added: { ...added, gaps },
              accepted: {
                ...accepts(options, "rules") && close.newest.rules !== sumRules ? { rules: 1 } : {},
                ...gaps.length > 0 ? { gap: gaps.length } : {}
              },
              sums,
              options
            }
          })
        })
      )
    return {
      ...remarks,
      revisions,
      due: revisions.map((revision) =>
        corrected.find(({ close }) => close.close === revision.close)?.due ?? CloseSums.empty
      )
    }
  })

/**
 * What `correct` would write now, found in one snapshot of the copy by the same steps: it fails as `correct` does, except with
 * what only a write can meet. Writes nothing, and needs no right to write.
 */
export const rehearse = (
  of: CompanyId | Company,
  options: CorrectOptions = {}
): Effect.Effect<Rehearsal, CorrectError, SqlClient> =>
  Effect.andThen(
    orFail(refusalOf(options, correctChecks, companyIdOf(of))),
    inCopiedBooks(
      of,
      Effect.fnUntraced(function*(books: CopiedBooks) {
        const { corrected, remarks } = yield* correctionOf(books, options)
        yield* refuseAdded(books, corrected, accepts(options, "gap"))
        return { ...remarks, due: corrected.map(amountDue) } satisfies Rehearsal
      })
    )
  )

/** What is due of a close: what its sums now have more than its newest active revision. */
export interface AmountDue {
  /** The revision that is compared with, such as `7.2`. */
  readonly after: RevisionId
  /** The differences, none of them zero. */
  readonly difference: CloseSums.CloseSums
}

const amountDue = ({ close, due }: Corrected): AmountDue => ({ after: close.newest.id, difference: due })

/** Of which closes the amounts are due. */
export type DueOptions = Pick<CorrectOptions, "closes" | "dayRules">

/**
 * What is due of each close that has an active revision, or of those that are named, in one snapshot of the copy: what `correct`
 * would record. Writes nothing. A close with nothing due is left out.
 */
export const due = (
  of: CompanyId | Company,
  options: DueOptions = {}
): Effect.Effect<ReadonlyArray<AmountDue>, ReadError | UnknownClose, SqlClient> =>
  Effect.andThen(
    orFail(refusalOf(options, dueChecks, companyIdOf(of))),
    inBooks(
      of,
      Effect.fnUntraced(function*(books: Books) {
        const named = yield* namedOf(books, options.closes)
        const due = yield* Effect.forEach(
          named,
          (close) => Effect.map(correctedOf(books, close, options.dayRules), amountDue)
        )
        return due.filter(({ difference }) => difference.rows.length > 0)
      })
    )
  )

/** Which revision is voided. */
export interface VoidOptions extends WriteOptions {
  /** The revision in full, such as `7.2`. */
  readonly revision: string
  /** Why. */
  readonly note: string
  /** Whether the whole close was a mistake, such as a wrong year: then no time is open for it. Default `false`. */
  readonly mistake?: boolean | undefined
}

const voidChecks: Checks<VoidOptions> = {
  ...writeChecks,
  revision: must(Predicate.isString, "the name of a revision, such as 7.2"),
  note: must(Predicate.isString, "a text"),
  mistake: isBoolean
}

/** A void. */
export interface Voided extends Revision {
  /** The files of the voided revision that were written out, the oldest first: if one was paid, its amounts are paid again. */
  readonly voidedFiles: ReadonlyArray<FileNote>
}

/**
 * Records that the newest revision of a close was not paid: its amounts are due again, with the next revision. If it was the
 * first one, no revision is active, and the close is over: its time is a hole until a close has it or accepts it. With `mistake`,
 * its time and the gaps that it accepted are as if the close had never been written; so can a close be let go of that is over.
 * Fails with `UnknownClose` unless the revision is the newest active one, and with `OutcomeUnknown` as `create` does.
 */
export const voidRevision = (
  of: CompanyId | Company,
  options: VoidOptions
): Effect.Effect<Voided, InvalidRequest | SyncError | UnknownClose | WriteError, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    yield* orFail(refusalOf(options, voidChecks, company))
    const tables = yield* openTables(company)
    const refuse = refusal(company, options.revision)
    const { close } = yield* revisionNamed(company, options.revision)
    let voidedFiles: ReadonlyArray<FileNote> = []
    const revisions = yield* write(tables, undefined, ({ all }) => {
      const known = all.find((each) => each.close === close)
      const revision = known?.revisions.find(({ id }) => id === options.revision)
      if (known === undefined || revision === undefined) return refuse(notFound.revision)
      if (Option.isSome(revision.voids)) return refuse(`it is itself a void, of ${revision.voids.value}`)
      const voided = getVoid(known.revisions, revision)
      // What was voided as not paid can still be let go of, since the close may be one that should never have been.
      const newest = Option.map(newestRevision(known.revisions), ({ id }) => id)
      const letsGo = options.mistake === true && !isMistake(known) && revision.number === 1 && Option.isNone(newest)
      if (Option.isSome(voided) && !letsGo) return refuse(`it was voided already, by ${voided.value.id}`)
      if (!letsGo && !Option.contains(newest, revision.id)) {
        return refuse(
          `the newest active revision is ${
            Option.getOrElse(newest, () => "none")
          }; a revision in the middle that was ` +
            "not paid needs no void: print its file again"
        )
      }
      if (options.mistake === true && activeRevisions(known.revisions).length > 1) {
        return refuse(
          "a mistake is a whole close, and this does not end it: void its revisions one by one, the newest first"
        )
      }
      voidedFiles = revision.files
      return Effect.succeed<ReadonlyArray<Planned>>([{
        ...RevisionName.next(known.close, known.revisions.length),
        link: revision.number,
        kind: options.mistake === true ? "mistake" : "void",
        terms: known.terms,
        added: nothingAdded,
        accepted: {},
        sums: CloseSums.empty,
        options
      }])
    })
    return { ...yield* headOrDie(revisions), voidedFiles }
  })

/** What `verify` found in order. */
export interface Verified {
  /** Number of revisions that the history gives again. */
  readonly revisions: number
  /** Number of revisions that the history does not reach. */
  readonly unverifiable: number
}

/** What is verified. */
export interface VerifyOptions {
  /** The close. Default: all. */
  readonly close?: CloseNumber | undefined
}

/**
 * Computes every revision again from the history, at its instant; with `close`, those of that close. Fails with
 * `VerificationFailed` if one is not what was recorded, or if the history reaches none, and with `UnknownClose` for a number
 * that no close has.
 */
export const verify = (
  of: CompanyId | Company,
  options: VerifyOptions = {}
): Effect.Effect<Verified, ReadError | UnknownClose | VerificationFailed, SqlClient> =>
  Effect.andThen(
    orFail(refusalOf(options, { close: optional(isCloseNumber) }, companyIdOf(of))),
    inCopiedBooks(
      of,
      Effect.fnUntraced(function*(books: CopiedBooks) {
        const differing: Array<DifferingRevision> = []
        let [revisions, unverifiable] = [0, 0]
        const verified = options.close === undefined ? books.all : [yield* storedOf(books, options.close)]
        for (const each of verified) {
          for (const newest of each.revisions.filter(({ voids }) => Option.isNone(voids))) {
            const verdict = yield* verdictOf(books, { newest, terms: termsAt(each, newest) })
            if (verdict === "outOfReach") unverifiable++
            else if (verdict === "same") revisions++
            else differing.push(verdict)
          }
        }
        const isNoneReached = revisions === 0 && unverifiable > 0
        if (differing.length > 0 || isNoneReached)
          return yield* new VerificationFailed({ companyId: books.company, revisions: differing })
        return { revisions, unverifiable }
      })
    )
  )

const accepts = ({ accept = [] }: CorrectOptions, what: "rules" | "gap" | "days"): boolean => accept.includes(what)

/** The closes that a correction changes, and what is to be said of them: all of it but the comparison with other closes. */
const correctionOf = Effect.fnUntraced(function*(books: CopiedBooks, options: CorrectOptions) {
  const { closes, dayRules = new Map() } = options
  const named = yield* namedOf(books, closes)
  const corrected: Array<Corrected> = []
  for (const close of named) {
    const now = yield* correctedOf(books, close, dayRules)
    // A location that is added without a sum is recorded too, so that its punches after the period need no clock any more.
    if (now.added.locations.length > 0 || now.due.rows.length > 0) corrected.push(now)
  }
  const otherCloses = yield* Effect.filter(
    books.active.filter((each) => !named.includes(each)),
    (close) => isDue(books, close)
  )
  const unverified = yield* verifyBefore(books, corrected, options)
  const losses = yield* Effect.forEach(corrected, (each) => lossesOf(books, each))
  const remarks: CorrectionRemarks = {
    unverified,
    otherCloses: otherCloses.map(({ close }) => close),
    unchangedLocations: [...dayRules].flatMap(([locationId, dayRule]) =>
      named.some(({ terms }) => CloseTerms.hasOtherDayRule(terms, locationId, dayRule)) ? [locationId] : []
    ),
    peopleWithoutHours: losses.flat()
  }
  return { books, corrected, remarks }
})

/** Computes the revisions before again; gives those that the history does not reach. */
const verifyBefore = Effect.fnUntraced(function*(
  books: CopiedBooks,
  corrected: ReadonlyArray<Corrected>,
  options: CorrectOptions
) {
  const unverified: Array<RevisionId> = []
  const differing: Array<DifferingRevision> = []
  for (const { close } of corrected) {
    const { newest } = close
    const verdict = yield* verdictOf(books, close)
    const hasOtherRules = newest.rules !== sumRules
    const acceptsRules = hasOtherRules && accepts(options, "rules")
    if (verdict === "same") continue
    if (verdict !== "outOfReach") {
      if (!acceptsRules) differing.push(verdict)
    } else if (hasOtherRules && !acceptsRules) {
      const cause = "its rules are others, and the history does not reach it"
      differing.push({ id: newest.id, people: [], cause })
    } else if (!accepts(options, "days") && (yield* hasDetailedFile(books, close.close))) {
      const cause = "a file by day or punch was written out, and the history does not reach it"
      differing.push({ id: newest.id, people: [], cause })
    } else unverified.push(newest.id)
  }
  if (differing.length > 0) return yield* new VerificationFailed({ companyId: books.company, revisions: differing })
  return unverified
})

const headOrDie = <A>(written: ReadonlyArray<A>): Effect.Effect<A> => {
  const [revision] = written
  return revision === undefined ? Effect.die("a write of no revision") : Effect.succeed(revision)
}

const namedOf = (
  books: Books,
  names: ReadonlyArray<CloseNumber> | undefined
): Effect.Effect<ReadonlyArray<ActiveClose>, UnknownClose> =>
  names === undefined
    ? Effect.succeed(books.active)
    : Effect.forEach([...new Set(names)], (name) => activeOne(books, name))

/** A close with the sums of now, and what is due of it. */
const correctedOf = Effect.fnUntraced(function*(
  books: Books,
  close: ActiveClose,
  dayRules: ReadonlyMap<LocationId, Period.DayRule> = new Map()
) {
  const now = yield* sumsWith(books, close.terms, dayRules)
  const due = CloseSums.difference(now.sums, yield* readSums(books, close.newest))
  return { close, due, ...now } satisfies Corrected
})

/** The sums of now, with the locations that they need and the terms lack: all of one reading at once, until none is new. */
const sumsWith = (
  books: Books,
  terms: CloseTerms.CloseTerms,
  dayRules: ReadonlyMap<LocationId, Period.DayRule>,
  added: Added = nothingAdded
): Effect.Effect<Pick<Corrected, "terms" | "added" | "sums">, ReadError | SqlError, SqlClient> =>
  Stream.run(
    punchesIn(books.company, CloseTerms.queryWindow(terms)),
    toSink(() => {
      const sums = CloseSums.makeSums(terms, { otherTerms: books.active.map(({ terms }) => terms), sorted: true })
      const missing = new Map<LocationId, Period.DayRule>()
      const add = (punch: TimePunch): Result.Result<void, MissingDayRule | Labor.SumOverflow> => {
        const result = sums.add(punch)
        const dayRule = dayRules.get(punch.locationId)
        if (Result.isSuccess(result) || result.failure._tag !== "MissingDayRule" || dayRule === undefined) return result
        missing.set(punch.locationId, dayRule)
        return Result.void
      }
      return { add, missing, sums }
    }, Function.identity)
  ).pipe(Effect.flatMap(({ missing, sums }) => {
    if (missing.size === 0) return Effect.succeed({ terms, added, sums: sums.result() })
    let wider = terms
    for (const [locationId, dayRule] of missing) wider = CloseTerms.withLocation(wider, locationId, dayRule)
    return sumsWith(books, wider, dayRules, {
      ...added,
      clocks: [...added.clocks, ...wider.clocks.slice(terms.clocks.length)],
      locations: [...added.locations, ...wider.locations.slice(terms.locations.length)]
    })
  }))

/** Whether a close differs from its record. One that cannot be summed any more differs too; its own correction says why. */
const isDue = (books: Books, close: ActiveClose) =>
  correctedOf(books, close).pipe(
    Effect.map(({ due }) => due.rows.length > 0),
    Effect.catchTags({ MissingDayRule: () => Effect.succeed(true), SumOverflow: () => Effect.succeed(true) })
  )

/**
 * What `PeriodCheck` finds in the close, with what it reads around it, and the sums, in one reading. A punch of a later close, at a
 * location that opened with it, needs no day rule here.
 */
const checkedSums = (
  { active, company }: Books,
  terms: CloseTerms.CloseTerms,
  { dayRule, maxDuration, maxWage }: CloseOptions
) => {
  const zones = CloseTerms.isByLocation(dayRule) ? Period.dayRules(dayRule) : dayRule
  const checkOptions = { ...CloseTerms.checkOptions(terms, zones, maxDuration), maxWage, sorted: true }
  const others = active.map(({ terms }) => terms)
  const isInLater = CloseTerms.isInLaterClose(terms, others)
  const [checked, summed] = [PeriodCheck.windowOf(checkOptions), CloseTerms.queryWindow(terms)]
  return Stream.run(
    punchesIn(company, union([checked, summed])),
    toSink(() => {
      const check = PeriodCheck.makeCheck(checkOptions)
      const sums = CloseSums.makeSums(terms, { otherTerms: others, sorted: true })
      const add = (punch: TimePunch): Result.Result<void, MissingDayRule | Labor.SumOverflow> => {
        const isChecked = isWithin(checked, punch.clockedIn) &&
          (!isInLater(punch) || CloseTerms.getLocation(terms, punch.locationId) !== undefined)
        const found = isChecked ? check.add(punch) : Result.void
        return Result.isFailure(found) || !isWithin(summed, punch.clockedIn) ? found : sums.add(punch)
      }
      return { add, result: () => ({ issues: check.result(), sums: sums.result() }) }
    }, ({ result }) => result())
  )
}
