/** Which window is read next, and which rows of a page it owns: the plan of a backfill, without effects. */
import * as Option from "effect/Option"
import type { DecodedPage } from "../listing/rows.ts"
import type { Segment } from "../Segment.ts"
import type { TimePunch } from "../TimePunch.ts"
import {
  cutWindow,
  hasBegun,
  instantAfterUnread,
  isPast,
  observe,
  owns,
  toSegment,
  toWindow,
  unreadRows,
  type Window
} from "./window.ts"

interface PlanOptions {
  readonly workers: number
  readonly pageSize: number
  /** Pages that may be in flight or buffered; beyond it only the window that the consumer waits for is read. */
  readonly capacity: number
  readonly order: "asCompleted" | "byTime"
  /** Whether the service returns rows in the requested order. If not, a window is never cut once it has begun. */
  readonly ordered: boolean
}

/** Pages to aim for in a window that cannot be cut: few enough to share, many enough that few pages are half empty. */
const windowPages = 4

export type Plan = ReturnType<typeof makePlan>

/**
 * A plan for segments that do not overlap. The owner of a row is decided by its instant, so each row has one, in
 * whatever order rows come. Order only decides whether a window can be cut once it has begun, and whether it may stop
 * before its query ends.
 */
export const makePlan = (segments: ReadonlyArray<Segment>, options: PlanOptions) => {
  const { capacity, order, pageSize, workers } = options
  /** No page of these is in flight. */
  const open = makeOrderedList(segments.map(toWindow))
  /** A page of these is in flight. */
  const active = new Set<Window>()
  /** Stopped before their query ended, since, if rows are ordered, all further rows belong to other windows. */
  const stopped: Array<Segment> = []
  /** The length of an earlier run; 0 without one. */
  const learned = Math.max(0, ...segments.map(({ windowLength }) => windowLength ?? 0))
  // What is left shrinks with each resumed run; windows that shrank with it would be read one by one, nearly empty.
  const longest = Math.max(learned, open.items.reduce((sum, { gte, until }) => sum + until - gte, 0) / (workers * 8))
  /** Length of the next window that cannot be cut, in milliseconds. */
  let length = learned === 0 ? longest : learned
  let anyCompleted = false
  let ordered = options.ordered && !segments.some(({ unordered }) => unordered === true)

  /** Before the first page, a range may be split by its length, but only if pages may be emitted in any order. */
  const expected = (window: Window): number => unreadRows(window, order === "asCompleted" && !anyCompleted)

  const isFirst = (window: Window): boolean => [...active].every(({ gte }) => gte > window.gte)

  const isHalfFull = (occupied: number): boolean => 2 * occupied >= capacity

  const canSteal = (): boolean => ordered && workers > 1

  /** Without order a window is cut to its length before it begins, since it cannot be cut later. */
  const mustCutFirst = (window: Window): boolean => !ordered && workers > 1 && !hasBegun(window)

  /**
   * Cuts the active window with the most expected rows, if that many are at least `least`: in half, or, while only both
   * ends of the range are known, for all workers without a window.
   */
  const splitBusiest = (before: number, least: number): Window | undefined => {
    const busiest = [...active].reduce<Window | undefined>(
      (best, window) =>
        window.gte < before && (best === undefined || expected(window) > expected(best)) ? window : best,
      undefined
    )
    if (busiest === undefined || expected(busiest) < least) return undefined
    const parts = busiest.ends === undefined ? 2 : workers - active.size + 1
    return cutWindow(busiest, instantAfterUnread(busiest, expected(busiest) * (1 - 1 / parts)))
  }

  /**
   * Work stealing. With no window waiting, half of the busiest one is worth a request if half a page of rows is
   * expected. In the order of time, with the buffer half full, a page and a half that comes before `waiting` is worth
   * more than `waiting`.
   */
  const steal = (occupied: number, waiting: Window | undefined): Window | undefined => {
    if (!canSteal()) return undefined
    if (waiting === undefined) return splitBusiest(Infinity, pageSize / 2)
    return order === "byTime" && isHalfFull(occupied) ? splitBusiest(waiting.gte, 1.5 * pageSize) : undefined
  }

  const start = (window: Window): Window => {
    const rest = mustCutFirst(window) ? cutWindow(window, window.gte + length) : undefined
    if (rest !== undefined) open.add(rest)
    if (!hasBegun(window)) window.queriedUntil = window.until
    active.add(window)
    return window
  }

  /**
   * The window whose next page to read, or `undefined` while there is none. `buffered` pages wait for the consumer;
   * `isReady` if it can take one of them.
   */
  const next = (buffered: number, isReady: boolean): Window | undefined => {
    const occupied = active.size + buffered
    const waiting = open.first()
    // If the consumer can take nothing from the buffer, it waits for the first window: that one needs no room.
    const isAwaited = waiting !== undefined && isFirst(waiting)
    if (occupied >= capacity && (isReady || !isAwaited)) return undefined
    const window = (isAwaited ? undefined : steal(occupied, waiting)) ?? open.removeFirst()
    return window && start(window)
  }

  /** Rows are not ordered: the windows that stopped early are read to the end of their queries. */
  const assumeUnordered = (): void => {
    ordered = false
    for (const segment of stopped.splice(0)) open.add(toWindow(segment))
  }

  const segmentOf = (window: Window): Segment => ({
    ...toSegment(window, ordered),
    ...(!ordered && workers > 1 && { windowLength: Math.max(1, Math.ceil(length)) })
  })

  /** The length at which this window would have had `windowPages` pages. */
  const lengthFor = ({ gte, rows, until }: Window): number =>
    Math.min(longest, (until - gte) * (windowPages * pageSize) / Math.max(rows, 1))

  /**
   * Records a page of a window that `next` returned, and returns the rows that the window owns. `last` are the rows of the
   * last page of its query, in the order of time, if a survey read them.
   */
  const complete = (
    window: Window,
    { cursor, rows }: DecodedPage<TimePunch>,
    last?: ReadonlyArray<TimePunch>
  ): ReadonlyArray<TimePunch> => {
    active.delete(window)
    anyCompleted = true
    const inOrder = observe(window, rows, last)
    // A range cut into equal parts is read at all of them at once: in the order of time, the buffer must hold them.
    if (order === "byTime" && (window.ends?.curve.total ?? 0) > capacity * pageSize) window.ends = undefined
    if (!inOrder) assumeUnordered()
    window.cursor = cursor.next
    if (Option.isNone(cursor.next)) length = lengthFor(window)
    else if (ordered && isPast(window, rows)) stopped.push(toSegment(window, ordered))
    else open.add(window)
    return rows.filter(({ clockedIn }) => owns(window, clockedIn.epochMilliseconds))
  }

  const unread = (): ReadonlyArray<Window> => [...active, ...open.items]

  return {
    next,
    complete,
    /** Whether every window is read and no page is in flight. */
    isDone: () => open.items.length === 0 && active.size === 0,
    /** No unread row lies before this instant; infinite once all are read. */
    frontier: () => Math.min(...unread().map(({ gte }) => gte)),
    /** What a later run has to read, with the windows that stopped early: it may be the one that finds rows unordered. */
    unfinished: (): ReadonlyArray<Segment> => {
      const left = unread().map(segmentOf)
      return left.length === 0
        ? left
        : [...left, ...stopped].toSorted((a, b) => a.gte.epochMilliseconds - b.gte.epochMilliseconds)
    }
  }
}

/** A list sorted by `gte`; items with the same `gte` stay in the order in which they were added. */
export const makeOrderedList = <A extends { readonly gte: number }>(initial: ReadonlyArray<A> = []) => {
  const items = initial.toSorted((a, b) => a.gte - b.gte)
  return {
    add: (item: A): void => {
      const later = items.findIndex(({ gte }) => gte > item.gte)
      items.splice(later === -1 ? items.length : later, 0, item)
    },
    /** The first item, which stays in the list. */
    first: () => items[0],
    removeFirst: () => items.shift(),
    /** The items in order. */
    items
  }
}
