/** The punches of a person's week as they are clocked, with the mistakes that people make. */
import type { Prng } from "../base/prng.ts"
import type { WireFlag } from "../base/WirePunch.ts"
import type { Person, PlannedShift } from "./people.ts"

/** A break, in minutes after the clock-in. */
interface Rest {
  readonly from: number
  readonly to: number
  readonly paid: boolean
}

/** What a payroll person finds wrong with a punch. */
type Problem = "unapproved" | "disputed" | "zeroWage" | "overlap" | "open" | "forgotten"

/** A punch before it has ids and instants. Times are minutes. */
export interface Shift {
  /** Day of the week, 0 for the first. */
  readonly day: number
  /** The clock-in, from the local midnight of `day`. */
  readonly begin: number
  /** From clock-in to clock-out; `undefined` while the punch is open. */
  readonly length: number | undefined
  readonly rests: ReadonlyArray<Rest>
  readonly flags: ReadonlyArray<WireFlag>
  readonly problem: Problem | undefined
  readonly deleted: boolean
}

// The frequent ones occur more than once.
const problems: readonly [Problem, ...ReadonlyArray<Problem>] = [
  "unapproved",
  "unapproved",
  "unapproved",
  "disputed",
  "zeroWage",
  "overlap",
  "open",
  "forgotten"
]

/** Without those that leave a punch open for the rest of the day. */
const problemsOfSecond: typeof problems = ["unapproved", "unapproved", "disputed", "zeroWage", "overlap"]

/** Share of the punches that someone clocked by mistake and a manager deleted. */
const deletedShare = 0.015

/** Five days of work, in one week of ten only four, in the order in which they are worked. */
export const shiftsOfWeek = (random: Prng, person: Person, problemShare: number): ReadonlyArray<Shift> => {
  const absent = random.chance(0.1) ? random.between(0, 6) : undefined
  const shifts: Array<Shift> = []
  for (let day = 0; day < 7; day++) {
    const off = day === person.dayOff || day === (person.dayOff + 1) % 7
    if (off || day === absent) continue
    for (const planned of person.shifts) {
      const first = planned === person.shifts[0]
      const problem = random.chance(problemShare) ? random.pick(first ? problems : problemsOfSecond) : undefined
      const shift = worked(random, day, planned, problem)
      shifts.push(shift)
      if (problem === "overlap") shifts.push(clockedTwice(random, shift))
      if (random.chance(deletedShare)) shifts.push(byMistake(random, shift))
      if (problem === "open" || problem === "forgotten") break
    }
  }
  return shifts
}

const worked = (
  random: Prng,
  day: number,
  { begin, length, meal }: PlannedShift,
  problem: Problem | undefined
): Shift => {
  const late = random.between(-6, 6)
  const longer = random.chance(0.05) ? random.between(20, 75) : random.between(-6, 6)
  const tookMeal = meal > 0 && !random.chance(0.02)
  const shift = { day, begin: begin + late, deleted: false, problem, rests: restsOf(random, tookMeal ? meal : 0) }
  const flags: Array<WireFlag> = late > 5 ? ["late"] : []
  if (meal > 0 && !tookMeal) flags.push("missed_break")
  if (problem === "open") return { ...shift, length: undefined, flags }
  if (problem !== "forgotten") return { ...shift, length: length - late + longer, flags }
  // The service clocks out a person who forgot to, before the same time of the next day.
  return { ...shift, length: random.between(17 * 60, 19 * 60), flags: [...flags, "auto_clocked_out"] }
}

const restsOf = (random: Prng, meal: number): ReadonlyArray<Rest> => {
  const rests: Array<Rest> = []
  if (random.chance(0.3)) {
    const from = random.between(60, 120)
    rests.push({ from, to: from + random.between(10, 15), paid: true })
  }
  if (meal > 0) {
    const from = random.between(180, 270)
    rests.push({ from, to: from + meal + random.between(-3, 3), paid: false })
  }
  return rests
}

/** A second punch within the first one: clocked in again, for example at another till. */
const clockedTwice = (random: Prng, { begin, day }: Shift): Shift => ({
  day,
  begin: begin + random.between(30, 120),
  length: random.between(15, 60),
  rests: [],
  flags: [],
  problem: undefined,
  deleted: false
})

/** A punch of a few minutes before the true one. */
const byMistake = (random: Prng, { begin, day }: Shift): Shift => {
  const length = random.between(1, 4)
  return { day, begin: begin - length, length, rests: [], flags: [], problem: undefined, deleted: true }
}
