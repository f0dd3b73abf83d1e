import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, Equal, Option, Schema, Sink, Stream } from "effect"
import type { InvalidRequest } from "../../src/ApiError.ts"
import { BusinessDate, Cents, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as PeriodCheck from "../../src/payroll/PeriodCheck.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, Sample, shift as shiftOf, tick } from "../support/arbitraryPunch.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const honolulu = DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")
const [east, far, unknown] = [LocationId.make(301), LocationId.make(303), LocationId.make(309)]

const weekOf = (dayRule: Period.DayRule) => Period.week(dayRule, BusinessDate.make("2026-03-11"))
const options: PeriodCheck.PeriodCheckOptions = { dayRule: newYork, period: weekOf }
const byLocation = { ...options, dayRule: Period.dayRules(new Map([[east, newYork], [far, honolulu]])) }

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

  it.effect("says when the service clocked a punch out, and whether a day ends there", () =>
    Effect.gen(function*() {
      const ended = (id: number, clockedOut: string, given: Partial<TimePunch> = {}) =>
        shift(id, "2026-03-09T13:00:00Z", 0, {
          userId: UserId.make(id),
          autoClockedOut: true,
          clockedOut: Option.some(DateTime.makeUnsafe(clockedOut)),
          ...given
        })
      const punches = [
        // Midnight of New York is 04:00 in UTC, that of Honolulu 10:00.
        ended(1, "2026-03-10T03:59:59Z"),
        ended(2, "2026-03-10T03:59:00Z"),
        ended(3, "2026-03-10T04:00:00Z"),
        ended(4, "2026-03-10T03:58:59Z"),
        ended(5, "2026-03-10T04:00:01Z"),
        ended(6, "2026-03-10T07:59:59Z"),
        ended(7, "2026-03-10T09:59:30Z", { locationId: far, approved: false }),
        ended(8, "2026-03-10T00:00:00Z", { autoClockedOut: false }),
        ended(9, "2026-03-10T00:00:00Z", { ...open }),
        ended(10, "2026-03-10T00:00:00Z", { deleted: true })
      ]
      const lines = (dayRule: Period.DayRule) =>
        Effect.map(
          run(punches, { ...options, dayRule: Period.dayRules(new Map([[east, dayRule], [far, honolulu]])) }),
          (issues) => told(issues).flatMap(([id, kind, text]) => kind === "autoClockedOut" ? [`${id} ${text}`] : [])
        )
      const of = (id: number, local: string, isLast: boolean) =>
        `${id} The service clocked it out at ${local}${isLast ? ", in the last minute of a day" : ""}.`
      const expected = (isLastAtFour: boolean) => [
        of(1, "2026-03-09 23:59", true),
        of(2, "2026-03-09 23:59", true),
        of(3, "2026-03-10 00:00", true),
        of(4, "2026-03-09 23:58", false),
        of(5, "2026-03-10 00:00", false),
        of(6, "2026-03-10 03:59", isLastAtFour),
        of(7, "2026-03-09 23:59", true)
      ]

      assert.deepStrictEqual(yield* lines(newYork), expected(false))
      assert.deepStrictEqual(yield* lines({ zone: newYork, dayStarts: "4 hours" }), expected(true))
    }))

  it.effect("finds a wage that is far from the median of five people, one wage a person", () =>
    Effect.gen(function*() {
      const paid = (id: number, user: number, cents: number, given: Partial<TimePunch> = {}) =>
        shift(id, `2026-03-${String(9 + (id % 5)).padStart(2, "0")}T13:00:00Z`, 8, {
          userId: UserId.make(user),
          hourlyWage: Cents.make(cents),
          ...given
        })
      const far = (punches: ReadonlyArray<TimePunch>, given: Partial<PeriodCheck.PeriodCheckOptions> = {}) =>
        Effect.map(
          run(punches, { ...options, ...given }),
          (issues) => told(issues).flatMap(([id, kind, text]) => kind === "wageFar" ? [[id, text]] : [])
        )
      const few = [paid(1, 1, 1550), paid(2, 2, 1550), paid(3, 3, 1600), paid(4, 4, 0)]
      const weekly = [paid(5, 5, 115_400), paid(6, 5, 115_400)]
      const textOf = (median: string) => `Its hourly wage is 1154.00, more than ten times the median of ${median}.`
      const five = [...few, paid(4, 4, 1550), ...weekly]
      const six = [...five, paid(8, 6, 1650)]

      // Only four have a wage above zero; a deleted punch and one of another week are no fifth.
      assert.deepStrictEqual(yield* far([...few, ...weekly]), [])
      assert.deepStrictEqual(yield* far([...few, ...weekly, paid(7, 6, 1550, { deleted: true })]), [])
      assert.deepStrictEqual(
        yield* far([...few, ...weekly, shift(7, "2026-03-04T13:00:00Z", 8, { userId: UserId.make(6) })]),
        []
      )
      assert.deepStrictEqual(yield* far(five), [[5, textOf("15.50")], [6, textOf("15.50")]])
      // Of an even number the median is between two; ten times of it is not far.
      assert.deepStrictEqual(yield* far([...six, paid(9, 7, 15_750)].slice(1)), [[5, textOf("16.25")], [
        6,
        textOf("16.25")
      ]])
      // Many punches of one person count once.
      const many = Array.from({ length: 20 }, (_, at) => paid(10 + at, 5, 115_400))
      assert.lengthOf(yield* far([...five, ...many]), 22)
      // Of two wages of a person the lower one is the usual one.
      assert.deepStrictEqual(
        yield* far([...five, paid(8, 3, 160_000)]).pipe(Effect.map((all) => all.map(([id]) => id))),
        [8, 5, 6]
      )
      // The people of other locations count, and only what is selected is reported.
      assert.deepStrictEqual(yield* far(five, { select: ({ id }) => id === 6 }), [[6, textOf("15.50")]])
      // One issue, also above both.
      assert.deepStrictEqual((yield* far(five, { maxWage: 1599 })).map(([, text]) => text), [
        "Its hourly wage is 16.00, above 15.99.",
        "Its hourly wage is 1154.00, above 15.99.",
        "Its hourly wage is 1154.00, above 15.99."
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

      assert.deepStrictEqual(error, new Period.MissingDayRule({ locationId: unknown }))
    }))

  it("fails only with a wrong option if one zone stands for all", () => {
    const sink: Sink.Sink<ReadonlyArray<PeriodCheck.Issue>, TimePunch, never, InvalidRequest> = PeriodCheck.check({
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

/** `check` for punches of seconds: a `maxDuration` that fits them is refused. */
const runUnchecked = (punches: ReadonlyArray<TimePunch>, options: PeriodCheck.PeriodCheckOptions) =>
  Stream.run(
    Stream.fromArray(punches),
    Sink.map(PeriodCheck.findings(options), (found) => found.map(PeriodCheck.issueOf))
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
        const { gte, lt } = PeriodCheck.windowOf(checked)
        const punches = short.map((sample) => sample.punch)
        const listed = punches.filter(({ clockedIn }) =>
          gte.epochMilliseconds <= clockedIn.epochMilliseconds && clockedIn.epochMilliseconds < lt.epochMilliseconds
        )

        assert.deepStrictEqual(yield* runUnchecked(listed, checked), yield* runUnchecked(punches, checked))
      })
  )
})
