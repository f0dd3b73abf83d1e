import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Option, Result, Schema, Stdio } from "effect"
import { Command } from "effect/cli"
import { describeFilter, filterFlags, type FilterInput } from "../../../src/cli/flags/filter.ts"
import {
  fixedWindowHint,
  keptOf,
  periodFlags,
  type PeriodInput,
  requirePeriod,
  textOfDates,
  withPeriod
} from "../../../src/cli/flags/period.ts"
import type { LocationDayRules } from "../../../src/cli/flags/zones.ts"
import { LocationId } from "../../../src/Ids.ts"
import { type DayRule, MissingDayRule } from "../../../src/payroll/Period.ts"
import { punch } from "../../support/arbitraryPunch.ts"

/** What the flags of a call are parsed to; fails as the command does. */
const parse = Effect.fnUntraced(function*(call: string) {
  const inputs: Array<FilterInput & PeriodInput> = []
  const probe = Command.make(
    "probe",
    { ...filterFlags, ...periodFlags },
    (input) => Effect.sync(() => inputs.push(input))
  )
  yield* Command.runWith(probe, { version: "0", renderErrors: false })(call.split(" ")).pipe(
    Effect.provide(Stdio.layerTest({})),
    Effect.provide(NodeServices.layer)
  )
  const [input] = inputs
  return input === undefined ? yield* Effect.die(new Error("the handler did not run")) : input
})

/** Tuesday in New York, Wednesday in Berlin and UTC. */
const now = DateTime.makeUnsafe("2026-03-11T02:30:00Z")

const windowOf = (call: string) =>
  Effect.flatMap(parse(call), (flags) => Effect.map(Effect.fromResult(withPeriod(flags, now)), describeFilter))

