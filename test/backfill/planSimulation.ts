/** Plays a plan against an array of rows: workers that complete in any order, a buffer, a consumer, runs that fail. */
import { DateTime, Option } from "effect"
import { makePlan, type Plan } from "../../src/backfill/plan.ts"
import type { Window } from "../../src/backfill/window.ts"
import { Cursor, type TimePunch, TimePunchId } from "../../src/index.ts"
import type { Segment } from "../../src/Segment.ts"
import type { Prng } from "../../src/testing/base/prng.ts"
import { punch } from "../support/arbitraryPunch.ts"

/** The order in which the rows of a query come. */
export type Arrange = (rows: ReadonlyArray<TimePunch>) => ReadonlyArray<TimePunch>

export interface Scene {
  readonly rows: ReadonlyArray<TimePunch>
  readonly range: Segment
  readonly arrange: Arrange
  /** What the survey of this service reports. */
  readonly ordered: boolean
  /** A service that sends every row whatever the range of the query. */
  readonly unfiltered?: boolean
}

export interface Run {
  readonly workers: number
  readonly pageSize: number
  readonly order: "asCompleted" | "byTime"
  /** The run fails after this many pages. */
  readonly failsAfter: number
  /** Chance that the consumer takes a page at a turn. */
  readonly appetite: number
}

/** The outcome of a run. */
export interface Played {
  readonly emitted: ReadonlyArray<TimePunch>
  readonly pages: number
  readonly unfinished: ReadonlyArray<Segment>
  readonly mostHeld: number
  readonly mostInFlight: number
}

const millis = ({ clockedIn }: TimePunch) => clockedIn.epochMilliseconds

const instant = (at: number) => DateTime.makeUnsafe(at)

/** A row at an instant; its id is its place in the order of ids. */
export const rowAt = (at: number, id: number): TimePunch => punch({ id: TimePunchId.make(id), clockedIn: instant(at) })

export const byTime: Arrange = (rows) => rows.toSorted((a, b) => millis(a) - millis(b) || a.id - b.id)
export const byId: Arrange = (rows) => rows.toSorted((a, b) => a.id - b.id)
/** In the requested order before an instant, by id from there on. */
export const byTimeUntil = (until: number): Arrange => (rows) => [
  ...byTime(rows.filter((row) => millis(row) < until)),
  ...byId(rows.filter((row) => millis(row) >= until))
]

