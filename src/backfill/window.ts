/** A part of the range that is read with one query: what it owns, what its pages showed, where it can be cut. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Cursor } from "../Ids.ts"
import type { Segment } from "../Segment.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type BothEnds, bothEndsOf, instantBetween, rowsBetween } from "./bothEnds.ts"

/** Instants are epoch milliseconds. */
export interface Window {
  readonly gte: number
  /** The end of what the window owns; a cut moves it down. */
  until: number
  /** Whether the window owns the instant `until`. */
  inclusive: boolean
  /** The end that the query names. Fixed once a page was read, since a cursor belongs to its query. */
  queriedUntil: number
  cursor: Option.Option<Cursor>
  /** Rows of its own range read so far. A service that ignores the range sends the rows of other windows too. */
  rows: number
  /** The latest clock-in read so far. */
  latest: number
  /** From the last page with rows, of this window or of the one that it was cut from. */
  forecast: Forecast | undefined
  /** Known while no page but the first of the range was read, of this window or of the one that it was cut from. */
  ends: BothEnds | undefined
}

const makeWindow = (
  gte: number,
  until: number,
  inclusive: boolean,
  { ends, forecast }: Partial<Pick<Window, "forecast" | "ends">> = {}
): Window => ({
  gte,
  until,
  inclusive,
  queriedUntil: until,
  cursor: Option.none(),
  rows: 0,
  latest: -Infinity,
  forecast,
  ends
})

export const toWindow = (segment: Segment): Window => ({
  ...makeWindow(segment.gte.epochMilliseconds, segment.until.epochMilliseconds, segment.inclusive),
  queriedUntil: (segment.queriedUntil ?? segment.until).epochMilliseconds,
  cursor: segment.cursor
})

export const toSegment = (window: Window, ordered: boolean): Segment => ({
  gte: DateTime.makeUnsafe(window.gte),
  until: DateTime.makeUnsafe(window.until),
  inclusive: window.inclusive,
  cursor: window.cursor,
  ...(hasBegun(window) && window.queriedUntil !== window.until && {
    queriedUntil: DateTime.makeUnsafe(window.queriedUntil)
  }),
  ...(hasBegun(window) && !ordered && { unordered: true })
})

/** Whether a page of the window was read, in this run or an earlier one. */
export const hasBegun = ({ cursor }: Window): boolean => Option.isSome(cursor)

/** A service with coarser filters than the query also sends rows of the neighbours: each row has one owner. */
export const owns = ({ gte, inclusive, until }: Window, at: number): boolean =>
  at >= gte && (at < until || (inclusive && at === until))

/**
 * Whether every row after this page belongs to other windows, given that rows are ordered. If the query ends with the
 * window, others own no more than its last instant, and a single row there proves nothing: the whole page must lie
 * there.
 */
export const isPast = ({ inclusive, latest, queriedUntil, until }: Window, page: ReadonlyArray<TimePunch>): boolean => {
  const at = queriedUntil === until ? page[0]?.clockedIn.epochMilliseconds ?? -Infinity : latest
  return inclusive ? at > until : at >= until
}

/** Start of the unread part, given that rows are ordered. */
const unreadFrom = ({ gte, latest }: Window): number => Math.max(gte, latest)

/** Cuts fall on whole seconds: every service distinguishes these. */
const second = 1000

/** Cuts off the part from `at` on and returns it; `undefined` without a whole second left between its start and end. */
export const cutWindow = (window: Window, at: number): Window | undefined => {
  const { inclusive, until } = window
  const border = Math.ceil(Math.max(at, unreadFrom(window) + 1) / second) * second
  if (border >= until) return undefined
  window.until = border
  window.inclusive = false
  return makeWindow(border, until, inclusive, window)
}

/**
 * The rows to expect in the unread part. Without a forecast: none, or with `byLength` one at each millisecond, which
 * splits a range by its length. A window begun by an earlier run has no forecast before its next page, since its
 * position is not known.
 */
export const unreadRows = (window: Window, byLength: boolean): number => {
  const from = unreadFrom(window)
  if (window.ends !== undefined) return rowsBetween(window.ends, from, window.until)
  if (window.forecast !== undefined) return expectedRows(window.forecast, from, window.until)
  return byLength && !hasBegun(window) ? window.until - from : 0
}

/** The instant by which `rows` of the unread rows are expected. */
export const instantAfterUnread = (window: Window, rows: number): number => {
  const from = unreadFrom(window)
  if (window.ends !== undefined) return instantBetween(window.ends, from, window.until, rows)
  return window.forecast === undefined ? from + rows : instantAfterRows(window.forecast, from, rows)
}

const instantsOf = (rows: ReadonlyArray<TimePunch>): ReadonlyArray<number> =>
  rows.map(({ clockedIn }) => clockedIn.epochMilliseconds)

/**
 * Records the rows of a page and returns whether they came in order. `last` are the rows of the last page of the query,
 * if a survey read them.
 */
export const observe = (
  window: Window,
  rows: ReadonlyArray<TimePunch>,
  last: ReadonlyArray<TimePunch> = []
): boolean => {
  let inOrder = true
  for (const { clockedIn: { epochMilliseconds: at } } of rows) {
    if (at < window.latest) inOrder = false
    else window.latest = at
    if (owns(window, at)) window.rows++
  }
  window.ends = bothEndsOf(instantsOf(rows), instantsOf(last))
  const [first] = rows
  if (first !== undefined) {
    window.forecast = forecastOf(rows.length, first.clockedIn.epochMilliseconds, window.latest)
  }
  return inOrder
}

/**
 * How many rows to expect in a part that was not read, and where to cut it so that both sides expect the same. Only speed
 * depends on this estimate. Rows arrive evenly over months, by day and night, in rushes of minutes, or all at once. One
 * rule fits all of these: a rate lasts about as long again as it has lasted. After `span` it lasts for another `x` with
 * probability `span / (span + x)`, so `rows` rows in the `span` milliseconds before `at` predict `rows · ln(1 + x / span)`
 * rows in the next `x`. Nearby this is an even rate; far off, each doubling of the distance adds the same number. A rush is
 * cut within minutes of its last row, an even range in the middle, and the rule need not know which of them it has.
 */
interface Forecast {
  readonly at: number
  readonly span: number
  readonly rows: number
}

/** Time clocks count seconds: rows within one second have no measurable rate. */
const shortestSpan = 1000

export const forecastOf = (rows: number, from: number, at: number): Forecast => ({
  rows,
  at,
  span: Math.max(at - from, shortestSpan)
})

/** The rows to expect from `from` to `to`; neither lies before the forecast's `at`. */
export const expectedRows = ({ at, rows, span }: Forecast, from: number, to: number): number =>
  rows * Math.log((span + to - at) / (span + from - at))

/** The instant by which `count` rows are expected, counted from `from`. */
export const instantAfterRows = ({ at, rows, span }: Forecast, from: number, count: number): number =>
  at - span + (span + from - at) * Math.exp(count / rows)
