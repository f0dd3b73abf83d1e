import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, Equal, Option, Schema, type Sink, Stream } from "effect"
import { BusinessDate, Cents, LocationId, TimePunchId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as PeriodCheck from "../../src/payroll/PeriodCheck.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, Sample, shift as shiftOf, tick } from "../support/arbitraryPunch.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const honolulu = DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")
const [east, far, unknown] = [LocationId.make(301), LocationId.make(303), LocationId.make(309)]

const weekOf = (dayRule: Period.DayRule) => Period.week(dayRule, BusinessDate.make("2026-03-11"))
const options: PeriodCheck.PeriodCheckOptions = { dayRule: newYork, period: weekOf }
const byLocation = { ...options, dayRule: Period.zones(new Map([[east, newYork], [far, honolulu]])) }

/** A punch in New York that a check has nothing to say about. */
const shift = (id: number, clockedIn: string, hours: number, changes: Partial<TimePunch> = {}) =>
  shiftOf(clockedIn, hours, { id: TimePunchId.make(id), ...changes })

const run = <E = never>(punches: ReadonlyArray<TimePunch>, checked: PeriodCheck.PeriodCheckOptions<E>) =>
  Stream.run(Stream.fromArray(punches), PeriodCheck.check(checked))

/** Each issue as punch, kind and text. */
const told = (issues: ReadonlyArray<PeriodCheck.Issue>) =>
  issues.map(({ kind, punchId, text }) => [Number(punchId), kind, text] as const)

const monday = "2026-03-09T13:00:00Z"
const open = { clockedOut: Option.none() }

describe("PeriodCheck.check", () => {
  it.effect("finds nothing in a week without a problem, and nothing in none", () =>
    Effect.gen(function*() {
      const week = ["09", "10", "11", "12", "13"].map((day, index) => shift(index, `2026-03-${day}T13:00:00Z`, 8))

      assert.deepStrictEqual(yield* run(week, options), [])
      assert.deepStrictEqual(yield* run([], options), [])
    }))

  it.effect("finds each problem of a punch, as kind and sentence", () =>
    Effect.gen(function*() {
      const days = Array.from({ length: 7 }, (_, index) => `2026-03-${String(index + 9).padStart(2, "0")}T13:00:00Z`)
      const [one = "", two = "", three = "", four = "", five = "", six = ""] = days
      const planted = [
        shift(1, one, 0, open),
        shift(2, two, 8, { approved: false }),
        shift(3, three, 8),
        shift(4, four, 17.5),
        shift(5, five, 8, { hourlyWage: Cents.make(0) }),
        shift(6, six, -1),
        // Not longer than 16 hours.
        shift(7, days[6] ?? "", 16)
      ]

      assert.deepStrictEqual(told(yield* run(planted, { ...options, disputed: new Set([TimePunchId.make(3)]) })), [
        [1, "open", "It has no clock-out."],
        [2, "unapproved", "It is not approved."],
        [3, "disputed", "The employee disputes it."],
        [4, "tooLong", "It lasts 17h 30m, longer than 16h."],
        [5, "zeroWage", "Its hourly wage is 0."],
        [6, "anomaly", "NegativeSpan: it ends before it begins."]
      ])
    }))

  it.effect("has the person, the location and the clock-in on the clock of the location", () =>
    Effect.gen(function*() {
      const [issue] = yield* run([shift(1, "2026-03-16T07:30:00Z", 2, { ...open, locationId: far })], byLocation)

      assert.deepStrictEqual(JSON.parse(JSON.stringify(issue)), {
        punchId: 1,
        userId: 7,
        locationId: 303,
        kind: "open",
        at: "2026-03-16T07:30:00.000Z",
        text: "It has no clock-out."
      })
      assert.strictEqual(
        Option.getOrThrow(Option.fromUndefinedOr(issue)).at.pipe(DateTime.formatIsoOffset),
        "2026-03-15T21:30:00.000-10:00"
      )
    }))

  it.effect("fails with the location that has no zone", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        run([shift(1, monday, 8), shift(2, monday, 8, { locationId: unknown })], byLocation)
      )

      assert.deepStrictEqual(error, new Period.MissingZone({ locationId: unknown }))
    }))

  it("cannot fail if one zone stands for all", () => {
    const sink: Sink.Sink<ReadonlyArray<PeriodCheck.Issue>, TimePunch> = PeriodCheck.check({
      dayRule: newYork,
      period: weekOf
    })

    assert.isDefined(sink)
  })

  it.effect("has issues that are stored as JSON and read again", () =>
    Effect.gen(function*() {
      // 01:30 of the hour that the clocks of New York show twice, and a clock-in at Honolulu.
      const issues = yield* run([
        shift(1, "2026-11-01T06:30:00Z", 0, open),
        shift(2, "2026-10-28T18:30:00Z", 0, { ...open, locationId: far })
      ], { ...byLocation, period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-11-01")) })
      const codec = Schema.fromJsonString(Schema.Array(PeriodCheck.Issue))
      const text = yield* Schema.encodeEffect(codec)(issues)

      assert.isTrue(Equal.equals(yield* Schema.decodeEffect(codec)(text), issues))
      assert.include(text, `"at":"2026-11-01T01:30:00.000-05:00[America/New_York]"`)
    }))
})

