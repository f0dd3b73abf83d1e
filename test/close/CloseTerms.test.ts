import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Schema, Stream } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { BusinessDate, CompanyId, LocationId, RoleId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch } from "../support/arbitraryPunch.ts"

const zoneOf = DateTime.zoneMakeNamedUnsafe
const [newYork, berlin] = [zoneOf("America/New_York"), zoneOf("Europe/Berlin")]
const [east, far] = [LocationId.make(301), LocationId.make(303)]
const date = (text: string) => BusinessDate.make(text)

const terms = (options: Partial<CloseTerms.CloseTermsOptions> = {}) =>
  CloseTerms.make({
    companyId: CompanyId.make(7),
    first: date("2026-03-02"),
    last: date("2026-03-15"),
    clock: newYork,
    rounding: "halfUp",
    ...options
  })

let ids = 0
const shift = (clockedIn: string, hours: number, changes: Partial<TimePunch> = {}): TimePunch => {
  const start = DateTime.makeUnsafe(clockedIn)
  return punch({
    id: TimePunchId.make(++ids),
    userId: UserId.make(7),
    locationId: east,
    clockedIn: start,
    clockedOut: Option.some(DateTime.add(start, { hours })),
    breaks: [],
    ...changes
  })
}

const run = (punches: ReadonlyArray<TimePunch>, of: CloseTerms.CloseTerms) =>
  Stream.run(Stream.fromArray(punches), CloseSums.sum(of))

const aboves = ({ people }: CloseSums.CloseSums) =>
  people.map(({ above, aboveDay, userId }) => [
    userId,
    ...[above, aboveDay].map((each) => Option.getOrNull(Option.map(each, Duration.toHours)))
  ])

describe("CloseTerms.make", () => {
  it("takes a threshold in every form of a duration, as the check and the hours above do", () => {
    const ofTexts = terms({ weeklyThreshold: "40 hours", dailyThreshold: "8 hours" })

    assert.deepStrictEqual(ofTexts, terms({ weeklyThreshold: Duration.hours(40), dailyThreshold: Duration.hours(8) }))
  })

  it("keeps the first instant of each day, across a change of clocks", () => {
    const { clocks, daysFrom, locations } = terms({ weeklyThreshold: Duration.hours(40) })
    const starts = clocks[0]?.starts.map(DateTime.formatIso) ?? []

    // The week that the three days before the period lie in.
    assert.strictEqual(daysFrom, "2026-02-23")
    assert.lengthOf(starts, 22)
    assert.deepStrictEqual(starts.slice(13, 15), ["2026-03-08T05:00:00.000Z", "2026-03-09T04:00:00.000Z"])
    assert.deepStrictEqual(locations, [{ locationId: Option.none(), clock: 0, begins: Option.none() }])
  })

  it("reads back from its JSON", () => {
    const own = terms({ clock: new Map([[far, berlin], [east, newYork]]), dailyThreshold: Duration.minutes(450) })
    const text = JSON.stringify(Schema.encodeSync(CloseTerms.CloseTerms)(own))

    assert.deepStrictEqual(Schema.decodeSync(CloseTerms.CloseTerms)(JSON.parse(text)), own)
  })
})

