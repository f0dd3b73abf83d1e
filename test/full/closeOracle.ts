/**
 * What a close of some punches has: a second computation, in whole milliseconds and cents. It imports nothing, so
 * that it shares no code with `src`. Days are found by looking at wall clocks, quarter of an hour by quarter of an hour.
 */

export type Cents = "halfUp" | "halfEven" | "down" | "up"

/** A punch; instants in epoch milliseconds. */
export interface Work {
  readonly id: number
  readonly person: number
  readonly place: number
  readonly department: number | undefined
  readonly role: number
  readonly wage: number
  readonly tips: number
  readonly from: number
  readonly to: number | undefined
  readonly breaks: ReadonlyArray<{
    readonly from: number
    readonly to: number | undefined
    readonly paid: boolean
    readonly isDeleted: boolean
  }>
  readonly isDeleted: boolean
  readonly isMissing: boolean
}

/** Days are counted from 1970-01-01; a weekday of 0 is a Sunday. */
export interface Terms {
  readonly first: number
  readonly last: number
  readonly places: ReadonlyMap<number, { readonly zone: string; readonly dayStarts: number }>
  /** Where the close begins at a place, if not at the beginning of its first day there. */
  readonly begins: ReadonlyMap<number, number>
  readonly firstDay: number
  readonly cents: Cents
  readonly weekly: number | undefined
  readonly daily: number | undefined
  readonly double: number | undefined
  /** How much of a seventh day is over. */
  readonly seventh: number | undefined
}

/** What a defect changes. */
export interface Rules {
  /** How much later a day begins. */
  readonly edge: number
  /** How many days later a week begins. */
  readonly weekday: number
  readonly cents: Cents | undefined
  /** Whether time over the daily threshold counts in the week too. */
  readonly countsTwice: boolean
  /** Whether the last time of a day is counted first. */
  readonly isReversed: boolean
  /** How much longer the daily threshold is. */
  readonly daily: number
  readonly hasDouble: boolean
  /** Whether the last day of seven worked ones counts in another way: in a workweek, or in any seven days. */
  readonly seventh: "week" | "any" | "none"
  /** Which days are worked: by paid time, by any punch, or by paid time in this close. */
  readonly worked: "paid" | "any" | "own"
  /** Whether a lower double threshold counts on a seventh day too. */
  readonly hasLower: boolean
  readonly countsMissing: boolean
  readonly countsDeletedBreaks: boolean
}

export const trueRules: Rules = {
  edge: 0,
  weekday: 0,
  cents: undefined,
  countsTwice: false,
  isReversed: false,
  daily: 0,
  hasDouble: true,
  seventh: "week",
  worked: "paid",
  hasLower: true,
  countsMissing: false,
  countsDeletedBreaks: false
}

/** What is planted to be found. */
export const defects: Readonly<Record<string, Partial<Rules>>> = {
  "a day begins an instant later": { edge: 1 },
  "the week begins a day later": { weekday: 1 },
  "half a cent is rounded to the even one": { cents: "halfEven" },
  "an hour counts over the day and over the week": { countsTwice: true },
  "the excess of a day is on the job of its first hours": { isReversed: true },
  "the daily threshold is a second longer": { daily: 1000 },
  "there is no second daily threshold": { hasDouble: false },
  "a seventh day is like any other": { seventh: "none" },
  "seven days of two weeks have a seventh one": { seventh: "any" },
  "a day without paid time is worked": { worked: "any" },
  "the days of another close are not worked": { worked: "own" },
  "a seventh day has its first hours over above a lower double threshold": { hasLower: false },
  "a punch that the service removed counts": { countsMissing: true },
  "a break that was deleted counts": { countsDeletedBreaks: true }
}

const quarter = 900_000
const day = 86_400_000

const clocks = new Map<string, Intl.DateTimeFormat>()
const walls = new Map<string, ReadonlyArray<number>>()

