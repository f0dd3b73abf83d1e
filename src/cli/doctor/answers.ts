/** What the service answered so far, and the requests that confirm a contradiction before it counts as one. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import type { Page } from "../../Page.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { maxPageSize } from "../flags/paging.ts"

/** Some pages of a listing from its start. */
export interface Listing {
  readonly pages: ReadonlyArray<Page>
  readonly punches: ReadonlyArray<TimePunch>
  /** Whether the service said that no page follows. */
  readonly isWhole: boolean
}

/** A punch of an answer, and the filter that was sent for it. */
export interface Sighting {
  readonly punch: TimePunch
  readonly filter: PunchFilter
}

/** What the checks share. */
export interface Survey {
  readonly company: Company
  /** The filter as it was given. */
  readonly filter: PunchFilter
  readonly pageSize: number
  /** The largest page of the filter. */
  readonly known: Listing
  /** Every punch of the answers to other filters; the checks add to it. */
  readonly sightings: Array<Sighting>
}

const toListing = (pages: ReadonlyArray<Page>): Listing => ({
  pages,
  punches: pages.flatMap(({ items }) => items),
  isWhole: pages.every(({ cursor }, at) => at < pages.length - 1 || Option.isNone(cursor.next))
})

/** Reads at most so many pages. */
export const readPages = (company: Company, filter: PunchFilter, pageSize: number, pages: number) =>
  TimePunches.pages(company, filter, { pageSize }).pipe(
    Stream.take(pages),
    Stream.runCollect,
    Effect.map(toListing)
  )

/** A service may send a few empty pages before the first punch. */
const mostEmptyPages = 5

/** Reads up to the first page that has a punch. */
export const readFirst = (company: Company, filter: PunchFilter, pageSize: number) =>
  TimePunches.pages(company, filter, { pageSize }).pipe(
    Stream.take(mostEmptyPages),
    Stream.takeUntil(({ items }) => items.length > 0),
    Stream.runCollect,
    Effect.map(toListing)
  )

/** The largest page of a filter. */
export const readKnown = (company: Company, filter: PunchFilter) => readFirst(company, filter, maxPageSize)

export const idsOf = (punches: ReadonlyArray<TimePunch>): ReadonlyArray<number> => punches.map(({ id }) => id)

/** Whether the punch is among these, with equal fields. */
export const isAmong = (punch: TimePunch, punches: ReadonlyArray<TimePunch>): boolean =>
  punches.some((other) => other.id === punch.id && Equal.equals(other, punch))

/** Whether two answers have the same punches in the same order, and end alike. */
export const isSame = (a: Listing, b: Listing): boolean =>
  a.isWhole === b.isWhole && a.punches.length === b.punches.length &&
  a.punches.every((punch, at) => Equal.equals(punch, b.punches[at]))

/**
 * Those of the punches that the filter still gives, unchanged. A punch that an earlier answer had, that this one has,
 * and that an answer between them omits, was omitted although it matched.
 */
export const confirm = (punches: ReadonlyArray<TimePunch>, company: Company, filter: PunchFilter, pageSize: number) =>
  Effect.map(
    readFirst(company, filter, pageSize),
    (listing) => punches.filter((punch) => isAmong(punch, listing.punches))
  )