export const segment = (gte: number, until: number, inclusive: boolean): Segment => ({
  gte: instant(gte),
  until: instant(until),
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

const matching = (scene: Scene, gte: number, lte: number): ReadonlyArray<TimePunch> => {
  const known = matches.get(scene) ?? new Map<string, ReadonlyArray<TimePunch>>()
  matches.set(scene, known)
  const query = `${gte}..${lte}`
  const isMatch = (row: TimePunch) => scene.unfiltered === true || (millis(row) >= gte && millis(row) <= lte)
  const found = known.get(query) ?? scene.arrange(scene.rows.filter(isMatch))
  known.set(query, found)
  return found
}

/** The page that the service answers with. A cursor is valid for its own query only. */
const answer = (scene: Scene, { cursor, gte, queriedUntil }: Window, pageSize: number) => {
  const query = `${gte}..${queriedUntil}`
  const [name, offset] = Option.isNone(cursor) ? [query, 0] : cursor.value.split("@")
  if (name !== query) throw new Error(`a cursor of ${name} was sent with ${query}`)
  const matched = matching(scene, gte, queriedUntil)
  const from = Number(offset)
  const next = from + pageSize < matched.length
    ? Option.some(Cursor.make(`${query}@${from + pageSize}`))
    : Option.none()
  const none = Option.none()
  return { rows: matched.slice(from, from + pageSize), cursor: { current: none, prev: none, next, count: none } }
}

/** Completes the first window with the page that the survey of an unread range has read, and returns what it emits. */
const survey = (plan: Plan, scene: Scene, pageSize: number) => {
  const window = plan.next(0, true)
  if (window === undefined) throw new Error("an unread range has no first window")
  const last = matching(scene, window.gte, window.queriedUntil).slice(-pageSize)
  return { gte: window.gte, rows: plan.complete(window, answer(scene, window, pageSize), last) }
}

/** How many pages a run may hold; the stream has larger buffers of the same kind. */
export const capacityOf = ({ order, workers }: Run): number => workers * (order === "byTime" ? 8 : 1)

/** Draws the next move until everything is read and emitted, or the run fails. */
export const play = (random: Prng, scene: Scene, segments: ReadonlyArray<Segment>, run: Run): Played => {
  const { appetite, failsAfter, order, pageSize, workers } = run
  const plan = makePlan(segments, { workers, pageSize, order, ordered: scene.ordered, capacity: capacityOf(run) })
  const inFlight: Array<{ readonly window: Window; readonly page: ReturnType<typeof answer> }> = []
  const buffered: Array<{ readonly gte: number; readonly rows: ReadonlyArray<TimePunch> }> = []
  const emitted: Array<TimePunch> = []
  let [pages, mostHeld, mostInFlight] = [0, 0, 0]
  // Half of the runs that could keep the first page of a survey do.
  if (segments[0] === scene.range && scene.ordered && workers > 1 && random.chance(0.5)) {
    const kept = survey(plan, scene, pageSize)
    if (kept.rows.length > 0) buffered.push(kept)
  }

  const ready = (failed: boolean) => {
    if (order === "asCompleted") return buffered[0]
    const [first] = buffered.toSorted((a, b) => a.gte - b.gte)
    return first !== undefined && (failed || first.gte <= plan.frontier()) ? first : undefined
  }
  const consume = (failed: boolean): boolean => {
    const page = ready(failed)
    if (page === undefined) return false
    buffered.splice(buffered.indexOf(page), 1)
    emitted.push(...page.rows)
    return true
  }
  const send = (): boolean => {
    const window = inFlight.length < workers ? plan.next(buffered.length, ready(false) !== undefined) : undefined
    if (window === undefined) return false
    inFlight.push({ window, page: answer(scene, window, pageSize) })
    return true
  }
  const complete = (): boolean => {
    const [request] = inFlight.splice(random.between(0, inFlight.length - 1), 1)
    if (request === undefined) return false
    const rows = plan.complete(request.window, request.page)
    pages++
    if (rows.length > 0) buffered.push({ gte: request.window.gte, rows })
    return true
  }

  const isOver = () => pages >= failsAfter || (plan.isDone() && buffered.length === 0)
  while (!isOver()) {
    const moves = random.chance(appetite) ?
      [() => consume(false), send, complete] :
      [send, complete, () => consume(false)]
    if (random.chance(0.5)) moves.push(...moves.splice(0, 1))
    if (!moves.some((move) => move())) throw new Error("no move is left, and not everything is read")
    mostHeld = Math.max(mostHeld, inFlight.length + buffered.length)
    mostInFlight = Math.max(mostInFlight, inFlight.length)
  }
  // A run that fails finishes the pages in flight; one that is interrupted does not.
  const finishes = random.chance(0.5)
  for (let left = finishes ? inFlight.length - 1 : 0; left > 0; left--) complete()
  while (consume(true)) { /* what is buffered is emitted before the failure */ }
  return { emitted, pages, unfinished: plan.unfinished(), mostHeld, mostInFlight }
}

/** All workers send at once and are answered at once: the number of rounds of a run, and of its requests, with its survey. */
export const playInStep = (scene: Scene, run: Run): { readonly rounds: number; readonly requests: number } => {
  const plan = makePlan([scene.range], { ...run, ordered: scene.ordered, capacity: capacityOf(run) })
  const buffered: Array<number> = []
  let [rounds, requests] = [0, 0]
  if (run.workers > 1) {
    const kept = survey(plan, scene, run.pageSize)
    if (kept.rows.length > 0) buffered.push(kept.gte)
    rounds = 1
    requests = 2
  }
  while (!plan.isDone()) {
    const inFlight: Array<Window> = []
    for (let worker = 0; worker < run.workers; worker++) {
      const window = plan.next(buffered.length, false)
      if (window !== undefined) inFlight.push(window)
    }
    for (const window of inFlight) {
      if (plan.complete(window, answer(scene, window, run.pageSize)).length > 0) buffered.push(window.gte)
    }
    const frontier = run.order === "byTime" ? plan.frontier() : Infinity
    buffered.splice(0, buffered.length, ...buffered.filter((gte) => gte > frontier))
    rounds++
    requests += inFlight.length
  }
  return { rounds, requests }
}
