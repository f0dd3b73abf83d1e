import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, HashMap, Option, Result, Stream } from "effect"
import { InvalidRequest } from "../../src/ApiError.ts"
import { BusinessDate, LocationId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import { PayCalendar } from "../../src/payroll/PayCalendar.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as PeriodCheck from "../../src/payroll/PeriodCheck.ts"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import * as Report from "../../src/report/report.ts"
import { at, shift } from "../support/arbitraryPunch.ts"
import { untyped as passed } from "../support/untyped.ts"

const zone = DateTime.zoneMakeNamedUnsafe("America/New_York")
const [monday, sunday] = [BusinessDate.make("2026-03-02"), BusinessDate.make("2026-03-08")]
const punches = Stream.make(shift("2026-03-02T14:00:00Z", 9))
const period = (dayRule: Period.DayRule) => Period.localDays(dayRule, monday, sunday)

/** A text as a date, as untyped code passes it. */
const castDate: (text: string) => BusinessDate = passed

/** Options as untyped code passes them. */
const untyped = <A>(options: A, changes: Readonly<Record<string, unknown>>): A => ({ ...options, ...changes })

const hours: Labor.PeriodHoursOptions = { dayRule: zone, period, weeklyThreshold: "40 hours" }
const check: PeriodCheck.PeriodCheckOptions = { dayRule: zone, period }
const labor: Labor.LaborOptions = { rounding: "halfUp" }
const report = { ...hours, ...labor }

type Changes = Readonly<Record<string, unknown>>

const effects: Readonly<Record<string, (changes: Changes) => Effect.Effect<unknown, unknown>>> = {
  rollup: (changes) => Stream.run(punches, Labor.rollup(({ userId }) => userId, untyped(labor, changes))),
  hours: (changes) => Stream.run(punches, Labor.hoursOverThreshold(untyped(hours, changes))),
  check: (changes) => Stream.run(punches, PeriodCheck.check(untyped(check, changes))),
  report: (changes) => Report.toHtml(punches, untyped(report, changes))
}

/** What a refusal names, and what it says. */
const said = (error: unknown) => error instanceof InvalidRequest ? `${error.field}: ${error.detail}` : error

const refusedBy = (call: () => unknown): unknown => {
  try {
    return call()
  } catch (error) {
    return said(error)
  }
}

const threshold = "must be at least a minute, or zero, such as \"8 hours\"; a number alone is milliseconds"
const time = "must be at least a minute, and finite, such as \"8 hours\"; a number alone is milliseconds"
const start = "must be a duration from -12 to 12 hours, such as \"4 hours\"; a number alone is milliseconds"

/** The calls that take the option, a value that is none, and what is said of it. */
const refusals: ReadonlyArray<readonly [calls: string, changes: Changes, said: string]> = [
  ["hours report", { weeklyThreshold: 40 }, `weeklyThreshold: ${threshold}`],
  ["hours report", { dailyThreshold: Duration.seconds(59) }, `dailyThreshold: ${threshold}`],
  ["hours report", { doubleThreshold: NaN }, `doubleThreshold: ${threshold}`],
  ["hours report", { weeklyThreshold: "-1 hours" }, `weeklyThreshold: ${threshold}`],
  ["hours report", { weeklyThreshold: "forty hours" }, `weeklyThreshold: ${threshold}`],
  ["hours report", { weeklyTreshold: "40 hours" }, "weeklyTreshold: is not an option; did you mean weeklyThreshold?"],
  ["check report", { maxDuration: 16 }, `maxDuration: ${time}`],
  ["check report", { maxDuration: Duration.infinity }, `maxDuration: ${time}`],
  ["check report", { isSorted: true }, "isSorted: is not an option; did you mean sorted?"],
  ["check report", { disputed: [1] }, "disputed: must be a set of ids"],
  ["rollup", { asof: at(0) }, "asof: is not an option; did you mean asOf?"],
  ["rollup report hours check", { asOf: "2026-03-02" }, "asOf: must be a DateTime"],
  [
    "rollup report",
    { rounding: "HalfUp" },
    "rounding: must be one of \"halfUp\", \"halfEven\", \"down\", \"up\"; did you mean halfUp?"
  ],
  ["rollup report", { rounding: undefined }, "rounding: must be one of \"halfUp\", \"halfEven\", \"down\", \"up\""],
  ["hours check report", { dayRule: { zone, dayStarts: "20 hours" } }, `dayRule.dayStarts: ${start}`],
  ["hours check report", { dayRule: { zone, dayStarts: "-13 hours" } }, `dayRule.dayStarts: ${start}`],
  ["hours check report", { dayRule: { zone, dayStarts: NaN } }, `dayRule.dayStarts: ${start}`],
  ["hours check report", { dayRule: { zone, dayStarts: 4 } }, `dayRule.dayStarts: ${start}`],
  [
    "hours check report",
    { dayRule: { zone, daystarts: "4 hours" } },
    "dayRule.daystarts: is not a key of a day rule; did you mean dayStarts?"
  ],
  ["hours check report", { dayRule: "America/New_York" }, "dayRule: must be a time zone, or { zone, dayStarts }"],
  ["hours check report", { period: { gte: at(0), lt: at(1) } }, "period: must be a function"],
  [
    "hours report",
    { firstDay: "Sunday" },
    "firstDay: must be one of \"sunday\", \"monday\", \"tuesday\", \"wednesday\", \"thursday\", \"friday\", \"saturday\"; " +
    "did you mean sunday?"
  ],
  ["check report", { selects: () => true }, "selects: is not an option; did you mean select?"],
  ["check report", { select: [1] }, "select: must be a function"],
  ["report", { title: 7 }, "title: must be a text"],
  ["report", { notes: ["a", 7] }, "notes[1]: must be a text"]
]

describe("An option of payroll", () => {
  for (const [calls, changes, text] of refusals) {
    it.effect.each(calls.split(" "))(`is refused by its name: ${text} (%s)`, (call) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(effects[call]?.(changes) ?? Effect.void)

        assert.strictEqual(said(error), text)
      }))
  }

  it("says nothing of a company where the call is of none", () => {
    assert.strictEqual(
      new InvalidRequest({ field: "rounding", detail: "must be a word", hasCompany: false }).message,
      "invalid rounding: must be a word"
    )
  })

  it("is refused before a window is listed", () => {
    assert.strictEqual(
      refusedBy(() => Labor.queryWindow({ ...hours, weeklyThreshold: 40 })),
      `weeklyThreshold: ${threshold}`
    )
    assert.strictEqual(refusedBy(() => PeriodCheck.queryWindow({ ...check, maxDuration: 16 })), `maxDuration: ${time}`)
    assert.strictEqual(
      refusedBy(() => Report.queryWindow({ ...report, weeklyThreshold: 40 })),
      `weeklyThreshold: ${threshold}`
    )
  })

  it("is refused by what returns a plain value, which throws it", () => {
    const night = { zone, dayStarts: "20 hours" } as const
    const start =
      "dayRule.dayStarts: must be a duration from -12 to 12 hours, such as \"4 hours\"; a number alone is milliseconds"
    const punch = shift("2026-03-02T14:00:00Z", 9)
    const calls: ReadonlyArray<readonly [() => unknown, string]> = [
      [() => Period.localDays(night, monday, sunday), start],
      [() => Period.week(night, monday), start],
      [() => Period.month(night, monday), start],
      [() => Period.businessDate(night, at(0)), start],
      [() => Period.byLocation(night, period), start],
      [() => Period.dayRules(new Map([[LocationId.make(1), night]])), start],
      [() => Period.localDays(zone, sunday, monday), "last: must be the first date or a later one"],
      [() => Period.localDays(zone, castDate("2026-02-30"), sunday), `first: ${date}`],
      [() => Period.localDays(zone, monday, castDate("2026-3-8")), `last: ${date}`],
      [() => Period.week(zone, castDate("2026-02-30")), `date: ${date}`],
      [() => Period.firstDateOfWeek(castDate("junk")), `date: ${date}`],
      [() => Period.month(zone, castDate("2026-02-30")), `date: ${date}`],
      [() => Period.addDays(castDate("2026-02-30"), 1), `date: ${date}`],
      [
        () => Period.payPeriod(PayCalendar.make({ kind: "days", days: 7, anchor: monday }), castDate("2026-02-30")),
        `date: ${date}`
      ],
      [
        () => Period.week(zone, monday, untyped({}, { firstday: "sunday" })),
        "firstday: is not an option; did you mean firstDay?"
      ],
      [() => WorkedTime.measure(punch, untyped({}, { asOf: "2026-03-02" })), "asOf: must be a DateTime"],
      [() => Labor.cost(punch, untyped(labor, { rounding: "Down" })), `rounding: ${downMeant}`],
      [
        () => Labor.toCsv([], untyped({ columns: {} }, { newLine: "\n" })),
        "newLine: is not an option; did you mean newline?"
      ],
      [() => Labor.toJson([], untyped({ columns: {} }, { newline: "\n" })), "newline: is not an option"],
      [
        () =>
          Period.payPeriod(untyped(PayCalendar.make({ kind: "days", days: 7, anchor: monday }), { days: 0 }), monday),
        "calendar: must be a calendar that `PayCalendar.make` takes"
      ]
    ]
    for (const [call, text] of calls) assert.strictEqual(refusedBy(call), text)
  })

  const date = "must be a date of the calendar, such as 2026-03-02"
  const downMeant = "must be one of \"halfUp\", \"halfEven\", \"down\", \"up\"; did you mean down?"

  it("of another function is not read by one of a single punch", () => {
    const punch = shift("2026-03-02T14:00:00Z", 9)

    assert.deepStrictEqual(WorkedTime.measure(punch, report), WorkedTime.measure(punch))
    assert.deepStrictEqual(Labor.cost(punch, report), Labor.cost(punch, labor))
  })

  it.effect("of zero, or without an end, is a threshold; the edges of a day rule are ones", () =>
    Effect.gen(function*() {
      const of = (changes: Partial<Labor.HoursOverThresholdOptions>) =>
        Effect.map(
          Stream.run(punches, Labor.hoursOverThreshold({ dayRule: zone, ...changes })),
          (people) => Duration.toHours(HashMap.getUnsafe(people, shift("2026-03-02T14:00:00Z", 9).userId).over)
        )

      assert.strictEqual(yield* of({ weeklyThreshold: 0 }), 9)
      assert.strictEqual(yield* of({ weeklyThreshold: Duration.infinity }), 0)
      assert.strictEqual(yield* of({ dailyThreshold: "1 minute" }), 9 - 1 / 60)
      for (const dayStarts of ["12 hours", "-12 hours"] as const) {
        assert.strictEqual(yield* of({ dayRule: { zone, dayStarts }, dailyThreshold: "8 hours" }), 1)
      }
    }))
})

