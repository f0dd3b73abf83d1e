/**
 * Which days of a place are closed, open or let go of, what is next, and what came later, told from the events of a plan day by day.
 * It imports types alone, so that it shares no code with `src`.
 */
import type { Terms, Work } from "./closeOracle.ts"

/** Lengths that repeat from a day, or the days of a month on which a period begins. */
export type Calendar = { readonly list: ReadonlyArray<number>; readonly anchor: number } | {
  readonly firsts: ReadonlyArray<number>
}

/** Whether a period begins on a day. */
export const begins = (calendar: Calendar, day: number): boolean => {
  const date = new Date(day * 86_400_000)
  if ("firsts" in calendar) {
    const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
    return calendar.firsts.some((first) => Math.min(first, length) === date.getUTCDate())
  }
  const turn = calendar.list.reduce((sum, days) => sum + days, 0)
  let begin = calendar.anchor
  while (begin > day) begin -= turn
  while (begin + turn <= day) begin += turn
  for (const days of calendar.list) {
    if (begin === day) return true
    begin += days
  }
  return false
}

export const lastOf = (calendar: Calendar, first: number): number => {
  let day = first
  while (!begins(calendar, day + 1)) day++
  return day
}

/** A close of a plan. */
export interface Closed {
  readonly close: number
  readonly terms: Terms
  readonly calendar: Calendar | undefined
  state: "active" | "over" | "mistake"
}

type Run = readonly [place: number, first: number, last: number]

/** What happened, in the order of writing. A gap has the punches that were there when it was let go of. */
export interface Event {
  readonly kind: "close" | "void" | "accept"
  readonly of: Closed
  readonly runs: ReadonlyArray<Run>
  readonly works: ReadonlyArray<Work>
}

/** What a defect changes. */
export interface Rules {
  readonly acceptsEverywhere: boolean
  readonly covers: boolean
  readonly voidForgets: boolean
  readonly mistake: "gone" | "void" | "forgets"
  readonly owner: "newest" | "oldest" | "neighbour"
  readonly guesses: boolean
  readonly names: "later" | "none" | "closed"
}

export const trueRules: Rules = {
  acceptsEverywhere: false,
  covers: false,
  voidForgets: false,
  mistake: "gone",
  owner: "newest",
  guesses: false,
  names: "later"
}

/** What is planted to be found. */
export const defects: Readonly<Record<string, Partial<Rules>>> = {
  "a gap that one location let go of is none at the others": { acceptsEverywhere: true },
  "a gap hides what a later void opens": { covers: true },
  "a void takes back the gaps of its close": { voidForgets: true },
  "a mistake leaves a hole": { mistake: "void" },
  "a mistake forgets what was let go of before it": { mistake: "forgets" },
  "a hole has the terms of the first close that had it": { owner: "oldest" },
  "a hole has the terms of the close before it": { owner: "neighbour" },
  "the next period is as long as the last one": { guesses: true },
  "what comes into a gap later is not named": { names: "none" },
  "what comes into a gap is named after a close has it": { names: "closed" }
}

const has = ({ terms: { first, last } }: Closed, day: number) => first <= day && day <= last

/** What a plan has done. */
export interface World {
  readonly closes: ReadonlyArray<Closed>
  readonly events: ReadonlyArray<Event>
  readonly places: ReadonlyArray<number>
}

type State = "closed" | "open" | "accepted" | "free"

/** The state of each day at a place, and the event that left it so. */
const statesOf = ({ closes, events }: World, rules: Rules, place: number) => {
  const counted = events.filter(({ kind, of }) =>
    (of.state !== "mistake" || (rules.mistake === "void" && kind !== "accept")) &&
    !(rules.voidForgets && kind === "accept" && of.state === "over")
  )
  const mistaken = closes.filter(({ state }) => state === "mistake")
  const active = closes.filter(({ state, terms }) => state === "active" && terms.places.has(place))
  const [low, high] = [
    Math.min(...active.map(({ terms }) => terms.first)),
    Math.max(...active.map(({ terms }) => terms.last))
  ]
  const days = closes.flatMap(({ terms }) => [terms.first, terms.last])
  const here = counted.flatMap((event) =>
    event.runs.filter(([at]) => at === place || (rules.acceptsEverywhere && event.kind === "accept"))
      .map(([, first, last]) => ({ first, last, event }))
  )
  const states = new Map<number, { readonly state: State; readonly event: Event | undefined }>()
  for (let day = Math.min(...days); day <= Math.max(...days); day++) {
    const isForgotten = rules.mistake === "forgets" && mistaken.some((each) => has(each, day))
    const lastOf = (isCounted: (event: Event) => boolean) =>
      here.findLast(({ event, first, last }) =>
        first <= day && day <= last && isCounted(event) && !(isForgotten && event.kind === "accept")
      )?.event
    const event = (rules.covers ? lastOf(({ kind }) => kind === "accept") : undefined) ?? lastOf(() => true)
    const isBetween = low < day && day < high
    const state = active.some((each) => has(each, day))
      ? "closed"
      : event?.kind === "accept"
      ? "accepted"
      : event?.kind === "void" || event?.kind === "close"
      ? "open"
      : isBetween
      ? "open"
      : "free"
    states.set(day, { state, event })
  }
  return states
}

