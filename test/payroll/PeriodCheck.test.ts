import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, Equal, Option, Schema, Sink, Stream } from "effect"
import type { InvalidRequest } from "../../src/ApiError.ts"
import { BusinessDate, Cents, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as PeriodCheck from "../../src/payroll/PeriodCheck.ts"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch, rest, Sample, shift as shiftOf, tick } from "../support/arbitraryPunch.ts"

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

  it.effect("takes maxDuration and asOf from its options", () =>
    Effect.gen(function*() {
      const asOf = DateTime.makeUnsafe("2026-03-10T13:00:00Z")
      const issues = yield* run([
        shift(1, monday, 0, open),
        shift(2, "2026-03-12T13:00:00Z", 4, { userId: UserId.make(8) })
      ], {
        ...options,
        asOf,
        maxDuration: "3 hours"
      })

      assert.deepStrictEqual(told(issues), [
        [1, "open", "It has no clock-out."],
        [1, "tooLong", "It lasts 1d, longer than 3h."],
        [2, "tooLong", "It lasts 4h, longer than 3h."]
      ])
    }))

  it.effect("sorts by person, clock-in, punch and kind", () =>
    Effect.gen(function*() {
      const unfit = { approved: false, hourlyWage: Cents.make(0) }
      const other = { ...unfit, userId: UserId.make(3) }
      const issues = yield* run([
        shift(2, monday, 1, unfit),
        shift(9, "2026-03-09T12:00:00Z", 1, unfit),
        shift(5, monday, 1, other)
      ], options)

      assert.deepStrictEqual(told(issues).map(([id, kind]) => [id, kind]), [
        [5, "unapproved"],
        [5, "zeroWage"],
        [9, "unapproved"],
        [9, "zeroWage"],
        [2, "unapproved"],
        [2, "zeroWage"]
      ])
    }))

  it.effect("skips a deleted punch, also one that would overlap", () =>
    Effect.gen(function*() {
      const deleted = shift(2, monday, 4, { deleted: true, approved: false, locationId: unknown })

      assert.deepStrictEqual(yield* run([shift(1, monday, 8), deleted], byLocation), [])
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
  it.effect("are reported for both punches, each in local time, also at two locations", () =>
    Effect.gen(function*() {
      const issues = yield* run([
        shift(1, monday, 8),
        shift(2, "2026-03-09T20:00:00Z", 4, { locationId: far }),
        shift(3, "2026-03-09T20:00:00Z", 4, { userId: UserId.make(8) })
      ], byLocation)

      assert.deepStrictEqual(told(issues), [
        [1, "overlap", "It overlaps punch 2, 2026-03-09 16:00 to 2026-03-09 20:00."],
        [2, "overlap", "It overlaps punch 1, 2026-03-09 03:00 to 2026-03-09 11:00."]
      ])
    }))

  it.effect("are not reported where punches touch, nor for one without length", () =>
    Effect.gen(function*() {
      const issues = yield* run(
        [shift(1, monday, 8), shift(2, "2026-03-09T21:00:00Z", 1), shift(3, "2026-03-09T15:00:00Z", 0)],
        options
      )

      assert.deepStrictEqual(told(issues).map(([id, kind]) => [id, kind]), [[3, "anomaly"]])
    }))

  it.effect("are found across the edges of the period, and a punch outside has no other issue", () =>
    Effect.gen(function*() {
      const unfit = { approved: false }
      const sunday = shift(1, "2026-03-08T23:00:00Z", 14, unfit)
      const next = shift(4, "2026-03-16T05:00:00Z", 8, unfit)
      const issues = yield* run([
        sunday,
        shift(2, monday, 0.5),
        shift(3, "2026-03-16T01:00:00Z", 6),
        next,
        // Both lie outside: of no interest.
        shift(5, "2026-03-08T22:00:00Z", 2)
      ], options)

      assert.deepStrictEqual(told(issues).map(([id, kind]) => [id, kind]), [[3, "overlap"], [4, "overlap"]])
      const earlier = yield* run([sunday, shift(2, "2026-03-09T12:30:00Z", 2)], options)
      assert.deepStrictEqual(told(earlier).map(([id, kind]) => [id, kind]), [[1, "overlap"], [2, "overlap"]])
    }))

  it.effect("have the offset with their times where the clocks change in between", () =>
    Effect.gen(function*() {
      // From 01:30 to 01:10, since the clocks are set back by an hour at 02:00.
      const night = [shift(1, "2026-11-01T05:30:00Z", 2 / 3), shift(2, "2026-11-01T06:00:00Z", 4)]
      const october = {
        ...options,
        period: (dayRule: Period.DayRule) => Period.week(dayRule, BusinessDate.make("2026-11-01"))
      }

      assert.deepStrictEqual(told(yield* run(night, october)), [
        [1, "overlap", "It overlaps punch 2, 2026-11-01 01:00 to 2026-11-01 05:00."],
        [2, "overlap", "It overlaps punch 1, 2026-11-01 01:30-04:00 to 2026-11-01 01:10-05:00."]
      ])
    }))

  it.effect("are found with what select leaves out, which has no other issue", () =>
    Effect.gen(function*() {
      const elsewhere = { locationId: far, approved: false }
      const issues = yield* run([
        shift(1, monday, 8),
        shift(2, "2026-03-09T20:00:00Z", 4, elsewhere),
        shift(3, "2026-03-09T22:00:00Z", 4, elsewhere)
      ], { ...byLocation, select: (punch) => punch.locationId === east })

      assert.deepStrictEqual(told(issues).map(([id, kind]) => [id, kind]), [[1, "overlap"], [2, "overlap"]])
    }))

  it.effect("of an open punch are those with its clock-in, and those up to asOf", () =>
    Effect.gen(function*() {
      const within = [shift(1, monday, 8), shift(2, "2026-03-09T14:00:00Z", 0, open)]
      const after = [shift(1, monday, 0, open), shift(2, "2026-03-09T14:00:00Z", 2)]
      const overlaps = (issues: ReadonlyArray<PeriodCheck.Issue>) =>
        told(issues).filter(([, kind]) => kind === "overlap")

      assert.deepStrictEqual(overlaps(yield* run(within, options)), [
        [1, "overlap", "It overlaps punch 2, open since 2026-03-09 10:00."],
        [2, "overlap", "It overlaps punch 1, 2026-03-09 09:00 to 2026-03-09 17:00."]
      ])
      assert.deepStrictEqual(overlaps(yield* run(after, options)), [])
      const asOf = DateTime.makeUnsafe("2026-03-09T15:00:00Z")
      assert.deepStrictEqual(overlaps(yield* run(after, { ...options, asOf })).map(([id]) => id), [1, 2])
    }))

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

type Shift = typeof Sample extends Arbitrary.Arbitrary<infer A> ? A : never

/** The seconds of a sample, one by one. */
const ticksOf = ({ asOf, end, start }: Shift, withAsOf: boolean) => {
  // Of an open punch without asOf one instant is known, which is less than a tick: the tick stands for it.
  const until = end ?? (withAsOf ? asOf : start + 1)
  return Array.from({ length: Math.max(0, until - start) }, (_, index) => start + index)
}

/** What the definitions of the kinds find, punch by punch and pair by pair, as sorted lines. */
const expected = (samples: ReadonlyArray<Shift>, withAsOf: boolean, longest: number, disputed: ReadonlySet<number>) => {
  const lines = new Set<string>()
  const live = samples.filter(({ punch }) => !punch.deleted)
  const isWithin = ({ start }: Shift) => first <= start && start < last
  for (const sample of live) {
    const say = (kind: PeriodCheck.IssueKind, what = "") => lines.add(`${sample.punch.id} ${kind} ${what}`.trim())
    if (isWithin(sample)) {
      if (sample.end === null) say("open")
      if (!sample.punch.approved) say("unapproved")
      if (disputed.has(sample.punch.id)) say("disputed")
      const end = sample.end ?? (withAsOf ? sample.asOf : null)
      if (end !== null && end - sample.start > longest) say("tooLong")
      if (sample.punch.hourlyWage === 0) say("zeroWage")
      const rules = withAsOf ? { asOf: at(sample.asOf) } : {}
      for (const anomaly of WorkedTime.measure(sample.punch, rules).anomalies)
        if (anomaly !== "OpenPunch") say("anomaly", anomaly)
    }
    for (const other of live) {
      if (other === sample || other.punch.userId !== sample.punch.userId) continue
      const shared = ticksOf(other, withAsOf).some((now) => ticksOf(sample, withAsOf).includes(now))
      if (shared && (isWithin(sample) || isWithin(other))) say("overlap", `${other.punch.id}`)
    }
  }
  return [...lines].toSorted()
}

const lineOf = ({ kind, punchId, text }: PeriodCheck.Issue) => {
  const [, what = ""] = /^It overlaps punch (\d+)/.exec(text) ?? /^(\w+): /.exec(text) ?? []
  return `${punchId} ${kind} ${what}`.trim()
}

/** `check` for punches of seconds: a `maxDuration` that fits them is refused. */
const unchecked = (options: PeriodCheck.PeriodCheckOptions) =>
  Sink.map(PeriodCheck.findings(options), (found) => found.map(PeriodCheck.issueOf))
const runUnchecked = (punches: ReadonlyArray<TimePunch>, options: PeriodCheck.PeriodCheckOptions) =>
  Stream.run(Stream.fromArray(punches), unchecked(options))

describe("A check", () => {
  it.effect.prop(
    "finds exactly what the definitions find, however the punches are chunked and ordered",
    {
      samples: Punches,
      withAsOf: Schema.Boolean,
      asOf: Schema.Int.check(Schema.isBetween({ minimum: -5, maximum: 60 })),
      longest: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 })),
      disputed: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })))
    },
    ({ asOf, disputed, longest, samples, withAsOf }) =>
      Effect.gen(function*() {
        const same = samples.map((sample) => ({ ...sample, asOf }))
        const checked: PeriodCheck.PeriodCheckOptions = {
          dayRule: zoneUtc,
          period: () => during,
          maxDuration: Duration.millis(longest * tick),
          disputed: new Set(disputed.map((id) => TimePunchId.make(id))),
          ...(withAsOf ? { asOf: at(asOf) } : {})
        }
        const punches = same.map((sample) => sample.punch)
        const issues = yield* runUnchecked(punches, checked)
        const turned = yield* Stream.fromArray(punches.toReversed()).pipe(
          Stream.rechunk(3),
          Stream.run(unchecked(checked))
        )

        assert.deepStrictEqual(issues.map(lineOf).toSorted(), expected(same, withAsOf, longest, new Set(disputed)))
        assert.deepStrictEqual(turned, issues)
        for (const issue of issues) {
          const own = punches.find(({ id }) => id === issue.punchId)
          assert.deepStrictEqual([issue.userId, issue.locationId], [own?.userId, own?.locationId])
          assert.strictEqual(issue.at.epochMilliseconds, own?.clockedIn.epochMilliseconds)
        }
      }),
    { arbitrary: { runs: 300 } }
  )

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

describe("The breaks of a punch", () => {
  it.effect("have an issue for each anomaly", () =>
    Effect.gen(function*() {
      const breaks = [{ in: -9, out: 5, paid: false }, { in: 0, out: null, paid: true }, { in: 9, out: 8, paid: true }]
      const issues = yield* run([punch({ breaks: breaks.map(rest) })], {
        dayRule: zoneUtc,
        period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-02"))
      })

      assert.deepStrictEqual(told(issues).map(([, , text]) => text), [
        "BreakOutsidePunch: a break begins or ends outside of it.",
        "BreaksOverlap: two of its breaks share time.",
        "NegativeBreak: a break ends before it begins.",
        "OpenBreakInClosedPunch: a break has no end."
      ])
    }))
})