/** What a wall clock shows at each quarter of an hour of a day of UTC, as if it were UTC. */
const wallsOf = (zone: string, utcDay: number): ReadonlyArray<number> => {
  const known = walls.get(`${zone} ${utcDay}`)
  if (known !== undefined) return known
  const clock = clocks.get(zone) ??
    new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" })
  clocks.set(zone, clock)
  const shown = Array.from(
    { length: 96 },
    (_, at) => Date.parse(`${clock.format(utcDay * day + at * quarter).replace(" ", "T")}Z`)
  )
  walls.set(`${zone} ${utcDay}`, shown)
  return shown
}

const starts = new Map<string, number>()

/** The first instant at which a wall clock shows the beginning of a day, or a later time. */
export const startOf = (zone: string, dayStarts: number, date: number): number => {
  const key = `${zone} ${dayStarts} ${date}`
  const known = starts.get(key)
  if (known !== undefined) return known
  const wanted = date * day + dayStarts
  for (let utcDay = Math.floor(wanted / day) - 2;; utcDay++) {
    for (const [at, wall] of wallsOf(zone, utcDay).entries()) {
      if (wall + quarter <= wanted) continue
      const start = utcDay * day + at * quarter + Math.max(0, wanted - wall)
      starts.set(key, start)
      return start
    }
  }
}

const startAt = ({ places }: Terms, place: number, date: number): number => {
  const rule = places.get(place)
  if (rule === undefined) throw new Error(`no day rule of ${place}`)
  return startOf(rule.zone, rule.dayStarts, date)
}

const beginOf = (terms: Terms, place: number): number => terms.begins.get(place) ?? startAt(terms, place, terms.first)

const endOf = (terms: Terms, place: number): number => startAt(terms, place, terms.last + 1)

/** The terms with each beginning at the end of the close before it, if that is less than 48 hours away. */
export const align = (terms: Terms, others: ReadonlyArray<Terms>): Terms => {
  const begins = new Map<number, number>()
  for (const place of terms.places.keys()) {
    const [begin, end] = [beginOf(terms, place), endOf(terms, place)]
    const before = others.filter((other) => beginOf(other, place) < begin).map((other) => endOf(other, place))
    const nearest = Math.max(...before)
    if (nearest !== begin && nearest < end && Math.abs(nearest - begin) < 2 * day) begins.set(place, nearest)
  }
  return { ...terms, begins }
}

/** Whether two closes have an instant in common at a place. */
export const overlap = (one: Terms, other: Terms): boolean =>
  [...one.places.keys()].some((place) =>
    shared(beginOf(one, place), endOf(one, place), beginOf(other, place), endOf(other, place)) > 0
  )

const dateOf = (terms: Terms, { edge }: Rules, { from, place }: Work): number => {
  let date = Math.floor(from / day) - 3
  while (startAt(terms, place, date + 1) + edge <= from) date++
  return date
}

/** Milliseconds that are paid; `undefined` if they are not known. Between two neighbouring edges a break covers all or nothing. */
export const paidOf = ({ breaks, from, to }: Work, { countsDeletedBreaks }: Rules): number | undefined => {
  if (to === undefined || to < from) return undefined
  const counted = breaks.filter(({ isDeleted, paid }) => !paid && (countsDeletedBreaks || !isDeleted))
  const unpaid = counted.map((rest) => ({ from: rest.from, to: rest.to ?? to }))
  const edges = [from, to, ...unpaid.flatMap((rest) => [rest.from, rest.to])]
    .filter((edge) => edge >= from && edge <= to).toSorted((a, b) => a - b)
  let paid = 0
  for (const [at, edge] of edges.entries()) {
    const next = edges[at + 1]
    if (next !== undefined && !unpaid.some((rest) => rest.from <= edge && next <= rest.to)) paid += next - edge
  }
  return paid
}

/** A number of parts as a whole number. It may be negative: what is rounded is its distance from the next lower one. */
export const round = (count: number, unit: number, rounding: Cents): number => {
  const lower = Math.floor(count / unit)
  const rest = count - lower * unit
  if (rounding === "down" || rest === 0) return lower
  if (rounding === "up") return lower + 1
  if (rest * 2 === unit) return rounding === "halfUp" || lower % 2 !== 0 ? lower + 1 : lower
  return rest * 2 > unit ? lower + 1 : lower
}

