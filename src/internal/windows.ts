/** Which part of a time range is read next, by whom, and whose a row is: the plan of a backfill, without any effect. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Segment } from "../Backfill.ts"
import type { Cursor } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { Rows } from "./rows.ts"

/** A part that one worker reads with one query; times are epoch milliseconds. */
export interface Task {
  readonly gte: number
  /** The end that the query names. Its rows are read to the end of the query where order cannot be trusted. */
  readonly asked: number
  /** What this task owns ends here: at `end`, or just before it. It moves down when the rest is given away. */
  end: number
  inclusive: boolean
  cursor: Option.Option<Cursor>
  /** The latest clock-in that was seen, while rows come in order. */
  position: number
  rows: number
}

/** The aim for a window, in pages: small enough to share out, large enough that half-empty last pages are few. */
const windowPages = 4

const span = (task: Task): number => task.end - task.position

/**
 * The plan for a range and so many workers. Rows are owned by instant, so every row has one owner whatever order they
 * come in; order only decides whether a part that has begun can be cut, and whether it may stop before its query ends.
 */
export const makePlan = (segments: ReadonlyArray<Segment>, workers: number, pageSize: number) => {
  const begun: Array<Task> = []
  const pending: Array<Task> = []
  const active = new Set<Task>()
  /** Stopped before the end of their query, because all that came after belonged to others, if order is kept. */
  const stopped: Array<Task> = []
  let trusted = false
  let broken = false
  /** Rows a millisecond, where something was read last; the span to try where nothing was. */
  let density = 0
  for (const segment of segments) (Option.isSome(segment.from) ? begun : pending).push(toTask(segment))
  const whole = pending.reduce((sum, task) => sum + span(task), 0)
  let probe = whole / (workers * 8)

  /** Cuts the rest off a task: what is at `at` or later becomes a task of its own. */
  const cut = (task: Task, at: number): Task => {
    const rest = fresh(at, task.end, task.inclusive)
    task.end = at
    task.inclusive = false
    return rest
  }

  const estimate = (task: Task): number => {
    const read = task.position - task.gte
    return task.rows === 0 || read <= 0 ? density * span(task) : (task.rows / read) * span(task)
  }

  const carve = (task: Task): Task => {
    if (workers === 1) return task
    const unread = pending.reduce((sum, part) => sum + span(part), span(task))
    const page = density === 0 ? 1 : pageSize / density
    const wanted = density === 0 ? probe : Math.min(windowPages * page, Math.max(unread / workers, page))
    const at = task.gte + Math.max(1, Math.ceil(wanted))
    if (at >= task.end - wanted / 2) return task
    pending.unshift(cut(task, at))
    return fresh(task.gte, at, false)
  }

  /** Half of what the busiest task has left, where that is worth a request of its own. */
  const split = (): Task | undefined => {
    let busiest: Task | undefined
    for (const task of active) {
      if (task.rows > 0 && (busiest === undefined || estimate(task) > estimate(busiest))) busiest = task
    }
    if (busiest === undefined || estimate(busiest) < 2 * pageSize) return undefined
    const at = Math.max(busiest.position + 1, Math.ceil(busiest.position + span(busiest) / 2))
    return at < busiest.end ? cut(busiest, at) : undefined
  }

  const take = (): Task | undefined => {
    const next = begun.shift()
    const first = next === undefined ? pending.shift() : undefined
    const task = next ?? (first === undefined ? (trusted && !broken ? split() : undefined) : carve(first))
    if (task !== undefined) active.add(task)
    return task
  }

  /** Order is not kept: whoever stopped early because of it goes on to the end of its query. */
  const distrust = () => {
    broken = true
    begun.push(...stopped.splice(0))
  }

  /** Takes in a page of a task: which rows are its own, and whether it is done. */
  const land = (task: Task, { cursor, rows }: Rows<TimePunch>): { own: ReadonlyArray<TimePunch>; done: boolean } => {
    const before = task.position
    for (const { clockedIn } of rows) {
      if (clockedIn.epochMilliseconds < task.position) distrust()
      task.position = Math.max(task.position, clockedIn.epochMilliseconds)
    }
    task.rows += rows.length
    task.cursor = cursor.next
    const own = rows.filter(({ clockedIn }) => owns(task, clockedIn.epochMilliseconds))
    const ended = Option.isNone(cursor.next)
    const covered = (ended ? task.asked : task.position) - before
    if (rows.length > 0) density = rows.length / Math.max(covered, 1)
    else if (ended) {
      density /= 4
      probe = Math.min(probe * 2, whole / workers)
    }
    if (ended) {
      active.delete(task)
      return { own, done: true }
    }
    if (!trusted || broken) return { own, done: false }
    if (!owns(task, task.position) && task.position >= task.end) {
      active.delete(task)
      stopped.push(task)
      return { own, done: true }
    }
    giveBack(task)
    return { own, done: false }
  }

  /** A window that turns out denser than it was sized for keeps what it aimed at and gives the rest to others. */
  const giveBack = (task: Task) => {
    if (estimate(task) <= 2 * windowPages * pageSize) return
    const aim = (windowPages * pageSize * span(task)) / estimate(task)
    const at = Math.max(task.position + 1, Math.ceil(task.position + aim))
    if (at < task.end) pending.unshift(cut(task, at))
  }

  return {
    take,
    land,
    trust: () => {
      trusted = true
    },
    /** Whether nothing is left to take and nobody is at work who might give something back. */
    isDone: () => begun.length === 0 && pending.length === 0 && active.size === 0,
    /** Whether no task that is being read is earlier than this one. */
    isFirst: (task: Task) => [...active].every((other) => other.gte >= task.gte),
    /** Where the first row that is still to be read may be; infinite when all are read. */
    frontier: () => Math.min(...[...active, ...begun, ...pending].map((task) => task.gte)),
    unfinished: (): ReadonlyArray<Segment> =>
      [...active, ...begun, ...pending].toSorted((a, b) => a.gte - b.gte).map(toSegment)
  }
}

export type Plan = ReturnType<typeof makePlan>

const owns = (task: Task, at: number): boolean => at < task.end || (task.inclusive && at === task.end)

const fresh = (gte: number, end: number, inclusive: boolean): Task => ({
  gte,
  asked: end,
  end,
  inclusive,
  cursor: Option.none(),
  position: gte,
  rows: 0
})

const toTask = (segment: Segment): Task => ({
  ...fresh(segment.gte.epochMilliseconds, segment.end.epochMilliseconds, segment.inclusive),
  asked: (segment.asked ?? segment.end).epochMilliseconds,
  cursor: segment.from
})

const toSegment = (task: Task): Segment => ({
  gte: DateTime.makeUnsafe(task.gte),
  end: DateTime.makeUnsafe(task.end),
  inclusive: task.inclusive,
  from: task.cursor,
  ...(task.asked === task.end ? undefined : { asked: DateTime.makeUnsafe(task.asked) })
})
