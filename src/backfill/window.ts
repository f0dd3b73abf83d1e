/** A part of a time range that is read with one query: what it owns, what is known of it, where it can be cut. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Segment } from "../Backfill.ts"
import type { Cursor } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"
import { expected, reach, type Trend, trendOf } from "./forecast.ts"

/** Times are epoch milliseconds. */
export interface Task {
  readonly gte: number
  /** What the task owns ends here: at `end`, or just before it. It moves down when the rest is given away. */
  end: number
  inclusive: boolean
  /** The end that the query names. It stays from the first page on, since cursors belong to their query. */
  asked: number
  cursor: Option.Option<Cursor>
  /** How many rows were seen so far, and the latest clock-in of them. */
  rows: number
  latest: number
  /** How rows came in the last page, of this task or of the one that it was cut off. */
  trend: Trend | undefined
}

const makeTask = (gte: number, end: number, inclusive: boolean, trend?: Trend): Task => ({
  gte,
  end,
  inclusive,
  asked: end,
  cursor: Option.none(),
  rows: 0,
  latest: -Infinity,
  trend
})

export const toTask = (segment: Segment): Task => ({
  ...makeTask(segment.gte.epochMilliseconds, segment.until.epochMilliseconds, segment.inclusive),
  asked: (segment.queriedUntil ?? segment.until).epochMilliseconds,
  cursor: segment.cursor
})

export const toSegment = (task: Task, ordered: boolean): Segment => ({
  gte: DateTime.makeUnsafe(task.gte),
  until: DateTime.makeUnsafe(task.end),
  inclusive: task.inclusive,
  cursor: task.cursor,
  ...(Option.isSome(task.cursor) && task.asked !== task.end && { queriedUntil: DateTime.makeUnsafe(task.asked) }),
  ...(Option.isSome(task.cursor) && !ordered && { unordered: true })
})

/** A service that reads its filters less finely than we write them sends rows of the neighbours too. */
export const owns = ({ end, gte, inclusive }: Task, at: number): boolean =>
  at >= gte && (at < end || (inclusive && at === end))

/**
 * Whether all that comes after this page belongs to others, if rows come in order. Where the query ends with the task,
 * others have no more than the last instant, and one row of it says nothing.
 */
export const isPast = ({ asked, end, inclusive, latest }: Task, page: ReadonlyArray<TimePunch>): boolean => {
  const at = asked === end ? page[0]?.clockedIn.epochMilliseconds ?? -Infinity : latest
  return inclusive ? at > end : at >= end
}

/** Where the unread part begins, if rows come in order. */
const position = ({ gte, latest }: Task): number => Math.max(gte, latest)

/** Cuts fall on whole seconds: every service can tell these apart. */
const second = 1000

/** Takes away what is at `at` or later, as a task of its own; nothing where either side would own no second. */
export const cut = (task: Task, at: number): Task | undefined => {
  const { end, inclusive, trend } = task
  const border = Math.ceil(Math.max(at, position(task) + 1) / second) * second
  if (border >= end) return undefined
  task.end = border
  task.inclusive = false
  return makeTask(border, end, inclusive, trend)
}

/**
 * The rows to expect of what is unread. Where nobody has looked, none; or, to share it out by length, one at each
 * instant. Of what an earlier run has begun, nobody knows how far that came before a page of it has landed.
 */
export const expectedOf = (task: Task, byLength: boolean): number => {
  const from = position(task)
  if (task.trend !== undefined) return expected(task.trend, from, task.end)
  return byLength && Option.isNone(task.cursor) ? task.end - from : 0
}

/** Where `rows` of the expected ones have come. */
export const reachOf = (task: Task, rows: number): number => {
  const from = position(task)
  return task.trend === undefined ? from + rows : reach(task.trend, from, rows)
}

/** Takes note of a page, and tells whether its rows came in order. */
export const observe = (task: Task, rows: ReadonlyArray<TimePunch>): boolean => {
  let inOrder = true
  for (const { clockedIn: { epochMilliseconds: at } } of rows) {
    if (at < task.latest) inOrder = false
    else task.latest = at
  }
  task.rows += rows.length
  if (rows[0] !== undefined) task.trend = trendOf(rows.length, rows[0].clockedIn.epochMilliseconds, task.latest)
  return inOrder
}