describe("a period", () => {
  it.effect.each(
    [
      // Clocks change on Sunday, 8 March, in New York and on Sunday, 29 March, in Berlin.
      ["--week 2026-03-11 --zone America/New_York", "2026-03-09T04:00:00Z", "2026-03-16T04:00:00Z"],
      ["--week 2026-03-08 --zone America/New_York", "2026-03-02T05:00:00Z", "2026-03-09T04:00:00Z"],
      ["--week 2026-03-08 --zone UTC --week-starts sunday", "2026-03-08T00:00:00Z", "2026-03-15T00:00:00Z"],
      [
        "--week 2026-03-08 --zone America/New_York --week-starts sunday",
        "2026-03-08T05:00:00Z",
        "2026-03-15T04:00:00Z"
      ],
      [
        "--week 2026-03-07 --zone America/New_York --week-starts sunday",
        "2026-03-01T05:00:00Z",
        "2026-03-08T05:00:00Z"
      ],
      ["--month 2026-03 --zone Europe/Berlin", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"],
      ["--month 2024-02 --zone +05:30", "2024-01-31T18:30:00Z", "2024-02-29T18:30:00Z"],
      ["--last 1d --zone America/New_York", "2026-03-10T04:00:00Z", "2026-03-11T04:00:00Z"],
      ["--last 7d --zone America/New_York", "2026-03-04T05:00:00Z", "2026-03-11T04:00:00Z"],
      ["--last 7d --zone Europe/Berlin", "2026-03-04T23:00:00Z", "2026-03-11T23:00:00Z"],
      ["--from 2026-03-29 --to 2026-03-29 --zone Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
      // A fortnight, half months and a month from the 26th.
      ["--pay-period 2026-03-11 --calendar 14d:2026-01-05 --zone UTC", "2026-03-02T00:00:00Z", "2026-03-16T00:00:00Z"],
      ["--pay-period 2026-02-20 --calendar 1,16 --zone UTC", "2026-02-16T00:00:00Z", "2026-03-01T00:00:00Z"],
      ["--pay-period 2026-03-11 --calendar 26 --zone America/New_York", "2026-02-26T05:00:00Z", "2026-03-26T04:00:00Z"],
      // Now it is the 10th in New York and the 11th in UTC.
      ["--week current --zone America/New_York", "2026-03-09T04:00:00Z", "2026-03-16T04:00:00Z"],
      ["--week last --zone America/New_York", "2026-03-02T05:00:00Z", "2026-03-09T04:00:00Z"],
      ["--week last --week-starts wednesday --zone America/New_York", "2026-02-25T05:00:00Z", "2026-03-04T05:00:00Z"],
      ["--week last --week-starts wednesday --zone UTC", "2026-03-04T00:00:00Z", "2026-03-11T00:00:00Z"],
      ["--month current --zone UTC", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"],
      ["--month last --zone UTC", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"],
      ["--pay-period last --calendar 1,16 --zone UTC", "2026-02-16T00:00:00Z", "2026-03-01T00:00:00Z"],
      ["--pay-period current --calendar 11 --zone UTC", "2026-03-11T00:00:00Z", "2026-04-11T00:00:00Z"],
      ["--pay-period current --calendar 11 --zone America/New_York", "2026-02-11T05:00:00Z", "2026-03-11T04:00:00Z"],
      // 02:30 in UTC is still the 10th, if days begin at four.
      [
        "--pay-period current --calendar 11 --zone UTC --day-starts 04:00",
        "2026-02-11T04:00:00Z",
        "2026-03-11T04:00:00Z"
      ],
      ["--last 1d --zone UTC --day-starts 04:00", "2026-03-10T04:00:00Z", "2026-03-11T04:00:00Z"],
      ["--week 2026-03-11 --zone UTC --day-starts=-02:00", "2026-03-08T22:00:00Z", "2026-03-15T22:00:00Z"],
      ["--month 2026-03 --zone America/New_York --day-starts 04:00", "2026-03-01T09:00:00Z", "2026-04-01T08:00:00Z"],
      ["--from 2026-01-01 --to 2026-01-14 --zone Asia/Tokyo", "2025-12-31T15:00:00Z", "2026-01-14T15:00:00Z"]
    ] as const
  )("of %s is a window from %s to before %s", ([call, gte, lt]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* windowOf(call), { "--clocked-in-gte": gte, "--clocked-in-lt": lt })
    }))

  it.effect("leaves the other filters as they are, and flags without one too", () =>
    Effect.gen(function*() {
      const beside = yield* windowOf("--user-id 5 --modified-since 2026-03-01T00:00:00Z --last 1d --zone UTC")
      const without = yield* windowOf(
        "--clocked-in-gte 2026-02-01T00:00:00Z --clocked-out-lt 2026-03-01T00:00:00Z --zone UTC"
      )

      assert.deepStrictEqual(beside, {
        "--user-id": "5",
        "--modified-since": "2026-03-01T00:00:00Z",
        "--clocked-in-gte": "2026-03-11T00:00:00Z",
        "--clocked-in-lt": "2026-03-12T00:00:00Z"
      })
      assert.deepStrictEqual(without, {
        "--clocked-in-gte": "2026-02-01T00:00:00Z",
        "--clocked-out-lt": "2026-03-01T00:00:00Z"
      })
    }))

  const kinds = [
    "--week 2026-03-11",
    "--month 2026-03",
    "--pay-period last --calendar 1,16",
    "--last 7d",
    "--from 2026-03-01 --to 2026-03-02"
  ]

  const flagOf = (call: string) => call.split(/[ =]/)[0] ?? ""

  const refusal = (call: string) =>
    Effect.flatMap(parse(call), (flags) => {
      const result = withPeriod(flags, now)
      return Result.isFailure(result)
        ? Effect.succeed(result.failure)
        : Effect.die(new Error(`${call} was accepted`))
    })

  it.effect.each(kinds)("of %s without a zone is refused", (kind) =>
    Effect.gen(function*() {
      const { advice, code, message } = yield* refusal(kind)

      assert.strictEqual(code, 2)
      assert.match(message, new RegExp(`^${flagOf(kind)} has no zone: a local date begins and ends by the clocks`))
      assert.match(advice.join(), /--zone America\/New_York/)
    }))

  const pairs = kinds.flatMap((one, at) => kinds.slice(at + 1).map((other): [string, string] => [one, other]))

  it.effect.each(pairs)("of %s is refused beside %s, and both are named", ([one, other]) =>
    Effect.gen(function*() {
      const { message } = yield* refusal(`${other} ${one} --zone UTC`)

      assert.strictEqual(message, `${flagOf(one)} and ${flagOf(other)} are two periods`)
    }))

  const windows = [
    "--clocked-in-gte 2026-03-01T00:00:00Z",
    "--clocked-in-lt 2026-03-01T00:00:00Z",
    "--clocked-in-lte 2026-03-01T00:00:00Z",
    "--clocked-out-gte 2026-03-01T00:00:00Z",
    "--clocked-out-lt 2026-03-01T00:00:00Z",
    "--business-date-start 2026-03-01",
    "--business-date-end 2026-03-01",
    "--localize-search-time"
  ]

  it.effect.each(kinds.flatMap((kind) => windows.map((window): [string, string] => [kind, window])))(
    "of %s is refused beside %s, and both are named",
    ([kind, window]) =>
      Effect.gen(function*() {
        const { message } = yield* refusal(`${kind} ${window} --zone UTC`)

        assert.include(message, `${flagOf(kind)} and ${flagOf(window)} `)
      })
  )

  it.effect.each(
    [
      ["--from 2026-03-01 --zone UTC", /^--from goes with --to, which is missing/],
      ["--to 2026-03-01 --zone UTC", /^--to goes with --from, which is missing/],
      ["--from 2026-03-02 --to 2026-03-01 --zone UTC", /^--to 2026-03-01 is before --from 2026-03-02/],
      [
        "--month 2026-03 --week-starts sunday --zone UTC",
        /^--week-starts is the first day of --week, which is missing/
      ],
      ["--pay-period last --zone UTC", /^--pay-period goes with --calendar, which is missing/],
      ["--calendar 1,16 --zone UTC", /^--calendar goes with --pay-period, which is missing/],
      ["--day-starts 04:00", /^--day-starts has no zone: a local day begins by the clocks of a place/],
      ["--from 2011-12-30 --to 2011-12-30 --zone Pacific/Apia", /^--from has no instant in Pacific\/Apia/]
    ] as const
  )("of %s is refused", ([call, expected]) =>
    Effect.gen(function*() {
      assert.match((yield* refusal(call)).message, expected)
    }))

  it.effect.each([
    "--week 2026-02-30",
    "--week 2026-W11",
    "--week 2026-03-11T00:00:00Z",
    "--month 2026-13",
    "--month 2026-3",
    "--month 2026-03-01",
    "--last 7",
    "--last 0d",
    "--last 24h",
    "--last 1.5d",
    "--last 367d",
    "--from 01.03.2026",
    "--week-starts Sun",
    "--zone Mars/Olympus",
    "--week next",
    "--month LAST",
    "--pay-period 2026-02-30",
    "--calendar 0d:2026-01-05",
    "--calendar 14d:2026-02-30",
    "--calendar 14d",
    "--calendar 16,1",
    "--calendar 28,31",
    "--calendar 0",
    "--calendar 32",
    "--calendar 1,11,21",
    "--calendar monthly",
    "--day-starts 4:00",
    "--day-starts 13:00",
    "--day-starts=-12:01",
    "--day-starts 04:60"
  ])("is not %s", (call) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(parse(call))

      assert.strictEqual(error._tag, "ShowHelp")
      assert.match(error._tag === "ShowHelp" ? error.errors.join() : "", new RegExp(flagOf(call)))
    }))

  it.effect("names its window only where another day would have another one", () =>
    Effect.gen(function*() {
      const hintOf = (call: string): Effect.Effect<ReadonlyArray<string>, unknown> =>
        Effect.map(
          Effect.flatMap(parse(call), (flags) => Effect.fromResult(withPeriod(flags, now))),
          fixedWindowHint
        )

      assert.deepStrictEqual(yield* hintOf("--week 2026-03-11 --zone UTC"), [])
      assert.deepStrictEqual(yield* hintOf("--last 1d --zone UTC"), [
        "On another day, replace --last by --clocked-in-gte 2026-03-11T00:00:00Z --clocked-in-lt 2026-03-12T00:00:00Z"
      ])
      assert.deepStrictEqual(yield* hintOf("--week last --zone UTC"), [
        "On another day, replace --week last by --week 2026-03-02"
      ])
      assert.deepStrictEqual(yield* hintOf("--month current --zone UTC"), [
        "On another day, replace --month current by --month 2026-03"
      ])
      assert.deepStrictEqual(yield* hintOf("--pay-period last --calendar 26 --zone UTC"), [
        "On another day, replace --pay-period last by --pay-period 2026-01-26"
      ])
    }))

  it.effect("has its dates, but for --last, whose dates are those of each location", () =>
    Effect.gen(function*() {
      const datesOf = (call: string) =>
        Effect.map(
          Effect.flatMap(parse(call), (flags) => Effect.fromResult(withPeriod(flags, now))),
          ({ dates }) => Option.getOrNull(Option.map(dates, textOfDates))
        )

      assert.strictEqual(yield* datesOf("--week last --zone UTC"), "2026-03-02 to 2026-03-08")
      assert.strictEqual(yield* datesOf("--month 2024-02 --zone UTC"), "2024-02-01 to 2024-02-29")
      assert.strictEqual(yield* datesOf("--from 2026-03-02 --to 2026-03-03 --zone UTC"), "2026-03-02 to 2026-03-03")
      assert.strictEqual(yield* datesOf("--last 7d --zone UTC"), null)
    }))
})

