/** How exact times become the whole units of the cells of a row: its hours and their classes, so that the classes add up. */

/** The classes of hours, and how a tie between them ends. */
const classNames = ["regular", "over", "double"] as const

/** Hours by class: exact ones in milliseconds, or whole units of a file. */
export type HourClasses = Readonly<Record<typeof classNames[number], bigint>>

/** Paid time, and its parts over thresholds. */
interface Times {
  readonly net: bigint
  readonly over: bigint
  readonly double: bigint
}

export const exactHours = ({ double, net, over }: Times): HourClasses => ({
  regular: net - over - double,
  over,
  double
})

export const sumOfHours = ({ double, over, regular }: HourClasses): bigint => regular + over + double

/**
 * The classes of a row, each rounded from its exact time. What the rounded net time has more or less than they have goes to
 * `regular`, if that has time, and down to zero; what is left goes to the other classes that have time, the one with more of it
 * first. So no class is negative, none without time has a unit, and they add up.
 */
export const roundHours = (times: Times, round: (time: bigint) => bigint): HourClasses => {
  const exact = exactHours(times)
  const units = { regular: round(exact.regular), over: round(exact.over), double: round(exact.double) }
  let left = round(times.net) - sumOfHours(units)
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
  const missing = Number(floors.reduce((left, floor) => left - floor, whole))
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
  rows: ReadonlyArray<Times>,
  unit: bigint,
  round: (time: bigint) => bigint,
  hasClasses: boolean
): ReadonlyArray<HourClasses> => {
  const exact = rows.map((row) => hasClasses ? exactHours(row) : { ...noHours, regular: row.net })
  const sums = classNames.map((name) => exact.reduce((sum, row) => sum + row[name], 0n))
  const whole = apportion(sums, round(sums.reduce((sum, time) => sum + time, 0n)), unit)
  const [regular = [], over = [], double = []] = classNames.map((name, at) =>
    apportion(exact.map((row) => row[name]), whole[at] ?? 0n, unit)
  )
  return exact.map((_, at) => ({ regular: regular[at] ?? 0n, over: over[at] ?? 0n, double: double[at] ?? 0n }))
}

export const addHours = (one: HourClasses, other: HourClasses): HourClasses => ({
  regular: one.regular + other.regular,
  over: one.over + other.over,
  double: one.double + other.double
})

export const noHours: HourClasses = { regular: 0n, over: 0n, double: 0n }