describe("CloseSums.sum", () => {
  it.effect("has a row for each person, location, department and role", () =>
    Effect.gen(function*() {
      const cook = RoleId.make(22)
      const { rows } = yield* run([
        shift("2026-03-02T14:00:00Z", 8),
        shift("2026-03-03T14:00:00Z", 4),
        shift("2026-03-03T20:00:00Z", 2, { roleId: cook }),
        shift("2026-03-04T14:00:00Z", 0, { clockedOut: Option.none(), roleId: cook }),
        // Sunday evening before the period, and Monday after it, in New York.
        shift("2026-03-02T03:00:00Z", 8),
        shift("2026-03-16T05:00:00Z", 8)
      ], terms())

      assert.deepStrictEqual(
        rows.map(({ incomplete, net, punches, roleId }) => [roleId, punches, incomplete, Duration.toHours(net)]),
        [[punch({}).roleId, 2, 0, 12], [cook, 2, 1, 2]]
      )
    }))

  it.effect("counts the excess of a cut week on the days on which the sum passes the threshold", () =>
    Effect.gen(function*() {
      // 54 hours from Monday, 9 March to Sunday, 15 March; the half month ends on the 15th, another one may end in the week.
      const week = ["09", "10", "11", "12", "13", "14"].map((day) => shift(`2026-03-${day}T13:00:00Z`, 9))
      const of = (first: string, last: string) =>
        Effect.map(
          run(week, terms({ first: date(first), last: date(last), weeklyThreshold: Duration.hours(40) })),
          aboves
        )

      assert.deepStrictEqual(yield* of("2026-03-09", "2026-03-15"), [[7, 14, null]])
      assert.deepStrictEqual(yield* of("2026-03-01", "2026-03-12"), [[7, 0, null]])
      assert.deepStrictEqual(yield* of("2026-03-13", "2026-03-31"), [[7, 14, null]])
      assert.deepStrictEqual(yield* of("2026-03-14", "2026-03-31"), [[7, 9, null]])
    }))

  it.effect("fails for a location without an entry", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        run([shift("2026-03-03T14:00:00Z", 8, { locationId: far })], terms({ clock: new Map([[east, newYork]]) }))
      )

      assert.strictEqual(error._tag, "MissingZone")
    }))

  it.effect("keeps its days where the rules of the zone change later", () =>
    Effect.gen(function*() {
      const own = terms()
      const renamed = { ...own, clocks: own.clocks.map((clock) => ({ ...clock, zone: "Pacific/Kiritimati" })) }
      const punches = [shift("2026-03-02T14:00:00Z", 8), shift("2026-03-02T04:30:00Z", 8)]

      assert.deepStrictEqual(yield* run(punches, renamed), yield* run(punches, own))
    }))

  const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  const Sample = Schema.Struct({
    user: between(1, 3),
    hour: between(-24 * 12, 24 * 24),
    minutes: between(0, 900),
    isFar: Schema.Boolean
  })

  it.effect.prop(
    "adds up to the sums of one period, however a week is cut in two",
    [Schema.Array(Sample), between(0, 12), between(0, 50), between(0, 10)],
    ([samples, days, weekly, daily]) =>
      Effect.gen(function*() {
        const punches = samples.map(({ hour, isFar, minutes, user }) => {
          const start = DateTime.add(DateTime.makeUnsafe("2026-03-02T00:00:00Z"), { hours: hour })
          return shift(DateTime.formatIso(start), minutes / 60, {
            userId: UserId.make(user),
            locationId: isFar ? far : east
          })
        })
        const clock = new Map([[east, newYork], [far, berlin]])
        const thresholds = { weeklyThreshold: Duration.hours(weekly), dailyThreshold: Duration.hours(daily) }
        const cut = Option.getOrThrow(Period.addDays(date("2026-03-02"), days))
        const after = Option.getOrThrow(Period.addDays(cut, 1))
        const whole = yield* run(punches, terms({ clock, ...thresholds }))
        const one = yield* run(punches, terms({ clock, ...thresholds, last: cut }))
        const other = yield* run(punches, terms({ clock, ...thresholds, first: after }))

        // What the whole has more than the one part is the other part.
        const rest = CloseSums.difference(whole, one)
        assert.isTrue(
          CloseSums.equals(rest, CloseSums.difference(other, CloseSums.empty))
        )
      })
  )

  it.effect.prop(
    "counts the hours over a threshold of whole weeks as hoursAbove does",
    [Schema.Array(Sample), between(0, 50), between(0, 10)],
    ([samples, weekly, daily]) =>
      Effect.gen(function*() {
        const clock = new Map([[east, newYork], [far, berlin]])
        const thresholds = { weeklyThreshold: Duration.hours(weekly), dailyThreshold: Duration.hours(daily) }
        const punches = samples.map(({ hour, isFar, minutes, user }) => {
          const start = DateTime.add(DateTime.makeUnsafe("2026-03-02T00:00:00Z"), { hours: hour })
          return shift(DateTime.formatIso(start), minutes / 60, {
            userId: UserId.make(user),
            locationId: isFar ? far : east
          })
        })
        const sums = yield* run(punches, terms({ clock, ...thresholds }))
        const inside = punches.filter((each) => {
          const span = CloseTerms.spanOf(terms({ clock }), each.locationId)
          const at = each.clockedIn.epochMilliseconds
          return span !== undefined && span.from <= at && at < span.to
        })
        const people = yield* Stream.run(
          Stream.fromArray(inside),
          Labor.hoursAbove({ clock: Period.zones(clock), ...thresholds })
        )

        assert.deepStrictEqual(
          aboves(sums),
          [...people].map((
            [userId, { above, aboveDay }]
          ) => [userId, Duration.toHours(above), Duration.toHours(aboveDay)])
            .toSorted(([one], [other]) => Number(one) - Number(other))
        )
      })
  )
})

