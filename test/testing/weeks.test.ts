import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, HashMap, Layer, Redacted, Schema, Stream } from "effect"
import { CompanyId, Credentials, Endpoints, LocationId, TimePunch, TimePunches, TimePunchId } from "../../src/index.ts"
import { Labor, Period, PeriodCheck } from "../../src/payroll/index.ts"
import { defaultCompany, FakeService, generateWeeks, type StoredPunch, toWire } from "../../src/testing/index.ts"
import { growthOf } from "../support/time.ts"

const zones = Period.dayRules(
  new Map([
    [LocationId.make(301), DateTime.zoneMakeNamedUnsafe("America/New_York")],
    [LocationId.make(302), DateTime.zoneMakeNamedUnsafe("America/Los_Angeles")],
    [LocationId.make(303), DateTime.zoneMakeNamedUnsafe("Europe/Berlin")]
  ])
)

const companyId = defaultCompany.id

const isListed = ({ deleted }: StoredPunch) => deleted !== true

const decode = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))

/** The punches that a client lists by default, as it reads them. */
const listedOf = (punches: ReadonlyArray<StoredPunch>) => Stream.fromArray(decode(punches.filter(isListed).map(toWire)))

/** The issues of all punches, whatever their week. */
const issuesOf = (punches: ReadonlyArray<StoredPunch>) =>
  Stream.run(
    listedOf(punches),
    PeriodCheck.check({
      dayRule: zones,
      period: () => ({ gte: DateTime.makeUnsafe("2020-01-01"), lt: DateTime.makeUnsafe("2030-01-01") }),
      disputed: new Set(
        punches.filter((punch) => punch.employeeApprovalStatus === "disputed").map(({ id }) => TimePunchId.make(id))
      )
    })
  )

/** The hours of each person in each local week. */
const weeklyHours = (punches: ReadonlyArray<StoredPunch>) =>
  Effect.map(
    Stream.run(listedOf(punches), Labor.hoursOverThreshold({ dayRule: zones })),
    (people) => [...HashMap.values(people)].flatMap(({ weeks }) => weeks.map(({ net }) => Duration.toHours(net)))
  )

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (timeZone: string) => {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" })
  formats.set(timeZone, format)
  return format
}

const wallClock = (instant: string, timeZone: string) => formatOf(timeZone).format(Date.parse(instant))

/** The date and the minute of the day of the clock-in, on the clock of the location. */
const localOf = ({ clocked_in, timeZone }: StoredPunch) => {
  const [date = "", time = ""] = wallClock(clocked_in, timeZone).split(" ")
  const [hours = NaN, minutes = NaN] = time.split(":").map(Number)
  return { date, minute: hours * 60 + minutes }
}

const groupBy = <A, K>(items: ReadonlyArray<A>, keyOf: (item: A) => K): ReadonlyMap<K, ReadonlyArray<A>> => {
  const groups = new Map<K, Array<A>>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))
const People = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))
const Weeks = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 250 }))

