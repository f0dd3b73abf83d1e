/** How a quotient of integers is rounded: to cents, and to the unit in which hours are written. And its remainder. */
import * as Schema from "effect/Schema"

/**
 * How a fraction is rounded: `down` to the next integer below, `up` to the next one above, `halfUp` and `halfEven` to the nearest
 * one. A half goes up, or to the even one.
 */
export const Rounding = Schema.Literals(["halfUp", "halfEven", "down", "up"])

export type Rounding = typeof Rounding.Type

/** The rounded quotient of two integers, of which the dividend is not negative and the divisor positive. */
export const divide = (dividend: bigint, divisor: bigint, rounding: Rounding): bigint => {
  const whole = dividend / divisor
  return whole + (roundsUp(whole, dividend % divisor, divisor, rounding) ? 1n : 0n)
}

const roundsUp = (whole: bigint, rest: bigint, divisor: bigint, rounding: Rounding): boolean => {
  switch (rounding) {
    case "down":
      return false
    case "up":
      return rest > 0n
    case "halfUp":
      return rest * 2n >= divisor
    case "halfEven":
      return rest * 2n > divisor || (rest * 2n === divisor && whole % 2n === 1n)
  }
}

/** The remainder of a division that rounds down: below zero too it is from 0 to the divisor. */
export const modulo = (dividend: number, divisor: number): number => ((dividend % divisor) + divisor) % divisor
