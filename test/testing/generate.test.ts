import { assert, describe, it } from "@effect/vitest"
import { EmployeeApprovalStatus, PunchFlag } from "../../src/index.ts"
import { approvalStatuses, punchFlags } from "../../src/testing/base/WirePunch.ts"
import { generatePunches } from "../../src/testing/index.ts"
import { densities, generatePlain, generateSpread } from "../support/densities.ts"
import { growthOf } from "../support/time.ts"

const instantsOf = (punches: ReturnType<typeof generatePunches>) =>
  punches.flatMap((punch) => [
    punch.clocked_in,
    punch.clocked_out,
    punch.created,
    punch.modified,
    ...(punch.breaks ?? []).flatMap((rest) => [rest.in, rest.out])
  ]).filter((text) => text !== null)

const shapes = (punches: ReturnType<typeof generatePunches>) =>
  new Set(instantsOf(punches).map((text) => text.replace(/\d/g, "0")))

describe("generatePunches", () => {
  it("gives the same punches for the same seed and others for another seed", () => {
    const options = { count: 200, companyId: 1 }

    assert.deepStrictEqual(generatePunches({ ...options, seed: 5 }), generatePunches({ ...options, seed: 5 }))
    assert.notDeepEqual(generatePunches({ ...options, seed: 5 }), generatePunches({ ...options, seed: 6 }))
  })

  it("makes unique ids and a share of everything that a client must handle", () => {
    const punches = generatePunches({ count: 5000, companyId: 1 })
    const share = (count: number) => count / punches.length
    const having = (test: (punch: typeof punches[number]) => boolean) => punches.filter(test).length

    assert.strictEqual(new Set(punches.map((punch) => punch.id)).size, 5000)
    assert.approximately(share(having((punch) => punch.clocked_out === null)), 0.03, 0.01)
    assert.approximately(share(having((punch) => punch.deleted === true)), 0.04, 0.01)
    assert.isAbove(having((punch) => !("deleted" in punch)), 0)
    assert.isAbove(having((punch) => !("breaks" in punch)), 0)
    assert.isAbove(having((punch) => punch.department_id === 0), 0)
    assert.isAbove(having((punch) => punch.department_id === null), 0)
    assert.isAbove(having((punch) => !("department_id" in punch)), 0)
    assert.isAbove(having((punch) => punch.pos_type === null), 0)
    assert.isAbove(having((punch) => !("pos_type" in punch)), 0)
    assert.isAbove(having((punch) => punch.shift_id === 0), 0)
    assert.isAbove(having((punch) => punch.tips < 0), 0)
    assert.isAbove(having((punch) => punch.created === null), 0)
    assert.isAbove(having((punch) => punch.modified === null), 0)
    assert.isAbove(having((punch) => punch.breaks?.some((rest) => rest.out === null) ?? false), 0)
    assert.isAbove(having((punch) => punch.clocked_in === punch.clocked_out), 0)
    for (const flag of punchFlags) assert.isAbove(having((punch) => punch.flags.includes(flag)), 0)
    assert.isAbove(new Set(punches.map((punch) => punch.timeZone)).size, 4)
    assert.isBelow(new Set(punches.map((punch) => Date.parse(punch.clocked_in))).size, 4500)
  })

  it("writes instants in many notations, and the plain ones of the tests in that of the spec's sample only", () => {
    assert.isAbove(shapes(generatePunches({ count: 500, companyId: 1 })).size, 8)
    assert.deepStrictEqual([...shapes(generatePlain({ count: 500, companyId: 1 }))].toSorted(), [
      "0000-00-00T00:00:00+00:00",
      "0000-00-00T00:00:00.000+00:00"
    ])
  })

  it.each(densities)("keeps %s clock-ins inside the span", (density) => {
    const punches = generateSpread({ count: 1000, companyId: 1, from: "2026-10-01T00:00:00Z", days: 3, density })
    const times = punches.map((punch) => Date.parse(punch.clocked_in))

    assert.isAtLeast(Math.min(...times), Date.parse("2026-10-01T00:00:00Z"))
    assert.isBelow(Math.max(...times), Date.parse("2026-10-04T00:00:00Z"))
  })

  it("closes breaks inside closed punches", () => {
    for (const punch of generatePunches({ count: 2000, companyId: 1 })) {
      for (const rest of punch.breaks ?? []) {
        if (punch.clocked_out === null) continue
        assert.isAtLeast(Date.parse(rest.in), Date.parse(punch.clocked_in))
        assert.isBelow(Date.parse(rest.out ?? ""), Date.parse(punch.clocked_out))
      }
    }
  })

  it("takes time in proportion to their number", () => {
    assert.isBelow(growthOf((count) => generatePunches({ count, companyId: 1 })), 6)
  })
})

describe("the fake service", () => {
  it("knows the flags and the approval states of the client", () => {
    assert.deepStrictEqual([...punchFlags], [...PunchFlag.literals])
    assert.deepStrictEqual([...approvalStatuses], [...EmployeeApprovalStatus.literals])
  })
})