describe("PayrollFile.encode", () => {
  const mapping = Result.getOrThrow(PayrollFile.decodeMapping({
    v: 1,
    by: ["user"],
    hours: "decimal:2",
    rounding: "halfUp",
    columns: [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }]
  }))
  const options = {
    codes: { getCode: () => undefined },
    state: { first: monday, last: sunday, rows: [] },
    previous: Option.none()
  }
  const encoded = (changes: Changes, form: PayrollFile.Mapping = mapping) =>
    Result.match(PayrollFile.encode(form, untyped(options, changes)), {
      onFailure: (error) => error._tag === "MappingError" ? error.path : said(error),
      onSuccess: ({ rows }) => rows
    })

  it("refuses sums whose last date is before the first, and what it would leave out", () => {
    const backwards = { first: sunday, last: monday, rows: [] }

    assert.strictEqual(encoded({}), 0)
    assert.strictEqual(encoded({ state: backwards }), "state.last: must be the first date or a later one")
    assert.strictEqual(
      encoded({ previous: Option.some(backwards) }),
      "previous.last: must be the first date or a later one"
    )
    assert.strictEqual(encoded({ previous: undefined }), "previous: must be the Option of the sums before")
    assert.strictEqual(encoded({ payDate: monday }), "payDate: is not an option")
    assert.strictEqual(encoded({}, untyped(mapping, { rounding: "HalfUp" })), "rounding")
  })
})
