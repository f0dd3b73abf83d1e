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