/**
 * The rounded net time in classes: each rounded alone, and the units that this makes too many or too few one after the other in the
 * first of `turn` that has time and, to lose one, a unit.
 */
export const classesOf = (
  { double, net, over }: Pick<Row, "net" | "over" | "double">,
  unit: number,
  rounding: Cents
): readonly [number, number, number] => {
  const exact = [net - over - double, over, double]
  const cells = exact.map((time) => round(time, unit, rounding))
  const turn = [0, ...double > over ? [2, 1] : [1, 2]].filter((at) => exact[at] !== 0)
  for (
    let left = round(net, unit, rounding) - cells.reduce((sum, cell) => sum + cell, 0);
    left !== 0;
    left -= Math.sign(left)
  ) {
    const at = turn.find((each) => left > 0 || (cells[each] ?? 0) > 0) ?? 0
    cells[at] = (cells[at] ?? 0) + Math.sign(left)
  }
  const [regular = 0, ofOver = 0, ofDouble = 0] = cells
  return [regular, ofOver, ofDouble]
}

const shared = (from: number, to: number, low: number, high: number): number =>
  Math.max(0, Math.min(to, high) - Math.max(from, low))

/** The sums of a person at a place, in a department and a role, at a wage. */
export interface Row {
  readonly person: number
  readonly place: number
  readonly department: number | undefined
  readonly role: number
  readonly wage: number
  readonly punches: number
  readonly incomplete: number
  readonly net: number
  readonly over: number
  readonly double: number
  readonly cost: number
  readonly tips: number
}

export type Rows = ReadonlyMap<string, Row>

export const numbers = ["punches", "incomplete", "net", "over", "double", "cost", "tips"] as const

export const keyOf = ({ department, person, place, role, wage }: Omit<Row, typeof numbers[number]>): string =>
  [person, place, department ?? "-", role, wage].join(" ")

/** A punch of a close, with its day. */
export interface Part extends Row {
  readonly id: number
  readonly date: number
}

/** The same punch taken off. */
export const negated = (part: Part): Part => ({
  ...part,
  net: -part.net,
  over: -part.over,
  double: -part.double,
  cost: -part.cost,
  tips: -part.tips,
  punches: -part.punches
})

/** The rows of a close. */
export const rowsOf = (terms: Terms, work: ReadonlyArray<Work>, rules: Rules = trueRules): Rows => {
  const rows = new Map<string, Row>()
  for (const { date: _, id: _id, ...row } of partsOf(terms, work, rules)) {
    const key = keyOf(row)
    rows.set(key, plus(row, rows.get(key), 1))
  }
  return rows
}