describe("The overlaps of PeriodCheck.check", () => {
  it.effect("are not reported of a punch that is listed twice, whose issues are reported once", () =>
    Effect.gen(function*() {
      const twice = shift(1, monday, 8, { approved: false })

      assert.deepStrictEqual(told(yield* run([twice, twice], options)), [[1, "unapproved", "It is not approved."]])
    }))

  it.effect("are all found in any order, however many punches a person has", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 1000 }, (_, index) => {
        const start = DateTime.add(DateTime.makeUnsafe("2026-03-09T04:00:00Z"), { minutes: 10 * index })
        return shift(index, DateTime.formatIso(start), 1 / 6)
      })
      const late = shift(5000, "2026-03-09T04:30:00Z", 1 / 6)

      assert.deepStrictEqual(yield* run(many, options), [])
      for (const order of [[...many, late], [late, ...many.toReversed()]]) {
        assert.deepStrictEqual(told(yield* run(order, options)).map(([id]) => id), [3, 5000])
      }
    }))
})

describe("PeriodCheck.queryWindow", () => {
  it("is the period in all zones, with maxDuration on each side", () => {
    const iso = ({ gte, lt }: Period.Interval) => [DateTime.formatIso(gte), DateTime.formatIso(lt)]

    assert.deepStrictEqual(iso(PeriodCheck.queryWindow(byLocation)), [
      "2026-03-08T12:00:00.000Z",
      "2026-03-17T02:00:00.000Z"
    ])
    assert.deepStrictEqual(iso(PeriodCheck.queryWindow({ ...options, maxDuration: "1 hour" })), [
      "2026-03-09T03:00:00.000Z",
      "2026-03-16T05:00:00.000Z"
    ])
  })
})

const zoneUtc = DateTime.zoneMakeOffset(0)

/** A period in the middle of the samples, in ticks. */
const [first, last] = [-5, 15]
const during = { gte: at(first), lt: at(last) }

const Punches = Arbitrary.array(Sample, { maxLength: 20 }).pipe(
  // Ids as the service has them: each once.
  Arbitrary.map((samples) =>
    samples.map((sample, id) => ({ ...sample, punch: { ...sample.punch, id: TimePunchId.make(id) } }))
  )
)

describe("A check", () => {
  it.effect.prop(
    "finds in its window what it finds in all punches, none longer than longest",
    [Punches],
    ([samples]) =>
      Effect.gen(function*() {
        // A punch outside of the window overlaps one of the period only if it is longer than longest.
        const longest = 6
        const short = samples.filter(({ end, start }) => end === null || end - start <= longest)
        const checked: PeriodCheck.PeriodCheckOptions = {
          dayRule: zoneUtc,
          period: () => during,
          maxDuration: Duration.millis(longest * tick)
        }
        const { gte, lt } = PeriodCheck.queryWindow(checked)
        const punches = short.map((sample) => sample.punch)
        const listed = punches.filter(({ clockedIn }) =>
          gte.epochMilliseconds <= clockedIn.epochMilliseconds && clockedIn.epochMilliseconds < lt.epochMilliseconds
        )

        assert.deepStrictEqual(yield* run(listed, checked), yield* run(punches, checked))
      })
  )
})
