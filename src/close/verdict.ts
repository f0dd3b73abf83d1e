/** The sums of a close, and whether the history gives a revision again. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { CompanyId, UserId } from "../Ids.ts"
import type * as Period from "../payroll/Period.ts"
import { type CopyListOptions, listWithin } from "../sql/read.ts"
import type { CopiedBooks } from "./books.ts"
import { type DifferingRevision, VerificationFailed } from "./CloseError.ts"
import { type CloseSums, detailedSink, type DetailOptions, difference, withoutDetail } from "./CloseSums.ts"
import { type CloseTerms, queryWindow } from "./CloseTerms.ts"
import { type RecordedRevision, termsAt } from "./Revision.ts"
import { type ActiveClose, readSums, type StoredClose } from "./rows.ts"

/** The number of the rules by which a revision is summed. It changes with a release that sums in another way. */
export const sumRules = 1

/** The sums of the punches of a close beside the others, now or at an instant of the history. @internal */
export const sumsOf = (
  company: CompanyId,
  terms: CloseTerms,
  others: ReadonlyArray<Pick<StoredClose, "terms">>,
  { at, detail }: { readonly at?: DateTime.Utc; readonly detail?: DetailOptions["detail"] } = {}
) =>
  Stream.run(
    punchesIn(company, queryWindow(terms), { at }),
    detailedSink(terms, { otherTerms: others.map(({ terms }) => terms), sorted: true, detail })
  )

/**
 * A revision with a row for each date or punch, computed again from the history. Fails with `VerificationFailed` if they do not add
 * up to the recorded rows, or if the history does not reach it. @internal
 */
export const withDetail = Effect.fnUntraced(function*(
  books: CopiedBooks,
  close: StoredClose,
  revision: RecordedRevision,
  detail: DetailOptions["detail"]
) {
  const others = books.all.flatMap(everyTerms)
  const { at, id } = revision
  const fail = (cause: string, people: ReadonlyArray<UserId>) =>
    Effect.fail(new VerificationFailed({ companyId: books.company, revisions: [{ id, people, cause }] }))
  if (at.epochMilliseconds < books.copy.since.epochMilliseconds) {
    return yield* fail("its days are in the history alone, which does not reach it", [])
  }
  const { rows } = yield* sumsOf(books.company, termsAt(close, revision), others, { at, detail })
  const people = new Set(difference(withoutDetail(rows), revision).rows.map(({ userId }) => userId))
  return people.size === 0 ? rows : yield* fail("its history was edited", [...people])
})

export const punchesIn = (company: CompanyId, clockedIn: Period.Interval, options: CopyListOptions = {}) =>
  Stream.catchTag(listWithin(company, { clockedIn }, options), "InvalidRequest", Stream.die)

/** The terms that a close had, with the locations of each revision that added some: any of them may have been the newest. */
const everyTerms = (close: StoredClose): ReadonlyArray<Pick<StoredClose, "terms">> => [
  close,
  ...close.revisions.filter(({ added }) => added.locations.length > 0)
    .map((revision) => ({ terms: termsAt(close, revision) }))
]

/** Whether the history gives a revision again; if not, the people whose sums differ, and why. */
export const verdictOf = Effect.fnUntraced(function*(
  books: CopiedBooks,
  { newest, terms }: Pick<ActiveClose, "newest" | "terms">
) {
  if (newest.at.epochMilliseconds < books.copy.since.epochMilliseconds) return "outOfReach"
  // With the closes that are over: they may have been active at the instant.
  const again = yield* sumsOf(books.company, terms, books.all.flatMap(everyTerms), { at: newest.at })
  // Only now: what was recorded of many people would be in memory beside all that is summed.
  const { rows } = difference(again, yield* readSums(books, newest))
  const userIds = new Set(rows.map(({ userId }) => userId))
  if (userIds.size === 0) return "same"
  return {
    id: newest.id,
    people: [...userIds].toSorted((one, other) => one - other),
    cause: newest.rules === sumRules ? "its history was edited" : "the rules of its sums are others"
  } satisfies DifferingRevision
})

/** A close to correct: the sums of now, and what they have more than the recorded ones. */
export interface Corrected {
  readonly close: ActiveClose
  readonly due: CloseSums
  readonly terms: CloseTerms
  readonly added: RecordedRevision["added"]
  readonly sums: CloseSums
}