describe("generateWeeks", () => {
  it("gives the same punches for the same seed and others for another seed", () => {
    const weeks = (seed: number) => generateWeeks({ companyId, seed, people: 5, weeks: 2 })

    assert.deepStrictEqual(weeks(5), weeks(5))
    assert.notDeepEqual(weeks(5), weeks(6))
  })

  it.effect.prop(
    "gives each person a believable week of one or two punches a day",
    [Seed, People, Weeks],
    ([seed, people, weeks]) =>
      Effect.gen(function*() {
        const punches = generateWeeks({ companyId, seed, people, weeks, problems: 0 })
        const perDay = groupBy(punches.filter(isListed), (punch) => `${punch.user_id} ${localOf(punch).date}`)
        const hours = yield* weeklyHours(punches)

        for (const each of perDay.values()) assert.isAtMost(each.length, 2)
        assert.lengthOf(hours, people * weeks)
        for (const net of hours) assert.isTrue(net > 25 && net < 48, `${net} hours`)
      })
  )

  it.effect("gives a person about 35 hours a week", () =>
    Effect.gen(function*() {
      const hours = yield* weeklyHours(generateWeeks({ companyId, people: 200 }))

      assert.lengthOf(hours, 800)
      assert.approximately(mean(hours), 35, 1)
      assert.isAbove(hours.filter((net) => net > 30 && net < 40).length / hours.length, 0.8)
    }))

  it.effect.prop(
    "has no issues without problems",
    [Seed, People, Weeks],
    ([seed, people, weeks]) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* issuesOf(generateWeeks({ companyId, seed, people, weeks, problems: 0 })), [])
      })
  )

  it.effect("has a small share of each problem, and no anomaly", () =>
    Effect.gen(function*() {
      const punches = generateWeeks({ companyId, people: 200 })
      const issues = yield* issuesOf(punches)
      const shareOf = (kind: PeriodCheck.IssueKind) =>
        new Set(issues.filter((issue) => issue.kind === kind).map(({ punchId }) => punchId)).size /
        punches.filter(isListed).length

      for (const kind of ["open", "tooLong", "zeroWage", "disputed"] as const) {
        assert.approximately(shareOf(kind), 0.008, 0.006, kind)
      }
      // Two punches have an issue for each one that was clocked twice.
      assert.approximately(shareOf("overlap"), 0.016, 0.008)
      assert.approximately(shareOf("unapproved"), 0.025, 0.01)
      assert.strictEqual(shareOf("anomaly"), 0)
      assert.approximately(punches.filter(({ deleted }) => deleted).length / punches.length, 0.015, 0.005)
    }))

  it.effect("makes every problem as it is configured, each in one way", () =>
    Effect.gen(function*() {
      const issues = yield* issuesOf(generateWeeks({ companyId, people: 40, problems: 1 }))
      const kinds = groupBy(issues, ({ kind }) => kind)

      assert.hasAllKeys(Object.fromEntries(kinds), [
        "open",
        "unapproved",
        "disputed",
        "overlap",
        "tooLong",
        "zeroWage",
        "autoClockedOut"
      ])
      // The service ends what is too long if the person does not clock out.
      assert.deepStrictEqual(
        kinds.get("autoClockedOut")?.map(({ punchId }) => punchId),
        kinds.get("tooLong")?.map(({ punchId }) => punchId)
      )
      // An overlap has two punches, and what is open is not approved.
      assert.strictEqual((kinds.get("overlap")?.length ?? 0) % 2, 0)
      const unapproved = new Set(kinds.get("unapproved")?.map(({ punchId }) => punchId))
      assert.isTrue(kinds.get("open")?.every(({ punchId }) => unapproved.has(punchId)))
    }))

  it.prop(
    "has unique ids above the first one, in the order of the clock-ins, and unique breaks",
    [Seed, Count],
    ([seed, count]) => {
      const punches = generateWeeks({ companyId, seed, count, people: 6, firstId: 700 })
      const breaks = punches.flatMap(({ breaks = [] }) => breaks.map(({ id }) => id))

      assert.deepStrictEqual(punches.map(({ id }) => id), punches.map((_, index) => 701 + index))
      assert.deepStrictEqual(
        punches.map(({ id }) => id),
        punches.toSorted((a, b) => Date.parse(a.clocked_in) - Date.parse(b.clocked_in)).map(({ id }) => id)
      )
      assert.strictEqual(new Set(breaks).size, breaks.length)
    }
  )

  it.prop("gives the same punches and more for a larger count", [Seed, Count, Count], ([seed, one, two]) => {
    const options = { companyId, seed, people: 4 }
    const few = generateWeeks({ ...options, count: Math.min(one, two) })

    assert.deepStrictEqual(generateWeeks({ ...options, count: Math.max(one, two) }).slice(0, few.length), few)
  })

  it.effect.prop("has as many punches as a client lists", [Seed, Count], ([seed, count]) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.clear
      yield* service.seed(generateWeeks({ companyId, seed, count, people: 7 }))

      assert.strictEqual(yield* Stream.runCount(TimePunches.list(CompanyId.make(companyId))), count)
    }).pipe(Effect.provide(client)))

  it("clocks by the minute, at the same local time before and after a change of clocks", () => {
    // New York and Los Angeles change on 8 March, Berlin on 29 March.
    const punches = generateWeeks({ companyId, people: 60, weeks: 6, problems: 0 }).filter(isListed)
    const begins = [7, 9, 10.5, 11, 15, 17, 17.5].map((hours) => hours * 60)

    assert.isTrue(wallClock(punches[0]?.clocked_in ?? "", "UTC").startsWith("2026-03-02"))
    for (const punch of punches) {
      const { minute } = localOf(punch)
      assert.isTrue(begins.some((begin) => Math.abs(minute - begin) <= 6), punch.clocked_in)
      assert.match(punch.clocked_in, /T\d\d:\d\d:00\+00:00$/)
      assert.match(punch.clocked_out ?? "", /T\d\d:\d\d:00\+00:00$/)
    }
  })

  it("stamps each punch when it was clocked and when it was last looked at", () => {
    for (const punch of generateWeeks({ companyId, people: 30 })) {
      const clockedIn = Date.parse(punch.clocked_in)
      const created = Date.parse(punch.created ?? "")
      const modified = Date.parse(punch.modified ?? "")
      const ended = punch.clocked_out === null ? clockedIn : Date.parse(punch.clocked_out)

      assert.isTrue(clockedIn <= created && created <= modified && ended <= modified, `punch ${punch.id}`)
      assert.isBelow(modified - ended, 2 * 86_400_000)
    }
  })

  it("begins on the given day at each location", () => {
    const dates = generateWeeks({ companyId, people: 60, weeks: 1, from: "2026-10-25", problems: 0 })
      .filter(isListed)
      .map((punch) => localOf(punch).date)

    assert.deepStrictEqual([...new Set(dates)].toSorted(), [
      "2026-10-25",
      "2026-10-26",
      "2026-10-27",
      "2026-10-28",
      "2026-10-29",
      "2026-10-30",
      "2026-10-31"
    ])
  })

  it("refuses a day that does not exist and a company without people", () => {
    assert.throws(() => generateWeeks({ companyId, from: "2026-02-30" }), RangeError, /`from` is not a date/)
    for (const people of [0, 1.5, NaN]) {
      assert.throws(() => generateWeeks({ companyId, people, count: 5 }), RangeError, /`people`/)
    }
  })

  it("takes time in proportion to their number", () => {
    assert.isBelow(growthOf((count) => generateWeeks({ companyId, count, people: Math.ceil(count / 90) })), 6)
  })
})

const client = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
  Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
  Layer.provide(FakeService.layerClient),
  Layer.provideMerge(FakeService.layer())
)
