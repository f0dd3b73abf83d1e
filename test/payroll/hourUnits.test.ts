import { assert, describe, it } from "@effect/vitest"
import { apportionHours, type HourClasses, roundHours, sumOfHours } from "../../src/payroll/hourUnits.ts"
import { divide, Rounding } from "../../src/payroll/Rounding.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"

const unit = 36_000n
const classes = ["regular", "over", "double"] as const

/** Times of which many are zero, whole units, a half, or next to one. */
const timeOf = (random: Prng): bigint => {
  const edge = [0, 1, 17_999, 18_000, 18_001, 35_999, random.between(0, 35_999)][random.between(0, 6)] ?? 0
  return random.between(0, 2) === 0 ? 0n : BigInt(random.between(0, 49) * 36_000 + edge)
}

describe("The classes of a row", () => {
  it("are each rounded alone, and regular has what the rounded net time has more or less", () => {
    const round = (time: bigint) => divide(time, unit, "halfUp")
    const rounded = (regular: bigint, over: bigint, double: bigint) => roundHours({ regular, over, double }, round)

    assert.deepStrictEqual(rounded(1_440_000n, 18_000n, 18_000n), { regular: 39n, over: 1n, double: 1n })
    // 2.495 h over and 0.835 h double in one job: 3.33 h, which are 2.50 and 0.84 alone.
    assert.deepStrictEqual(rounded(0n, 8_982_000n, 3_006_000n), { regular: 0n, over: 249n, double: 84n })
    assert.deepStrictEqual(rounded(0n, 3_006_000n, 8_982_000n), { regular: 0n, over: 84n, double: 249n })
    // Regular has a fifth of a unit: it gives none, and the class with more time gives it.
    assert.deepStrictEqual(rounded(1000n, 54_000n, 18_000n), { regular: 0n, over: 1n, double: 1n })
    assert.deepStrictEqual(rounded(0n, 18_000n, 18_000n), { regular: 0n, over: 0n, double: 1n })
  })

  it("are never negative, have no unit without time, and add up; other cells are as regular alone would make them", () => {
    const random = prng(7)
    let moved = 0
    for (let count = 0; count < 200_000; count++) {
      const rounding = Rounding.literals[random.between(0, 3)] ?? "down"
      const round = (time: bigint) => divide(time, unit, rounding)
      const exact: HourClasses = { regular: timeOf(random), over: timeOf(random), double: timeOf(random) }
      const net = sumOfHours(exact)
      const units = roundHours(exact, round)
      const hint = `${rounding} ${exact.regular} ${exact.over} ${exact.double}`

      if (sumOfHours(units) !== round(net)) assert.fail(`${hint}: it does not add up`)
      for (const name of classes) {
        if (units[name] < 0n) assert.fail(`${hint}: ${name} is negative`)
        if (exact[name] === 0n && units[name] !== 0n) assert.fail(`${hint}: ${name} has a unit`)
      }
      const [over, double] = [round(exact.over), round(exact.double)]
      const regular = round(net) - over - double
      if (regular < 0n || (exact.regular === 0n && regular !== 0n)) moved++
      else if (units.regular !== regular || units.over !== over || units.double !== double) {
        assert.fail(`${hint}: a cell moved that was right`)
      }
    }
    assert.isAbove(moved, 1000)
  })
})

describe("The rows of a person", () => {
  it("add up to the rounded time, each class to its own, and each cell is its exact time cut, or one unit more", () => {
    const random = prng(8)
    for (let count = 0; count < 60_000; count++) {
      const rounding = Rounding.literals[random.between(0, 3)] ?? "down"
      const round = (time: bigint) => divide(time, unit, rounding)
      const exact = Array.from({ length: random.between(1, 6) }, () => ({
        regular: timeOf(random),
        over: timeOf(random),
        double: timeOf(random)
      }))
      const rows = apportionHours(exact, unit, round, true)
      const hint = `${rounding} ${JSON.stringify(exact, (_, value) => typeof value === "bigint" ? `${value}` : value)}`

      const all = exact.reduce((sum, row) => sum + sumOfHours(row), 0n)
      if (rows.reduce((sum, row) => sum + sumOfHours(row), 0n) !== round(all))
        assert.fail(`${hint}: it does not add up`)
      for (const name of classes) {
        const time = exact.reduce((sum, row) => sum + row[name], 0n)
        const ofClass = rows.reduce((sum, row) => sum + row[name], 0n) - time / unit
        if (ofClass < 0n || ofClass > (time % unit === 0n ? 0n : 1n))
          assert.fail(`${hint}: ${name} is not cut or one more`)
        for (const [at, row] of rows.entries()) {
          const more = row[name] - (exact[at]?.[name] ?? 0n) / unit
          if (more < 0n || more > ((exact[at]?.[name] ?? 0n) % unit === 0n ? 0n : 1n)) assert.fail(`${hint}: row ${at}`)
        }
      }
    }
  })
})