describe("two closes", () => {
  const named = (of: CloseTerms.CloseTerms) => ({ terms: of })
  const first = terms()
  const next = terms({ first: date("2026-03-16"), last: date("2026-03-29") })
  const hours = (found: ReadonlyArray<CloseTerms.Neighbour<unknown>>) =>
    found.map(({ locationId, span }) => [locationId, (span.to - span.from) / 3_600_000])

  it("meet without an overlap or a gap under one clock", () => {
    assert.deepStrictEqual(hours(CloseTerms.overlaps(next, [named(first)])), [])
    assert.deepStrictEqual(hours(CloseTerms.gaps(next, [named(first)])), [])
  })

  it("overlap by instants, location by location, where one has another zone", () => {
    const moved = terms({ first: next.first, last: next.last, clock: new Map([[far, berlin]]) })

    // Berlin begins its day five hours earlier than New York after the change of its clocks.
    assert.deepStrictEqual(hours(CloseTerms.overlaps(moved, [named(first)])), [[far, 5]])
    assert.deepStrictEqual(hours(CloseTerms.gaps(terms({ clock: new Map([[far, berlin]]) }), [named(next)])), [[
      far,
      5
    ]])
  })

  it("meet again where the beginning is aligned with the end of the one before", () => {
    const moved = terms({ first: next.first, last: next.last, clock: new Map([[far, berlin], [east, newYork]]) })
    const aligned = CloseTerms.alignEdges(moved, [first])

    assert.deepStrictEqual(hours(CloseTerms.overlaps(aligned, [named(first)])), [])
    assert.deepStrictEqual(hours(CloseTerms.gaps(aligned, [named(first)])), [])
    assert.strictEqual(CloseTerms.spanOf(aligned, far)?.from, CloseTerms.spanOf(first, far)?.to)
  })

  it("are not aligned over two days and more, nor where the period is the same", () => {
    const later = terms({ first: date("2026-03-19"), last: date("2026-03-29") })

    assert.deepStrictEqual(CloseTerms.alignEdges(later, [first]), later)
    assert.deepStrictEqual(CloseTerms.alignEdges(first, [first]), first)
    assert.lengthOf(CloseTerms.overlaps(first, [named(first)]), 1)
  })

  it("are not aligned if the one before reaches to their end, since no instant would be left", () => {
    const day = terms({ first: first.last, last: first.last })

    assert.deepStrictEqual(CloseTerms.alignEdges(day, [first]), day)
    assert.isNotEmpty(CloseTerms.overlaps(day, [named(first)]))
  })

  it.effect("count a punch of the moved beginning once", () =>
    Effect.gen(function*() {
      // New York closed up to Monday 04:00Z; Berlin would begin on Sunday 23:00Z.
      const moved = terms({ first: next.first, last: next.last, clock: new Map([[far, berlin], [east, newYork]]) })
      const aligned = CloseTerms.alignEdges(moved, [first])
      const night = shift("2026-03-16T01:00:00Z", 2, { locationId: far })
      const one = yield* run([night], first)
      const other = yield* run([night], aligned)

      assert.deepStrictEqual([one.rows.length, other.rows.length], [1, 0])
    }))
})

describe("CloseSums.difference", () => {
  it.effect("is empty after an edit and its undoing, and has both rows of a changed role", () =>
    Effect.gen(function*() {
      const before = [shift("2026-03-03T14:00:00Z", 8), shift("2026-03-04T14:00:00Z", 8)]
      const moved = before.map((each, at) => at === 0 ? { ...each, roleId: RoleId.make(99) } : each)
      const [one, other] = [yield* run(before, terms()), yield* run(moved, terms())]

      assert.isTrue(CloseSums.equals(one, yield* run(before, terms())))
      assert.deepStrictEqual(
        CloseSums.difference(other, one).rows.map((
          { net, punches, roleId }
        ) => [roleId, punches, Duration.toHours(net)]),
        [[punch({}).roleId, -1, -8], [99, 1, 8]]
      )
    }))
})
