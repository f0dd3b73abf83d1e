/** The sums of a close, and whether the history gives a revision again. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Row } from "effect/sql/SqlConnection"
import type * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { type CompanyId, LocationId, type UserId } from "../Ids.ts"
import { numberOf, raw } from "../internal/sql/dialect.ts"
import type * as Period from "../payroll/Period.ts"
import { readKnown } from "../sql/known.ts"
import { type CopyListOptions, listWithin } from "../sql/read.ts"
import type { Books, CopiedBooks } from "./books.ts"
import { type DifferingRevision, VerificationFailed } from "./CloseError.ts"
import { type CloseSums, detailedSink, type DetailOptions, difference, withoutDetail } from "./CloseSums.ts"
import { type CloseTerms, getCountedInterval, queryWindow } from "./CloseTerms.ts"
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
  revision: StoredClose["revisions"][number],
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
  const people = new Set(
    difference(withoutDetail(rows), yield* readSums(books, revision)).rows.map(({ userId }) => userId)
  )
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

/**
 * The closes whose sums may be others than those of their newest revision. Left out is one of the same rules whose history is
 * known since its instant, if none of its punches was written or replaced since then, none that counts for its thresholds either,
 * and if none lies beside it at a location without an entry: that one is of a later close, or has no day rule.
 */
export const movedOf = Effect.fnUntraced(function*(books: Books, closes: ReadonlyArray<ActiveClose>) {
  const { company, database: { dialect: { bigint, millisOf, tables, timestamp }, sql } } = books
  const { since = Infinity } = yield* readKnown(books.database, company)
  const still = new Set(
    closes.filter(({ newest: { at, rules } }) => rules === sumRules && at.epochMilliseconds >= since).map(extentOf)
  )
  if (still.size === 0) return closes
  const extents = [...still]
  const isNear = sql`company_id = ${bigint(company)}
    AND clocked_in >= ${timestamp(Math.min(...extents.map(({ from }) => from)))}
    AND clocked_in < ${timestamp(Math.max(...extents.map(({ to }) => to)))}`
  const query = sql<Row>
  const places = extents.every(({ clocks }) => clocks.has(undefined)) ? [] : yield* query`SELECT location_id,
      ${millisOf("min(clocked_in)")} AS earliest, ${millisOf("max(clocked_in)")} AS latest
    FROM ${tables.rows}
    WHERE ${isNear} AND NOT deleted AND missing_at IS NULL
    GROUP BY location_id`
  for (const { earliest, latest, location_id: id } of places) {
    for (const each of extents) {
      const isKnown = each.clocks.has(undefined) || each.clocks.has(numberOf(id))
      if (!isKnown && numberOf(earliest) < each.to && numberOf(latest) >= each.from) still.delete(each)
    }
  }
  // Each state by its own clock-in and location: a punch that was moved out of a close has one there in the history. A close is
  // written some time after its last day: few states changed as late after their clock-in, and only these are read.
  const delay = Math.min(...extents.map(({ at, end }) => at - end))
  const changedIn = (table: Statement.Fragment, changed: "valid_from" | "valid_to") =>
    sql`SELECT location_id, ${millisOf("clocked_in")} AS clocked_in, ${millisOf(changed)} AS changed
      FROM ${table}
      WHERE ${isNear} AND ${raw(changed)} > ${timestamp(Math.min(...extents.map(({ at }) => at)))}
        AND ${millisOf(changed)} - ${millisOf("clocked_in")} >= ${bigint(delay)}`
  yield* Stream.runForEach(
    query`${changedIn(tables.rows, "valid_from")} UNION ALL ${changedIn(tables.history, "valid_to")}`.stream,
    ({ changed, clocked_in: clockedIn, location_id: id }) =>
      Effect.sync(() => {
        for (const each of still) if (each.has(numberOf(id), numberOf(clockedIn), numberOf(changed))) still.delete(each)
      })
  )
  const left = new Set(Array.from(still, ({ close }) => close))
  return closes.filter((close) => !left.has(close))
})

/** Where the punches lie that the sums of a close depend on. */
const extentOf = (close: ActiveClose) => {
  const { newest, terms } = close
  const { gte, lt } = queryWindow(terms)
  const at = newest.at.epochMilliseconds
  const end = Math.max(...terms.clocks.map(({ starts }) => starts.at(-1)?.epochMilliseconds ?? 0))
  const clocks = new Map<number | undefined, number>(
    terms.locations.map(({ clock, locationId }) => [Option.getOrUndefined(locationId), clock])
  )
  // The days of a clock are the same at each of its locations, of which there are many.
  const intervals = new Map<number, ReturnType<typeof getCountedInterval>>()
  /** Whether a state that changed since the revision counts. */
  const has = (id: number, clockedIn: number, changed: number): boolean => {
    const clock = clocks.get(id) ?? clocks.get(undefined)
    if (changed <= at || clock === undefined || clockedIn >= end || clockedIn < gte.epochMilliseconds) return false
    const interval = intervals.get(clock) ?? getCountedInterval(terms, LocationId.make(id))
    intervals.set(clock, interval)
    return interval !== undefined && interval.countedFrom <= clockedIn && clockedIn < interval.to
  }
  return { close, at, from: gte.epochMilliseconds, to: lt.epochMilliseconds, end, clocks, has }
}

/** A close to correct: the sums of now, and what they have more than the recorded ones. */
export interface Corrected {
  readonly close: ActiveClose
  readonly due: CloseSums
  readonly terms: CloseTerms
  readonly added: RecordedRevision["added"]
  readonly sums: CloseSums
}
