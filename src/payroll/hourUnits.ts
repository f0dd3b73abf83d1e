/** How exact times become the whole units of the cells of a row: its hours and their classes, so that the classes add up. */

/** The classes of hours, and how a tie between them ends. */
const classNames = ["regular", "over", "double"] as const

/** Hours by class: exact ones in milliseconds, or whole units of a file. */
export type HourClasses = Readonly<Record<typeof classNames[number], bigint>>

export const total = (counts: ReadonlyArray<bigint>): bigint => counts.reduce((sum, count) => sum + count, 0n)

const makeHours = (of: (name: typeof classNames[number]) => bigint) => ({
  regular: of("regular"),
  over: of("over"),
  double: of("double")
})

/** All hours of a row, whatever their class. */
export const sumOfHours = ({ double, over, regular }: HourClasses): bigint => regular + over + double

/** The hours of some rows, class by class. */
export const addHours = (all: ReadonlyArray<HourClasses>): HourClasses =>
  makeHours((name) => total(all.map((hours) => hours[name])))

/**
 * The classes of a row, each rounded from its exact time. What the rounded net time has more or less than they have goes to
 * `regular`, if that has time, and down to zero; what is left goes to the other classes that have time, the one with more of it
 * first. So no class is negative, none without time has a unit, and they add up.
 */
export const roundHours = (exact: HourClasses, round: (time: bigint) => bigint): HourClasses => {
  const units = makeHours((name) => round(exact[name]))
  let left = round(sumOfHours(exact)) - sumOfHours(units)
  const others = exact.double > exact.over ? ["double", "over"] as const : ["over", "double"] as const
  for (const name of ["regular", ...others] as const) {
    if (exact[name] <= 0n) continue
    const taken = left < -units[name] ? -units[name] : left
    units[name] += taken
    left -= taken
  }
  return units
}

/** Whole units that add up to `whole`: times are cut, and those with the largest remainders have one more; of equal ones, the first. */
const apportion = (times: ReadonlyArray<bigint>, whole: bigint, unit: bigint): ReadonlyArray<bigint> => {
  const floors = times.map((time) => time / unit)
  const missing = Number(whole - total(floors))
  const more = new Set(
    [...times.keys()].toSorted((a, b) => Number((times[b] ?? 0n) % unit - (times[a] ?? 0n) % unit) || a - b)
      .slice(0, missing)
  )
  return floors.map((floor, at) => floor + (more.has(at) ? 1n : 0n))
}

/**
 * The hours of the rows of a person, which add up to the rounded sum: first the classes of the person, then the rows of each class.
 * A cell without time has no unit. `hasClasses`: whether the file shows a class; else all hours are regular ones.
 */
export const apportionHours = (
  rows: ReadonlyArray<HourClasses>,
  unit: bigint,
  round: (time: bigint) => bigint,
  hasClasses: boolean
): ReadonlyArray<HourClasses> => {
  const exact = hasClasses ? rows : rows.map((row) => ({ regular: sumOfHours(row), over: 0n, double: 0n }))
  const sums = addHours(exact)
  const whole = apportion(classNames.map((name) => sums[name]), round(sumOfHours(sums)), unit)
  const cells = classNames.map((name, at) => apportion(exact.map((row) => row[name]), whole[at] ?? 0n, unit))
  return exact.map((_, row) => makeHours((name) => cells[classNames.indexOf(name)]?.[row] ?? 0n))
}
