/** Plays a plan against an array of rows: workers that land in any order, a buffer, a consumer, runs that break off. */
import { DateTime, Option } from "effect"
import { makePlan } from "../../src/backfill/plan.ts"
import type { Task } from "../../src/backfill/window.ts"
import { Cursor, type Segment, type TimePunch, TimePunchId } from "../../src/index.ts"
import { punch } from "../support/arbitraryPunch.ts"
import type { Random } from "../support/random.ts"

/** The order in which a query's rows come. */
export type Arrange = (rows: ReadonlyArray<TimePunch>) => ReadonlyArray<TimePunch>

export interface Scene {
  readonly rows: ReadonlyArray<TimePunch>
  readonly range: Segment
  readonly arrange: Arrange
  /** What the survey of this service says. */
  readonly ordered: boolean
  /** A service that sends every row whatever range it is asked for. */
  readonly unfiltered?: boolean
}

export interface Run {
  readonly workers: number
  readonly pageSize: number
  readonly order: "asCompleted" | "byTime"
  /** After so many pages the run fails. */
  readonly breaksAfter: number
  /** Chance of the consumer to take a page at each turn. */
  readonly appetite: number
}

/** What came of a run. */
export interface Played {
  readonly emitted: ReadonlyArray<TimePunch>
  readonly unfinished: ReadonlyArray<Segment>
  readonly mostHeld: number
  readonly mostAtOnce: number
}

const millis = ({ clockedIn }: TimePunch) => clockedIn.epochMilliseconds

const moment = (at: number) => DateTime.makeUnsafe(at)

/** A row at an instant; its id is its place in the order of ids. */
export const rowAt = (at: number, id: number): TimePunch => punch({ id: TimePunchId.make(id), clockedIn: moment(at) })

export const byTime: Arrange = (rows) => rows.toSorted((a, b) => millis(a) - millis(b) || a.id - b.id)
export const byId: Arrange = (rows) => rows.toSorted((a, b) => a.id - b.id)
/** Keeps the order asked for up to an instant, and from there on the one of the ids. */
export const byTimeUntil = (end: number): Arrange => (rows) => [
  ...byTime(rows.filter((row) => millis(row) < end)),
  ...byId(rows.filter((row) => millis(row) >= end))
]

export const segment = (gte: number, end: number, inclusive: boolean): Segment => ({
  gte: moment(gte),
  until: moment(end),
  inclusive,
  cursor: Option.none()
})

/** The rows that a range owns. */
export const within = ({ gte, inclusive, until }: Segment, rows: ReadonlyArray<TimePunch>) =>
  rows.filter((row) =>
    millis(row) >= gte.epochMilliseconds &&
    (inclusive ? millis(row) <= until.epochMilliseconds : millis(row) < until.epochMilliseconds)
  )

const matches = new WeakMap<Scene, Map<string, ReadonlyArray<TimePunch>>>()

const matching = (scene: Scene, gte: number, asked: number): ReadonlyArray<TimePunch> => {
  const known = matches.get(scene) ?? new Map<string, ReadonlyArray<TimePunch>>()
  matches.set(scene, known)
  const query = `${gte}..${asked}`
  const isAsked = (row: TimePunch) => scene.unfiltered === true || (millis(row) >= gte && millis(row) <= asked)
  const found = known.get(query) ?? scene.arrange(scene.rows.filter(isAsked))
  known.set(query, found)
  return found
}

/** A page as the service would answer it. A cursor is good for the query that it came from alone. */
const answer = (scene: Scene, { asked, cursor, gte }: Task, pageSize: number) => {
  const query = `${gte}..${asked}`
  const [name, offset] = Option.isNone(cursor) ? [query, 0] : cursor.value.split("@")
  if (name !== query) throw new Error(`a cursor of ${name} was sent with ${query}`)
  const matched = matching(scene, gte, asked)
  const from = Number(offset)
  const next = from + pageSize < matched.length
    ? Option.some(Cursor.make(`${query}@${from + pageSize}`))
    : Option.none()
  const none = Option.none()
  return { rows: matched.slice(from, from + pageSize), cursor: { current: none, prev: none, next, count: none } }
}

