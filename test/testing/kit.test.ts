import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Option, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CompanyId, Forbidden, TimePunch, TimePunches } from "../../src/index.ts"
import { WorkedTime } from "../../src/payroll/index.ts"
import { FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import {
  company as testCompany,
  layer as layerTest,
  punch,
  punchBreak,
  type PunchInput
} from "../../src/testing/TestClient.ts"

const iso = (at: Option.Option<DateTime.Utc>) => Option.getOrNull(Option.map(at, DateTime.formatIso))

describe("punch", () => {
  it("has the fields that are named, and those of a usual shift", () => {
    const made = punch({
      userId: 7,
      clockedIn: "2026-03-02T09:00:00-05:00",
      tips: -250,
      departmentId: 21,
      posType: "till"
    })

    assert.isTrue(Schema.is(TimePunch)(made))
    assert.deepStrictEqual([made.userId, made.tips, made.companyId, made.hourlyWage], [7, -250, 4021, 1500])
    assert.deepStrictEqual([made.departmentId, made.shiftId], [Option.some(21), Option.none()])
    assert.deepStrictEqual(made.posType, Option.some("till"))
    assert.strictEqual(DateTime.formatIso(made.clockedIn), "2026-03-02T14:00:00.000Z")
    assert.deepStrictEqual([iso(made.clockedOut), iso(made.modified), iso(made.created)], [
      "2026-03-02T22:00:00.000Z",
      "2026-03-02T22:00:00.000Z",
      "2026-03-02T14:00:00.000Z"
    ])
  })

  it("is open with null, and keeps null for created and modified", () => {
    const open = punch({ clockedOut: null })
    const unknown = punch({ created: null, modified: null, clockedOut: "2026-03-02T15:00:00Z" })

    assert.deepStrictEqual([iso(open.clockedOut), iso(open.modified)], [null, "2026-03-02T14:00:00.000Z"])
    assert.deepStrictEqual([iso(unknown.created), iso(unknown.modified)], [null, null])
    assert.strictEqual(iso(unknown.clockedOut), "2026-03-02T15:00:00.000Z")
  })

  it("has another id for another user or clock-in, the same at each call, below 2³¹", () => {
    const ids = new Set<number>()
    for (let user = 1; user <= 200; user++) {
      for (let day = 1; day <= 28; day++) {
        ids.add(punch({ userId: user, clockedIn: `2026-02-${String(day).padStart(2, "0")}T14:00:00Z` }).id)
      }
    }

    assert.strictEqual(ids.size, 200 * 28)
    assert.isBelow(Math.max(...ids), 2 ** 31)
    assert.strictEqual(punch().id, punch().id)
    assert.strictEqual(punch({ id: 3 }).id, 3)
  })

  it.each(
    [
      ["clockedIn", { clockedIn: "2026-03-02T14:00:00" }],
      ["clockedIn", { clockedIn: "2026-02-30T14:00:00Z" }],
      ["clockedOut", { clockedOut: "soon" }],
      ["modified", { modified: "1" }]
    ] satisfies ReadonlyArray<readonly [string, PunchInput]>
  )("names %s where its text is not an instant: %j", (field, input) => {
    assert.throws(() => punch(input), RangeError, new RegExp(`^${field} is not an instant with a zone`))
  })

  it.each<PunchInput>([{ userId: 1.5 }, { hourlyWage: -1 }, { departmentId: 0 }, { id: -1 }])(
    "refuses what no punch has: %j",
    (input) => {
      assert.throws(() => punch(input))
    }
  )
})

describe("punchBreak", () => {
  it.effect("is an unpaid half hour, which a punch does not count as worked", () =>
    Effect.sync(() => {
      const lunch = punchBreak({ in: "2026-03-02T17:00:00Z" })
      const measured = WorkedTime.measure(punch({ breaks: [lunch] }))

      assert.deepStrictEqual([lunch.paid, iso(lunch.out)], [false, "2026-03-02T17:30:00.000Z"])
      assert.include(JSON.stringify(measured), String(7.5 * 3_600_000))
      assert.isTrue(Option.isNone(punchBreak({ out: null }).out))
      assert.throws(() => punchBreak({ in: "noon" }), RangeError, /^in is not an instant/)
    }))
})

describe("layerTest", () => {
  const mine = punch({ userId: 7, breaks: [punchBreak(), punchBreak({ id: 2, out: null, paid: true })] })
  const open = punch({ userId: 8, clockedOut: null, created: null, modified: null, posType: "till", shiftId: 5 })

  it.effect("lists what it was given, equal in every field", () =>
    Effect.gen(function*() {
      const listed = yield* Stream.runCollect(TimePunches.list(testCompany))

      assert.deepStrictEqual(listed.toSorted((a, b) => a.userId - b.userId), [mine, open])
    }).pipe(Effect.provide(layerTest({ punches: [open, mine] }))))

  it.effect("takes generated punches too, and the options of the service", () =>
    Effect.gen(function*() {
      const listed = yield* Stream.runCollect(TimePunches.list(testCompany))
      const requests = yield* FakeService.use((service) => service.requests)

      assert.lengthOf(listed, 30)
      assert.strictEqual(requests[0]?.path, "/api/v2/company/4021/time_punches")
    }).pipe(Effect.provide(layerTest({
      punches: generatePunches({ count: 30, companyId: 4021, deletedShare: 0 }),
      basePath: "/api"
    }))))

  it.effect("has a token for each company, and none for another", () =>
    Effect.gen(function*() {
      const listed = yield* Stream.runCollect(TimePunches.list(CompanyId.make(2)))
      const refused = yield* Effect.result(TimePunches.page(CompanyId.make(3)))

      assert.deepStrictEqual(listed.map(({ id }) => Number(id)), [9])
      assert.instanceOf(Option.getOrNull(Result.getFailure(refused)), Forbidden)
    }).pipe(Effect.provide(layerTest({
      companies: [1, 2].map((id) => ({
        id,
        guid: `00000000-0000-4000-8000-00000000000${id}`,
        accessToken: `of-${id}`
      })),
      punches: [punch({ companyId: 1, id: 9, userId: 1 }), punch({ companyId: 2, id: 9, userId: 2 })]
    }))))

  it.effect("meets faults and changes in virtual time", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.retryAfter("20", 503), { times: 1 })
      yield* service.edit([open.id], { clocked_out: "2026-03-02T23:00:00Z" })
      const run = yield* Effect.forkChild(Stream.runCollect(TimePunches.list(testCompany)))
      yield* TestClock.adjust("1 minute")
      const [edited] = yield* Fiber.join(run)

      assert.strictEqual(iso(edited?.clockedOut ?? Option.none()), "2026-03-02T23:00:00.000Z")
    }).pipe(Effect.provide(layerTest({ punches: [open] }))))

  it("refuses two punches with one id, of which the service would lose one", () => {
    assert.throws(
      () => layerTest({ punches: [punch({ id: 4, userId: 1 }), punch({ id: 4, userId: 2 })] }),
      RangeError,
      "company 4021 has two punches with id 4"
    )
  })
})
