/** What punches add up to, as plain numbers: one addition, one difference, one test for an overflow. */
import * as Duration from "effect/Duration"

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

/** The same with a `Duration`, as rows and totals have it. */
export interface Sums extends Omit<Amounts, "net"> {
  readonly net: Duration.Duration
}

export const of = ({ cost, incomplete, net, punches, tips }: Sums): Amounts => ({
  punches,
  incomplete,
  net: Duration.toMillis(net),
  cost,
  tips
})

export const zero: Amounts = { punches: 0, incomplete: 0, net: 0, cost: 0, tips: 0 }

export const add = (one: Amounts, other: Amounts): Amounts => ({
  punches: one.punches + other.punches,
  incomplete: one.incomplete + other.incomplete,
  net: one.net + other.net,
  cost: one.cost + other.cost,
  tips: one.tips + other.tips
})

/** The sums of all rows. */
export const total = (rows: ReadonlyArray<Sums>): Amounts => rows.reduce((sum, row) => add(sum, of(row)), zero)

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
export const overflow = (amounts: Pick<Amounts, "net" | "cost" | "tips">): "net" | "cost" | "tips" | undefined =>
  sums.find((name) => !Number.isSafeInteger(amounts[name]))

const sums = ["net", "cost", "tips"] as const