const zone = DateTime.zoneMakeNamedUnsafe
const [east, far, unknown] = [LocationId.make(301), LocationId.make(303), LocationId.make(309)]
const locations: LocationDayRules = new Map([[east, zone("America/New_York")], [far, zone("Pacific/Honolulu")]])

const resolved = (call: string, at = now, zones = locations) =>
  Effect.flatMap(
    parse(call),
    (flags) => Effect.fromResult(withPeriod(flags, at, { locations: Option.some(zones) }))
  )

const punchAt = (locationId: LocationId, instant: string) =>
  punch({ locationId, clockedIn: DateTime.makeUnsafe(instant) })

describe("a period by the zone of each location", () => {
  it.effect("is a window over all zones of the world, of which each location keeps its own", () =>
    Effect.gen(function*() {
      const flags = yield* resolved("--week 2026-03-08 --zone-file FILE")
      // 23:30 of Sunday in Honolulu is Monday morning in New York.
      const instant = "2026-03-09T09:30:00Z"

      assert.deepStrictEqual(describeFilter(flags), {
        "--clocked-in-gte": "2026-03-01T07:00:00Z",
        "--clocked-in-lt": "2026-03-09T15:00:00Z"
      })
      assert.deepStrictEqual(flags.keeps(punchAt(far, instant)), Result.succeed(true))
      assert.deepStrictEqual(flags.keeps(punchAt(east, instant)), Result.succeed(false))
      assert.deepStrictEqual(
        Option.map(flags.zoneOf(punchAt(far, instant)), DateTime.zoneToString),
        Option.some("Pacific/Honolulu")
      )
    }))

  it.effect.each(["", "--week 2026-03-08 "])(
    "fails for a location that has none, with %s--zone-file",
    (period) =>
      Effect.gen(function*() {
        const flags = yield* resolved(`${period}--zone-file FILE`)
        const missing = Result.fail(new MissingDayRule({ locationId: unknown }))

        for (const instant of ["2026-03-04T00:00:00Z", "2026-06-01T00:00:00Z"]) {
          assert.deepStrictEqual(flags.keeps(punchAt(unknown, instant)), missing)
        }
        assert.deepStrictEqual(
          keptOf([punchAt(east, "2026-03-04T00:00:00Z"), punchAt(unknown, "2026-03-04T00:00:00Z")], flags),
          missing
        )
      })
  )

  it.effect("keeps every punch without a period, and without a zone", () =>
    Effect.gen(function*() {
      const punches = [punchAt(east, "2026-03-04T00:00:00Z"), punchAt(far, "2020-01-01T00:00:00Z")]
      const without = yield* Effect.flatMap(parse("--user-id 5"), (flags) => Effect.fromResult(withPeriod(flags, now)))

      assert.deepStrictEqual(keptOf(punches, yield* resolved("--zone-file FILE")), Result.succeed(punches))
      assert.deepStrictEqual(
        keptOf([...punches, punchAt(unknown, "2020-01-01T00:00:00Z")], without).pipe(
          Result.map((kept) => kept.length)
        ),
        Result.succeed(3)
      )
      assert.deepStrictEqual(without.zoneOf(punchAt(east, "2020-01-01T00:00:00Z")), Option.none())
    }))

  it.effect("gives the day rule and the period to a command that needs them, and refuses to be without", () =>
    Effect.gen(function*() {
      const flags = yield* resolved("--month 2026-03 --zone-file FILE")
      const { dayRule, period } = yield* requirePeriod(flags, "check")
      const without = requirePeriod(yield* resolved("--zone-file FILE"), "check")
      const failure = yield* Effect.flip(without)

      assert.isFalse(DateTime.isTimeZone(dayRule))
      assert.strictEqual(DateTime.formatIso(period(zone("Asia/Tokyo")).gte), "2026-02-28T15:00:00.000Z")
      assert.deepStrictEqual([failure.code, failure.message], [2, "check needs a period"])
      assert.include(failure.advice.join(), "--zone or --zone-file")
    }))

  it.effect("is refused beside --zone", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(resolved("--week 2026-03-08 --zone UTC --zone-file FILE"))

      assert.strictEqual(failure.message, "--zone and --zone-file both say which clock counts")
    }))

  it.effect("counts weeks from another day for a command that counts them, also without --week", () =>
    Effect.gen(function*() {
      const flags = yield* parse("--month 2026-03 --week-starts sunday --zone UTC")

      assert.isTrue(Result.isFailure(withPeriod(flags, now)))
      assert.isTrue(Result.isSuccess(withPeriod(flags, now, { countsWeeks: true })))
    }))

  it.effect("reads last and current once for all locations, and refuses them where they mean two periods", () =>
    Effect.gen(function*() {
      // Sunday evening in Honolulu, Monday morning in New York.
      const monday = DateTime.makeUnsafe("2026-03-16T08:00:00Z")
      const words = yield* parse("--week last --zone-file FILE")
      const two = yield* Effect.flip(
        Effect.fromResult(withPeriod(words, monday, { locations: Option.some(locations) }))
      )
      const later = yield* resolved("--week last --zone-file FILE", DateTime.add(monday, { hours: 3 }))
      const nights: LocationDayRules = new Map<LocationId, DayRule>([
        [east, { zone: zone("America/New_York"), dayStarts: "6 hours" }],
        [far, zone("Pacific/Honolulu")]
      ])
      const one = yield* resolved("--week last --zone-file FILE", monday, nights)

      assert.deepStrictEqual([two.code, two.message, two.advice], [
        2,
        "--week last means two periods now: 2026-03-09 to 2026-03-15 in America/New_York, 2026-03-02 to 2026-03-08 in " +
        "Pacific/Honolulu",
        ["Give a date: --week 2026-03-09, or --week 2026-03-02."]
      ])
      assert.deepStrictEqual(Option.map(later.dates, textOfDates), Option.some("2026-03-09 to 2026-03-15"))
      // By the business days of the bar it is Sunday at both.
      assert.deepStrictEqual(Option.map(one.dates, textOfDates), Option.some("2026-03-02 to 2026-03-08"))
    }))

  it.effect("counts the days of each location from their own start, also today's", () =>
    Effect.gen(function*() {
      const clocks: LocationDayRules = new Map<LocationId, DayRule>([
        [east, { zone: zone("America/New_York"), dayStarts: "4 hours" }],
        [far, zone("Pacific/Honolulu")]
      ])
      // 02:00 of the 11th in New York.
      const flags = yield* resolved("--last 1d --zone-file FILE", DateTime.makeUnsafe("2026-03-11T06:00:00Z"), clocks)
      const keeps = (instant: string) => Result.getOrThrow(flags.keeps(punchAt(east, instant)))

      assert.deepStrictEqual(["2026-03-10T07:59:00Z", "2026-03-10T08:00:00Z", "2026-03-11T07:59:00Z"].map(keeps), [
        false,
        true,
        true
      ])
      assert.deepStrictEqual(
        flags.dayRuleOf(punchAt(east, "2026-03-10T08:00:00Z")),
        Option.fromUndefinedOr(clocks.get(east))
      )
    }))

  it.effect("names no window for --last: the days of each location change at its own midnight", () =>
    Effect.gen(function*() {
      const [hint = "", ...more] = fixedWindowHint(yield* resolved("--last 7d --zone-file FILE"))

      assert.match(hint, /^Only until the next midnight of a location: .*without --cursor/)
      assert.deepStrictEqual(more, [])
    }))
})

