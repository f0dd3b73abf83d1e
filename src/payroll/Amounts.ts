/** What punches add up to, as plain numbers: one addition, one difference, one test for an overflow. */

/** The sums of some punches, or what one sum has more than another. */
export interface Amounts {
  readonly punches: number
  /** Number of punches with unknown durations. */
  readonly incomplete: number
  /** Paid time in milliseconds. */
  readonly net: number
  /** Wages in cents. */
  readonly cost: number
  /** Tips in cents. */
  readonly tips: number
}

export const zero: Amounts = { punches: 0, incomplete: 0, net: 0, cost: 0, tips: 0 }

export const add = (one: Amounts, other: Amounts): Amounts => ({
  punches: one.punches + other.punches,
  incomplete: one.incomplete + other.incomplete,
  net: one.net + other.net,
  cost: one.cost + other.cost,
  tips: one.tips + other.tips
})

export const subtract = (one: Amounts, other: Amounts): Amounts => ({
  punches: one.punches - other.punches,
  incomplete: one.incomplete - other.incomplete,
  net: one.net - other.net,
  cost: one.cost - other.cost,
  tips: one.tips - other.tips
})

export const isZero = ({ cost, incomplete, net, punches, tips }: Amounts): boolean =>
  punches === 0 && incomplete === 0 && net === 0 && cost === 0 && tips === 0

/** The sum that an addition may have made wrong. Counts stay small. */
export const overflow = (amounts: Amounts): "net" | "cost" | "tips" | undefined =>
  sums.find((name) => !Number.isSafeInteger(amounts[name]))

const sums = ["net", "cost", "tips"] as const
