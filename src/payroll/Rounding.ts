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
  const remainder = dividend % divisor
  return whole + (roundsUp(rounding, remainder > 0n, Number(remainder * 2n - divisor), whole % 2n === 1n) ? 1n : 0n)
}

/** The same of safe integers, with a divisor of at most 2^52: remainder, difference and quotient are exact. */
export const divideSafe = (dividend: number, divisor: number, rounding: Rounding): number => {
  const remainder = dividend % divisor
  const whole = (dividend - remainder) / divisor
  return whole + (roundsUp(rounding, remainder > 0, remainder * 2 - divisor, whole % 2 === 1) ? 1 : 0)
}

/** `beyondHalf`: of which sign the remainder less a half is. */
const roundsUp = (rounding: Rounding, hasRemainder: boolean, beyondHalf: number, isOdd: boolean): boolean => {
  switch (rounding) {
    case "down":
      return false
    case "up":
      return hasRemainder
    case "halfUp":
      return beyondHalf >= 0
    case "halfEven":
      return beyondHalf > 0 || (beyondHalf === 0 && isOdd)
  }
}

/** The remainder of a division that rounds down: below zero too it is from 0 to the divisor. */
export const modulo = (dividend: number, divisor: number): number => ((dividend % divisor) + divisor) % divisor
