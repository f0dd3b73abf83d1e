import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { divide, divideSafe, Rounding } from "../../src/payroll/Rounding.ts"

describe("divideSafe", () => {
  const Dividend = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
  const Divisor = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2 ** 52 }))

  const agree = (dividend: number, divisor: number) => {
    for (const rounding of Rounding.literals) {
      const exact = divide(BigInt(dividend), BigInt(divisor), rounding)
      assert.strictEqual(divideSafe(dividend, divisor, rounding), Number(exact), `${dividend} / ${divisor} ${rounding}`)
    }
  }

  it.prop("is the quotient of integers of any size", [Dividend, Divisor, Schema.Int], ([dividend, divisor, near]) => {
    agree(dividend, divisor)
    // Around whole and half quotients, with the divisor of wages.
    for (const whole of [dividend % 2_000_000_000, Math.abs(near) % 1000]) {
      for (const rest of [0, 1, 1_799_999, 1_800_000, 1_800_001, 3_599_999]) agree(whole * 3_600_000 + rest, 3_600_000)
    }
  })
})