const Case = Arbitrary.schema(Schema.Struct({
  now: Schema.Int.check(Schema.isBetween({ minimum: 1_767_225_600, maximum: 1_798_761_600 })),
  quarters: Schema.Int.check(Schema.isBetween({ minimum: -48, maximum: 56 })),
  days: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
}))

describe("The window of every period by locations", () => {
  it.effect.prop("covers the period also in a zone that no location has", [Case], ([each]) =>
    Effect.gen(function*() {
      const elsewhere = DateTime.zoneMakeOffset(each.quarters * 900_000)
      for (const call of [`--last ${each.days}d`, "--week 2026-03-08", "--from 2026-03-01 --to 2026-03-14"]) {
        const flags = yield* resolved(
          `${call} --zone-file FILE`,
          DateTime.makeUnsafe(each.now * 1000),
          new Map([[east, zone("Pacific/Kiritimati")]])
        )
        const { gte, lt } = Option.getOrThrow(flags.period)(elsewhere)
        const from = Option.getOrThrow(flags.clockedIn.gte).epochMilliseconds
        const to = Option.getOrThrow(flags.clockedIn.lt).epochMilliseconds

        assert.isTrue(from <= gte.epochMilliseconds && lt.epochMilliseconds <= to, call)
        // No more than the days of the period, and one and two days on each side.
        assert.isTrue(to - from <= lt.epochMilliseconds - gte.epochMilliseconds + 4 * 86_400_000, call)
      }
    }))
})

