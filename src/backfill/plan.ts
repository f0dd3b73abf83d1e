/** Which part of a time range is read next, and whose a row is: the plan of a backfill, without any effect. */
import * as Option from "effect/Option"
import type { Segment } from "../Backfill.ts"
import type { Rows } from "../listing/rows.ts"
import type { TimePunch } from "../TimePunch.ts"
import { cut, expectedOf, isPast, observe, owns, reachOf, type Task, toSegment, toTask } from "./window.ts"

export interface PlanOptions {
  readonly workers: number
  readonly pageSize: number
  /** How many pages may be held before only what the others wait for is read. */
  readonly capacity: number
  readonly order: "asCompleted" | "byTime"
  /** Whether rows come in the order that is asked for. Where they do not, what has begun is never cut. */
  readonly ordered: boolean
}

/** The aim for windows that cannot be cut, in pages: small enough to share out, large enough that few are half empty. */
const windowPages = 4

/**
 * A plan for segments that do not overlap. A row is owned by its instant, so it has one owner whatever order rows come
 * in. Order only decides whether a task that has begun can be cut, and whether it may stop before its query ends.
 */
export const makePlan = (segments: ReadonlyArray<Segment>, options: PlanOptions) => {
  const { capacity, order, pageSize, workers } = options
  /** Waiting to be read, the earliest first. */
  const open = segments.map(toTask).toSorted((a, b) => a.gte - b.gte)
  /** A page of these is on its way. */
  const active = new Set<Task>()
  /** What stopped before the end of its query, since all that came after belonged to others: if order is kept. */
  const stopped: Array<Segment> = []
  const longest = open.reduce((sum, task) => sum + task.end - task.gte, 0) / (workers * 8)
  let length = longest
  let anyLanded = false
  let ordered = options.ordered && !segments.some(({ unordered }) => unordered === true)

  const add = (task: Task): void => {
    const later = open.findIndex((other) => other.gte > task.gte)
    open.splice(later === -1 ? open.length : later, 0, task)
  }

  /** Before anything is known, only what may come in any order is shared out. */
  const expected = (task: Task): number => expectedOf(task, order === "asCompleted" && !anyLanded)

  /** Half of what is expected of the task that most is expected of, where that is at least `least` rows. */
  const split = (before: number, least: number): Task | undefined => {
    const busiest = [...active].reduce<Task | undefined>(
      (best, task) => task.gte < before && (best === undefined || expected(task) > expected(best)) ? task : best,
      undefined
    )
    return busiest === undefined || expected(busiest) < least
      ? undefined
      : cut(busiest, reachOf(busiest, expected(busiest) / 2))
  }

  const start = (task: Task): Task => {
    const begun = Option.isSome(task.cursor)
    const rest = !ordered && !begun && workers > 1 ? cut(task, task.gte + length) : undefined
    if (rest !== undefined) add(rest)
    if (!begun) task.asked = task.end
    active.add(task)
    return task
  }

  /**
   * What an idle worker can do for those at work. Where nothing waits, half a page of their rows is worth a request. Where
   * the buffer fills up, a page and a half of what must come before `first` is worth more than `first`.
   */
  const share = (held: number, first: Task | undefined): Task | undefined => {
    if (!ordered || workers === 1) return undefined
    if (first === undefined) return split(Infinity, pageSize / 2)
    return order === "byTime" && 2 * held >= capacity ? split(first.gte, 1.5 * pageSize) : undefined
  }

  /**
   * The task to read a page of, where `held` pages are on their way or landed. If none of them is `ready` for the
   * consumer, they wait for the earliest task, which then needs no room.
   */
  const take = (held: number, ready: boolean): Task | undefined => {
    const [first] = open
    const isEarliest = first !== undefined && [...active].every((task) => task.gte > first.gte)
    if (held >= capacity && (ready || !isEarliest)) return undefined
    const task = (isEarliest ? undefined : share(held, first)) ?? open.shift()
    return task && start(task)
  }

  /** Order is not kept: what stopped early because of it goes on to the end of its query. */
  const distrust = (): void => {
    ordered = false
    for (const segment of stopped.splice(0)) add(toTask(segment))
  }

  /** Takes in a page of a task, and tells which of its rows are the task's own. */
  const land = (task: Task, { cursor, rows }: Rows<TimePunch>): ReadonlyArray<TimePunch> => {
    active.delete(task)
    anyLanded = true
    if (!observe(task, rows)) distrust()
    task.cursor = cursor.next
    if (Option.isNone(cursor.next)) {
      // The next window that cannot be cut is as long as this one should have been.
      length = Math.min(longest, (task.end - task.gte) * (windowPages * pageSize) / Math.max(task.rows, 1))
    } else if (ordered && isPast(task, rows)) stopped.push(toSegment(task, ordered))
    else add(task)
    return rows.filter(({ clockedIn }) => owns(task, clockedIn.epochMilliseconds))
  }

  const unread = (): ReadonlyArray<Task> => [...active, ...open]

  return {
    take,
    land,
    /** Whether nothing is left to read and nothing is on its way. */
    isDone: () => open.length === 0 && active.size === 0,
    /** Where the first row that is still to be read may be; infinite when all are read. */
    frontier: () => Math.min(...unread().map((task) => task.gte)),
    /** What stopped early too: whether order is kept may only show in the run that goes on. */
    unfinished: (): ReadonlyArray<Segment> => {
      const left = unread().map((task) => toSegment(task, ordered))
      return left.length === 0
        ? left
        : [...left, ...stopped].toSorted((a, b) => a.gte.epochMilliseconds - b.gte.epochMilliseconds)
    }
  }
}