/** The punches of a close, each with its classes, cost and tips. */
export const partsOf = (
  terms: Terms,
  work: ReadonlyArray<Work>,
  rules: Rules = trueRules
): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  const weekly = terms.weekly ?? Infinity
  const second = (rules.hasDouble ? terms.double : undefined) ?? Infinity
  const first = Math.min((terms.daily ?? Infinity) + rules.daily, second)
  const counted = work.filter((each) => !each.isDeleted && (rules.countsMissing || !each.isMissing))
    .map((each) => {
      const date = dateOf(terms, rules, each)
      const begin = terms.begins.get(each.place)
      const isIn = date <= terms.last && (begin === undefined ? date >= terms.first : each.from >= begin)
      return { each, date, isIn, net: paidOf(each, rules) }
    })
    .toSorted((one, other) =>
      one.date - other.date ||
      // What lies before the close is in an earlier one.
      Number(one.isIn) - Number(other.isIn) ||
      (rules.isReversed ? -1 : 1) * (one.each.from - other.each.from || one.each.id - other.each.id)
    )
  const worked = new Set(
    counted.filter(({ isIn, net }) =>
      rules.worked === "any" || (net !== undefined && net > 0 && (isIn || rules.worked !== "own"))
    )
      .map(({ date, each }) => `${each.person} ${date}`)
  )
  const isSeventh = (person: number, date: number): boolean =>
    terms.seventh !== undefined && rules.seventh !== "none" &&
    (rules.seventh === "any" || weekOf(date) !== weekOf(date + 1)) &&
    [0, 1, 2, 3, 4, 5, 6].every((before) => worked.has(`${person} ${date - before}`))
  // Day 0 was a Thursday.
  const weekOf = (date: number) => Math.floor((date + 4 - terms.firstDay - rules.weekday) / 7)
  const ofDay = new Map<string, number>()
  const ofWeek = new Map<string, number>()
  for (const { date, each, isIn, net = 0 } of counted) {
    const [dayKey, weekKey] = [`${each.person} ${date}`, `${each.person} ${weekOf(date)}`]
    const before = ofDay.get(dayKey) ?? 0
    const after = before + net
    ofDay.set(dayKey, after)
    const own = isSeventh(each.person, date)
    const high = own ? Math.min(terms.seventh ?? Infinity, rules.hasLower ? second : Infinity) : second
    const double = shared(before, after, high, Infinity)
    const overDay = shared(before, after, own ? 0 : first, high)
    const left = rules.countsTwice ? net : net - double - overDay
    const reached = ofWeek.get(weekKey) ?? 0
    ofWeek.set(weekKey, reached + left)
    const overWeek = shared(reached, reached + left, weekly, Infinity)
    if (!isIn) continue
    const isKnown = paidOf(each, rules) !== undefined
    parts.push({
      id: each.id,
      date,
      person: each.person,
      place: each.place,
      department: each.department,
      role: each.role,
      wage: each.wage,
      punches: 1,
      incomplete: isKnown ? 0 : 1,
      net,
      over: overDay + overWeek,
      double,
      cost: round(
        net * each.wage,
        3_600_000,
        rules.cents !== undefined && terms.cents === "halfUp" ? rules.cents : terms.cents
      ),
      tips: each.tips
    })
  }
  return parts
}

const plus = (one: Row, other: Row | undefined, sign: 1 | -1): Row =>
  other === undefined ? one : {
    ...one,
    punches: one.punches + sign * other.punches,
    incomplete: one.incomplete + sign * other.incomplete,
    net: one.net + sign * other.net,
    over: one.over + sign * other.over,
    double: one.double + sign * other.double,
    cost: one.cost + sign * other.cost,
    tips: one.tips + sign * other.tips
  }

/** What is due: what some rows have more than others. */
export const dueOf = (now: Rows, then: Rows): Rows => {
  const due = new Map<string, Row>()
  for (const [key, known] of new Map([...then, ...now])) {
    const none = { ...known, punches: 0, incomplete: 0, net: 0, over: 0, double: 0, cost: 0, tips: 0 }
    const row = plus(now.get(key) ?? none, then.get(key), -1)
    if (numbers.some((name) => row[name] !== 0)) due.set(key, row)
  }
  return due
}

export const hasDouble = ({ double, seventh }: Terms): boolean => double !== undefined || seventh !== undefined

export const hasOver = (terms: Terms): boolean =>
  hasDouble(terms) || terms.daily !== undefined || terms.weekly !== undefined

/** One text of the rows, to compare. */
export const textOf = (rows: Rows): string =>
  [...rows].toSorted(([one], [other]) => one < other ? -1 : 1)
    .map(([key, row]) => `${key}: ${numbers.map((name) => row[name]).join(" ")}`).join("\n")

/** The person, and time over and double. */
export const peopleOf = (rows: Rows): ReadonlyMap<number, readonly [over: number, double: number]> => {
  const people = new Map<number, readonly [number, number]>()
  for (const { double, over, person } of rows.values()) {
    const [reached, doubled] = people.get(person) ?? [0, 0]
    people.set(person, [reached + over, doubled + double])
  }
  return people
}

/** The pay period of a date, by its own calendar: so many days from an anchor, or from days of the month. */
export const periodOf = (
  calendar: { readonly days: number; readonly anchor: number } | { readonly firsts: ReadonlyArray<number> },
  date: number
): { readonly first: number; readonly last: number } => {
  const isFirst = (each: number) =>
    "days" in calendar
      ? (each - calendar.anchor) % calendar.days === 0
      : calendar.firsts.includes(new Date(each * day).getUTCDate())
  let first = date
  while (!isFirst(first)) first--
  let last = date
  while (!isFirst(last + 1)) last++
  return { first, last }
}