/** How many pages a run may hold, as the stream has it. */
export const capacityOf = ({ order, workers }: Run): number => workers * (order === "byTime" ? 8 : 1)

/** Draws who moves next, over and over, until all is read and emitted or the run breaks off. */
export const play = (random: Random, scene: Scene, segments: ReadonlyArray<Segment>, run: Run): Played => {
  const { appetite, breaksAfter, order, pageSize, workers } = run
  const plan = makePlan(segments, { workers, pageSize, order, ordered: scene.ordered, capacity: capacityOf(run) })
  const flying: Array<{ readonly task: Task; readonly page: ReturnType<typeof answer> }> = []
  const landed: Array<{ readonly gte: number; readonly rows: ReadonlyArray<TimePunch> }> = []
  const emitted: Array<TimePunch> = []
  let [pages, mostHeld, mostAtOnce] = [0, 0, 0]

  const next = (failed: boolean) => {
    if (order === "asCompleted") return landed[0]
    const [first] = landed.toSorted((a, b) => a.gte - b.gte)
    return first !== undefined && (failed || first.gte <= plan.frontier()) ? first : undefined
  }
  const consume = (failed: boolean): boolean => {
    const page = next(failed)
    if (page === undefined) return false
    landed.splice(landed.indexOf(page), 1)
    emitted.push(...page.rows)
    return true
  }
  const take = (): boolean => {
    const task = flying.length < workers
      ? plan.take(flying.length + landed.length, next(false) !== undefined)
      : undefined
    if (task === undefined) return false
    flying.push({ task, page: answer(scene, task, pageSize) })
    return true
  }
  const land = (): boolean => {
    const [flight] = flying.splice(random.between(0, flying.length - 1), 1)
    if (flight === undefined) return false
    const own = plan.land(flight.task, flight.page)
    pages++
    if (own.length > 0) landed.push({ gte: flight.task.gte, rows: own })
    return true
  }

  const isOver = () => pages >= breaksAfter || (plan.isDone() && landed.length === 0)
  while (!isOver()) {
    const moves = random.chance(appetite) ? [() => consume(false), take, land] : [take, land, () => consume(false)]
    if (random.chance(0.5)) moves.push(...moves.splice(0, 1))
    if (!moves.some((move) => move())) throw new Error("nobody can go on, and not all is read")
    mostHeld = Math.max(mostHeld, flying.length + landed.length)
    mostAtOnce = Math.max(mostAtOnce, flying.length)
  }
  while (consume(true)) { /* what has landed is emitted before the failure */ }
  return { emitted, unfinished: plan.unfinished(), mostHeld, mostAtOnce }
}

/** All workers ask at once and are answered at once: how many rounds a run takes, and how many requests. */
export const playInStep = (scene: Scene, run: Run): { readonly rounds: number; readonly requests: number } => {
  const plan = makePlan([scene.range], { ...run, ordered: scene.ordered, capacity: capacityOf(run) })
  const landed: Array<number> = []
  let [rounds, requests] = [0, 0]
  while (!plan.isDone()) {
    const flying: Array<Task> = []
    for (let worker = 0; worker < run.workers; worker++) {
      const task = plan.take(flying.length + landed.length, false)
      if (task !== undefined) flying.push(task)
    }
    for (const task of flying) {
      if (plan.land(task, answer(scene, task, run.pageSize)).length > 0) landed.push(task.gte)
    }
    const frontier = run.order === "byTime" ? plan.frontier() : Infinity
    landed.splice(0, landed.length, ...landed.filter((gte) => gte > frontier))
    rounds++
    requests += flying.length
  }
  return { rounds, requests }
}