const names = ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Pacific/Kiritimati"] as const

/** Locations with zones, a Monday of 2026, and clock-ins around its week. */
const Shifts = Arbitrary.schema(Schema.Struct({
  zones: Schema.NonEmptyArray(Schema.Literals(names)),
  monday: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 51 })),
  shifts: Schema.Array(Schema.Struct({
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
    hours: Schema.Int.check(Schema.isBetween({ minimum: -40, maximum: 210 }))
  }))
}))

describe("The punches of every week by locations", () => {
  it.effect.prop(
    "are those with a date of the week on the wall clock of their location",
    [Shifts],
    ([each]) =>
      Effect.gen(function*() {
        const start = Date.UTC(2026, 0, 5 + 7 * each.monday)
        const [first, last] = [0, 6].map((days) => new Date(start + days * 86_400_000).toISOString().slice(0, 10))
        const zones: LocationDayRules = new Map(each.zones.map((name, at) => [LocationId.make(at), zone(name)]))
        const flags = yield* resolved(`--week ${last} --zone-file FILE`, now, zones)
        const punches = each.shifts.map(({ at, hours }) =>
          punchAt(LocationId.make(at % each.zones.length), new Date(start + hours * 3_600_000).toISOString())
        )
        const expected = punches.filter(({ clockedIn, locationId }) => {
          const wall = new Intl.DateTimeFormat("en-CA", { timeZone: each.zones[locationId] ?? "", dateStyle: "short" })
          const date = wall.format(clockedIn.epochMilliseconds)
          return `${first}` <= date && date <= `${last}`
        })

        assert.deepStrictEqual(keptOf(punches, flags), Result.succeed(expected))
      })
  )
})