const runsOf = (place: number, days: ReadonlyArray<number>): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  for (const day of days) {
    const before = runs.at(-1)
    if (before?.[2] === day - 1) runs.splice(-1, 1, [place, before[1], day])
    else runs.push([place, day, day])
  }
  return runs
}

/** The holes of a plan. */
export const holesOf = (world: World, rules: Rules = trueRules): ReadonlyArray<Run> =>
  world.places.flatMap((place) =>
    runsOf(
      place,
      [...statesOf(world, rules, place)].filter(([, { state }]) => state === "open").map(([day]) => day)
    )
  )

/** A period to close: its dates, and the close whose terms it has; a text if there is none. */
export interface Next {
  readonly first: number
  readonly last: number
  readonly of: Closed
  readonly isHole: boolean
}

/** What is next; `undefined` if it is refused. */
export const nextOf = (
  world: World,
  startOf: (place: number, day: number) => number,
  rules: Rules = trueRules,
  acceptsGaps = false
): Next | undefined => {
  const active = world.closes.filter(({ state }) => state === "active")
  const over = world.closes.filter(({ state }) => state === "over" || (state === "mistake" && rules.mistake === "void"))
  const states = new Map(world.places.map((place) => [place, statesOf(world, rules, place)]))
  const holes = acceptsGaps
    ? []
    : holesOf(world, rules).toSorted((one, other) => startOf(one[0], one[1]) - startOf(other[0], other[1]))
  for (const [, first, last] of holes) {
    let day = first
    while (day <= last) {
      const begin = day
      const isClosed = active.some((each) => has(each, begin))
      const ownerOf = (at: number) => over.findLast((each) => has(each, at))
      const owner = ownerOf(begin)
      while (day <= last && ownerOf(day) === owner && active.some((each) => has(each, day)) === isClosed) day++
      if (isClosed) continue
      if (owner === undefined) return undefined
      const days = Array.from({ length: day - begin }, (_, at) => begin + at)
      const isFree = [...owner.terms.places.keys()].every((place) =>
        days.every((each) => !["closed", "accepted"].includes(states.get(place)?.get(each)?.state ?? "free"))
      )
      if (!isFree) continue
      const of = rules.owner === "oldest"
        ? over.find((each) => has(each, begin)) ?? owner
        : rules.owner === "neighbour"
        ? active.toSorted((one, other) => one.terms.last - other.terms.last)
          .findLast(({ terms }) => terms.last < begin) ?? owner
        : owner
      return { first: begin, last: day - 1, of, isHole: true }
    }
  }
  const of = active.toSorted((one, other) => one.terms.last - other.terms.last).at(-1)
  if (of === undefined) return undefined
  const first = of.terms.last + 1
  if (rules.guesses) return { first, last: first + of.terms.last - of.terms.first, of, isHole: false }
  if (of.calendar === undefined || !begins(of.calendar, first)) return undefined
  return { first, last: lastOf(of.calendar, first), of, isHole: false }
}

/** What came into each gap after it was let go of, and is in no close: number of punches and paid time. */
export const lateOf = (
  world: World,
  works: ReadonlyArray<Work>,
  measure: (works: ReadonlyArray<Work>, place: number, days: ReadonlySet<number>) => readonly [number, number],
  rules: Rules = trueRules
): ReadonlyArray<readonly [close: number, place: number, first: number, punches: number, net: number]> => {
  if (rules.names === "none") return []
  return world.places.flatMap((place) => {
    const states = statesOf(world, rules, place)
    return world.events.filter(({ kind, of }) => kind === "accept" && of.state !== "mistake").flatMap((event) =>
      event.runs.filter(([at]) => at === place).flatMap(([, first, last]) => {
        const days = new Set(
          [...states].filter(([day, each]) =>
            first <= day && day <= last && each.event === event &&
            (each.state === "accepted" || rules.names === "closed")
          ).map(([day]) => day)
        )
        if (rules.names === "closed") { for (let day = first; day <= last; day++) days.add(day) }
        if (days.size === 0) return []
        const [now, then] = [measure(works, place, days), measure(event.works, place, days)]
        const [punches, net] = [now[0] - then[0], now[1] - then[1]]
        return punches > 0 || net > 0 ? [[event.of.close, place, first, punches, net] as const] : []
      })
    )
  })
}
