/** What changed in a period since an instant: each kind of change, the sums by person, and the law that binds them. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, Equal, Fiber, HashMap, Option, Schema, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import type { InvalidRequest } from "../../src/ApiError.ts"
import { BusinessDate, Cents, CompanyId, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import type { PunchFilter } from "../../src/PunchFilter.ts"
import {
  type ChangeKind,
  Changes,
  type ChangesOptions,
  type HistoryUnavailable,
  PunchCopy
} from "../../src/sql/index.ts"
import type { SyncError } from "../../src/sync/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, rest } from "../support/arbitraryPunch.ts"
import { databases, itWithDatabase } from "../support/databases.ts"
import {
  commit,
  copyAt,
  copyNow,
  historyOf,
  lastOf,
  type OpenHistory,
  openHistory,
  type PastRow
} from "../support/histories.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { company, row } from "../support/storeBatches.ts"

const [east, west, lost] = [4, 5, 6].map((id) => LocationId.make(id))
if (east === undefined || west === undefined || lost === undefined) throw new Error("ids")
const zone = DateTime.zoneMakeNamedUnsafe
const zones = Period.dayRules(new Map([[east, zone("America/New_York")], [west, zone("Pacific/Honolulu")]]))
const date = BusinessDate.make("2026-03-02")

/** 2 March: 05:00Z to 05:00Z in New York, 10:00Z to 10:00Z in Honolulu. `at` counts from 08:00Z. */
const hour = 3600
const dayOptions = (since: DateTime.DateTime): ChangesOptions<Period.MissingDayRule> => ({
  dayRule: zones,
  period: (dayRule) => Period.localDays(dayRule, date, date),
  since,
  rounding: "halfUp"
})

const user = (id: number) => ({ userId: UserId.make(id) })
const shift = (from: number, hours: number) => ({
  clockedIn: at(from * hour),
  clockedOut: Option.some(at((from + hours) * hour))
})

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** A content of punches, whose clock-in lies around both ends of the day in both zones, or beyond all zones. */
const Content = Schema.Struct({
  user: int(1, 3),
  isWest: Schema.Boolean,
  start: Schema.Literals([-30, -6, -3, 0, 1, 2, 20, 21, 25, 26, 30]),
  minutes: Schema.NullOr(int(-20, 600)),
  wage: int(0, 5000),
  tips: int(-2, 2)
})

/** Few ids and few contents, so that rows are equal, changed and changed back. */
const Plan = Schema.Struct({
  asOf: Schema.NullOr(int(-60, 1500)),
  contents: Schema.Tuple([Content, Content, Content]),
  steps: Schema.Array(Schema.Struct({
    isKept: Schema.Boolean,
    isWhole: Schema.Literals([false, false, false, true]),
    rows: Schema.Array(Schema.Struct({
      id: int(1, 4),
      content: Schema.Literals([0, 1, 2]),
      modified: Schema.NullOr(int(0, 1)),
      deleted: Schema.Literals([false, false, true])
    })).check(Schema.isMinLength(1), Schema.isMaxLength(4))
  })).check(Schema.isMinLength(3), Schema.isMaxLength(7))
})

const punchesOf = ({ contents }: typeof Plan.Type, rows: (typeof Plan.Type)["steps"][number]["rows"]) =>
  rows.map(({ content, deleted, id, modified }): TimePunch => {
    const { isWest, minutes, start, tips, user, wage } = contents[content]
    return row(id, {
      userId: UserId.make(user),
      locationId: isWest ? west : east,
      clockedIn: at(start * hour),
      clockedOut: Option.map(Option.fromNullOr(minutes), (minutes) => at(start * hour + minutes * 60)),
      hourlyWage: Cents.make(wage + 0),
      tips: Cents.make(tips + 0),
      modified: Option.map(Option.fromNullOr(modified), at),
      deleted
    })
  })

/** By the local date, which is another computation than the interval of the day. */
const nameOf = (state: PastRow | undefined) => {
  if (state === undefined) return "absent"
  const { clockedIn, deleted, locationId } = state.punch
  if (deleted) return "deleted"
  if (state.isMissing) return "missing"
  const local = zone(locationId === west ? "Pacific/Honolulu" : "America/New_York")
  return Period.businessDate(local, clockedIn) === date ? "counts" : "outside"
}

/** Minutes, cents and tips by person, where any is not 0. */
type Figures = ReadonlyMap<number, ReadonlyArray<number>>

const nonZero = (entries: Iterable<readonly [number, ReadonlyArray<number>]>): Figures =>
  new Map([...entries].filter(([, figures]) => figures.some((figure) => figure !== 0)).toSorted(([a], [b]) => a - b))

const sumsOf = (
  copy: ReadonlyArray<PastRow>,
  options: Labor.LaborOptions
): Effect.Effect<Figures, Labor.SumOverflow | InvalidRequest> =>
  Stream.fromIterable(copy.filter((each) => nameOf(each) === "counts")).pipe(
    Stream.map(({ punch }) => punch),
    Stream.run(Labor.rollup(({ userId }) => userId, { rounding: options.rounding, asOf: options.asOf })),
    Effect.map((totals) =>
      new Map(
        [...HashMap.entries(totals)].map(([userId, { cost, net, tips }]) => [
          Number(userId),
          [Duration.toMinutes(net), Number(cost), Number(tips)]
        ])
      )
    )
  )

const minus = (one: Figures, other: Figures): Figures =>
  nonZero([...new Set([...one.keys(), ...other.keys()])].map((userId) => [
    userId,
    [0, 1, 2].map((at) => (one.get(userId)?.[at] ?? 0) - (other.get(userId)?.[at] ?? 0))
  ]))

const differences = ({ people }: Changes): Figures =>
  new Map(people.map(({ cost, net, tips, userId }) => [userId, [Duration.toMinutes(net), Number(cost), Number(tips)]]))

const kindsOf: Readonly<Record<string, ChangeKind>> = {
  "absent counts": "added",
  "outside counts": "movedIn",
  "deleted counts": "undeleted",
  "missing counts": "back",
  "counts outside": "movedOut",
  "counts deleted": "deleted",
  "counts missing": "missing"
}

const expected = (then: ReadonlyArray<PastRow>, now: ReadonlyArray<PastRow>): ReadonlyMap<number, string> =>
  new Map(now.flatMap((after) => {
    const before = then.find(({ punch: { id } }) => id === after.punch.id)
    const names = `${nameOf(before)} ${nameOf(after)}`
    const touched = before !== undefined && { ...before.punch, modified: after.punch.modified }
    const kind = names === "counts counts" && !Equal.equals(touched, after.punch) ? "edited" : kindsOf[names]
    return kind === undefined ? [] : [[Number(after.punch.id), kind] as const]
  }))

const byClockIn = (punches: ReadonlyArray<TimePunch>) =>
  punches.toSorted((one, other) =>
    one.clockedIn.epochMilliseconds - other.clockedIn.epochMilliseconds || one.id - other.id
  )

/** By person, then by the clock-in of the version that counts, then by id. */
const inOrder = (punches: Changes["punches"]) => {
  const countsNow: ReadonlyArray<string> = ["edited", "added", "movedIn", "undeleted", "back"]
  const keyOf = ({ after, before, kind, punchId, userId }: Changes["punches"][number]) => {
    const shown = Option.getOrThrow(countsNow.includes(kind) ? after : before)
    return [userId, shown.clockedIn.epochMilliseconds, punchId] as const
  }
  return punches.toSorted((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)]
    return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
  })
}

describe.each(databases())("PunchCopy.changes in $name", (database) => {
  const { client, isHere } = database
  let companies = 0
  const test = itWithDatabase(database, openHistory)

  const changesOf = <E>({ run }: OpenHistory, options: ChangesOptions<E>, of: CompanyId = company) =>
    run(PunchCopy.changes(of, options))

  /** What a second commit changes of a first one. */
  const changed = (
    opened: OpenHistory,
    before: ReadonlyArray<TimePunch>,
    after: ReadonlyArray<TimePunch>,
    isWhole = false,
    options: Partial<ChangesOptions<Period.MissingDayRule>> = {}
  ) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, before)
      const since = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, after, isWhole)
      return yield* changesOf(opened, { ...dayOptions(since), ...options })
    })

  const told = ({ punches }: Changes) => punches.map(({ kind, punchId }) => [Number(punchId), kind] as const)
  const people = ({ people }: Changes) =>
    people.map(({ cost, net, tips, userId }) => [Number(userId), Duration.toMinutes(net), Number(cost), Number(tips)])

  test("tells nothing where nothing of the period changed", (opened) =>
    Effect.gen(function*() {
      const outside = row(2, shift(-9, 2))
      const found = yield* changed(opened, [row(1), outside, row(3, { deleted: true })], [
        row(1, { modified: Option.some(at(1)) }),
        { ...outside, notes: "edited" },
        row(3, { deleted: true, notes: "edited" }),
        row(4, { deleted: true })
      ])

      assert.deepStrictEqual(found, { punches: [], people: [] })
    }))

  const eight = [480, 12_400, 0] as const
  const cases: ReadonlyArray<
    readonly [
      kind: ChangeKind,
      before: TimePunch | undefined,
      after: TimePunch | undefined,
      sums: readonly [minutes: number, cents: number, tips: number]
    ]
  > = [
    ["edited", row(1), row(1, { ...shift(0, 7.5), tips: Cents.make(-3) }), [-30, -775, -3]],
    ["added", undefined, row(1), eight],
    ["movedIn", row(1, shift(-9, 8)), row(1), eight],
    ["movedOut", row(1), row(1, { locationId: west }), [-480, -12_400, 0]],
    ["deleted", row(1), row(1, { deleted: true }), [-480, -12_400, 0]],
    ["undeleted", row(1, { deleted: true }), row(1), eight],
    ["missing", row(1), undefined, [-480, -12_400, 0]]
  ]

  for (const [kind, before, after, sums] of cases) {
    test(`tells what was ${kind}, before and after`, (opened) =>
      Effect.gen(function*() {
        const list = (each: TimePunch | undefined) => each === undefined ? [] : [each]
        const found = yield* changed(opened, list(before), list(after), true)

        assert.deepStrictEqual(found, {
          punches: [{
            punchId: TimePunchId.make(1),
            userId: UserId.make(7),
            kind,
            before: Option.fromUndefinedOr(before),
            after: Option.fromUndefinedOr(after)
          }],
          people: [{
            userId: UserId.make(7),
            net: Duration.minutes(sums[0]),
            cost: Cents.make(sums[1]),
            tips: Cents.make(sums[2])
          }]
        })
      }))
  }

  test("tells what is back, and nothing of what went and returned in between", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, [row(1)])
      const whole = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, [], true)
      const missing = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, [row(1)])

      assert.deepStrictEqual(yield* changesOf(opened, dayOptions(whole)), { punches: [], people: [] })
      const found = yield* changesOf(opened, dayOptions(missing))
      assert.deepStrictEqual([told(found), found.punches[0]?.before, people(found)], [
        [[1, "back"]],
        Option.none(),
        [[7, ...eight]]
      ])
    }))

  test("tells of a row that is deleted and missing that it was deleted", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, [row(1), row(2, { deleted: true })])
      const first = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, [row(1, { deleted: true })])
      yield* commit(opened.kept, company, [], true)
      const second = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, [row(2)])

      assert.deepStrictEqual(told(yield* changesOf(opened, dayOptions(first))), [[1, "deleted"], [2, "undeleted"]])
      assert.deepStrictEqual(told(yield* changesOf(opened, dayOptions(second))), [[2, "undeleted"]])
    }))

  test("has the period of each location by its own day rule, to the millisecond", (opened) =>
    Effect.gen(function*() {
      const before = [row(1, shift(-3, 1)), row(2, shift(-3, 1)), row(3, { locationId: west, ...shift(2, 1) })]
      const early = (id: number, from: number) => row(id, { clockedIn: at(from * hour - 0.001) })
      const found = yield* changed(opened, before, [
        early(1, -3),
        { ...early(2, 21), clockedOut: Option.none() },
        { ...early(3, 2), locationId: west },
        row(4, { locationId: west, ...shift(26, 1) })
      ])

      assert.deepStrictEqual(told(found), [[1, "movedOut"], [3, "movedOut"], [2, "edited"]])
    }))

  test("reaches the last instant that a punch can have", (opened) =>
    Effect.gen(function*() {
      const last = row(1, { clockedIn: DateTime.makeUnsafe("9999-12-31T23:59:59.999Z"), clockedOut: Option.none() })
      const date = BusinessDate.make("9999-12-31")
      const period = (dayRule: Period.DayRule) => Period.localDays(dayRule, date, date)
      const found = yield* changed(opened, [row(2)], [last], false, { period })

      assert.deepStrictEqual(told(found), [[1, "added"]])
    }))

  test("sorts by person, clock-in and id, and takes both people of a punch whose person changed", (opened) =>
    Effect.gen(function*() {
      const found = yield* changed(opened, [row(1, user(9)), row(2, user(3))], [
        row(1, user(3)),
        row(2, { ...user(3), hourlyWage: Cents.make(1650) }),
        row(3, { ...user(3), ...shift(-1, 1) }),
        row(4, { ...user(2), clockedOut: Option.none() })
      ])

      assert.deepStrictEqual(told(found), [[4, "added"], [3, "added"], [1, "edited"], [2, "edited"]])
      assert.deepStrictEqual(found.punches.map(({ userId }) => Number(userId)), [2, 3, 3, 3])
      // A person with an open punch alone has no difference.
      assert.deepStrictEqual(people(found), [[3, 540, 12_400 + 800 + 1550, 0], [9, -480, -12_400, 0]])
    }))

  test("counts open punches up to asOf, then and now, and unpaid breaks not at all", (opened) =>
    Effect.gen(function*() {
      const open = { clockedOut: Option.none() }
      const pause = { breaks: [rest({ in: 0, out: 1800, paid: false })] }
      const found = yield* changed(opened, [row(1, open)], [row(1, { ...open, ...pause })], false, {
        asOf: at(2 * hour),
        rounding: "up"
      })

      assert.deepStrictEqual(people(found), [[7, -30, -775, 0]])
    }))

  test("can be sent as JSON and read again", (opened) =>
    Effect.gen(function*() {
      const found = yield* changed(opened, [row(1), row(2)], [row(1, { notes: "edited" }), row(3)], true)
      const sent = JSON.stringify(Schema.encodeSync(Changes)(found))

      assert.deepStrictEqual(Schema.decodeUnknownSync(Changes)(JSON.parse(sent)), found)
    }))

  test("fails where a location has no zone, then or now, unless no zone could matter", (opened) =>
    Effect.gen(function*() {
      const far = row(1, { locationId: lost, ...shift(-48, 8) })
      const both = { locationId: lost }
      assert.deepStrictEqual(told(yield* changed(opened, [row(1)], [far])), [[1, "movedOut"]])
      for (const [before, after] of [[row(2), row(2, both)], [row(3, both), row(3)]] as const) {
        const error = yield* Effect.flip(changed(opened, [before], [after]))
        assert.deepStrictEqual(error, new Period.MissingDayRule({ locationId: lost }))
        yield* commit(opened.kept, company, [{ ...after, locationId: east }])
      }
    }))

  test("fails where the copy of the instant is not known, and says since when it is", (opened) =>
    Effect.gen(function*() {
      const { kept, plain, run } = opened
      const asked = at(0)
      const unknown = () => Effect.flip(changesOf(opened, { ...dayOptions(asked), dayRule: zone("UTC") }))
      assert.deepInclude(yield* unknown(), {
        _tag: "HistoryUnavailable",
        since: Option.none(),
        requested: asked,
        companyId: company
      })
      yield* commit(plain, company, [row(1)])
      assert.include(String(yield* unknown()), "no history is known")

      yield* commit(kept, company, [row(1)])
      const { last, since } = Option.getOrThrow(yield* historyOf(opened, company))
      assert.deepInclude(yield* unknown(), { _tag: "HistoryUnavailable", since: Option.some(since), requested: asked })
      assert.include(String(yield* unknown()), `known since ${DateTime.formatIso(since)}`)
      const early = DateTime.makeUnsafe("-200000-01-01T00:00:00Z")
      for (const instant of [early, DateTime.subtract(since, { milliseconds: 1 })]) {
        const error = yield* Effect.flip(changesOf(opened, dayOptions(instant)))
        assert.strictEqual(error._tag, "HistoryUnavailable")
      }
      for (const instant of [since, last, DateTime.makeUnsafe("+200000-01-01T00:00:00Z")]) {
        assert.deepStrictEqual(told(yield* changesOf(opened, dayOptions(instant))), [])
      }

      yield* commit(plain, company, [row(1, { notes: "x" })])
      yield* run(PunchCopy.pruneHistory(company, { before: yield* lastOf(opened, company) }))
      assert.strictEqual((yield* Effect.flip(changesOf(opened, dayOptions(last))))._tag, "HistoryUnavailable")
    }))

  test("lists the copy of an instant by a filter, and of none that is not known", (opened) =>
    Effect.gen(function*() {
      const { kept, run } = opened
      const listAt = (instant: DateTime.DateTime, filter: PunchFilter = {}) =>
        run(Effect.map(
          Stream.runCollect(PunchCopy.list(company, filter, { at: instant })),
          (punches) => punches.map(({ id, notes }) => [Number(id), notes])
        ))
      yield* commit(kept, company, [row(1, shift(3, 1)), row(2, shift(2, 1)), row(3, user(9))])
      const first = yield* lastOf(opened, company)
      yield* commit(kept, company, [row(2, { ...shift(4, 1), notes: "moved" }), row(4)])
      const second = yield* lastOf(opened, company)
      yield* commit(kept, company, [row(2, { ...shift(4, 1), notes: "moved" })], true)

      assert.deepStrictEqual(yield* listAt(first), [[3, ""], [2, ""], [1, ""]])
      assert.deepStrictEqual(yield* listAt(second), [[3, ""], [4, ""], [1, ""], [2, "moved"]])
      assert.deepStrictEqual(yield* listAt(yield* lastOf(opened, company)), [[2, "moved"]])
      assert.deepStrictEqual(yield* listAt(second, { userId: UserId.make(9) }), [[3, ""]])
      assert.deepStrictEqual(yield* listAt(first, { clockedIn: { gte: at(2 * hour), lt: at(3 * hour) } }), [[2, ""]])
      const error = yield* Effect.flip(listAt(DateTime.subtract(first, { milliseconds: 1 })))
      assert.deepInclude(error, { _tag: "HistoryUnavailable", since: Option.some(first) })
    }))

  test("fails before a sum could be wrong", (opened) =>
    Effect.gen(function*() {
      const most = { tips: Cents.make(2 ** 53 - 1) }
      const error = yield* Effect.flip(changed(opened, [], [row(1, most), row(2, most)]))

      assert.deepStrictEqual(error, new Labor.SumOverflow({ field: "tips", punchId: TimePunchId.make(2) }))
      const wage = { hourlyWage: Cents.make(2 ** 53 - 1) }
      const next = yield* Effect.flip(changed(opened, [row(1), row(2)], [row(1, wage), row(2)]))
      assert.deepInclude(next, { _tag: "SumOverflow", field: "cost" })
    }))

  test("fails at a row that is not a valid punch, and names it", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, [row(1)])
      const since = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, [row(1, { notes: "x" })])
      yield* opened.query(`UPDATE time_punches SET hourly_wage = -1`)

      const error = yield* Effect.flip(changesOf(opened, dayOptions(since)))
      assert.strictEqual(error._tag === "SyncError" && error.reason._tag, "Store")
      assert.include(error.message, "row 1 is not a valid punch at hourly_wage")
    }))

  test("reads one moment, whatever is committed meanwhile", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      const all = (notes: string) => Array.from({ length: 200 }, (_, id) => row(id + 1, { notes }))
      yield* commit(kept, company, all("0"))
      const since = yield* lastOf(opened, company)
      const writer = yield* Effect.forkChild(
        Effect.forEach(["1", "2", "3", "4", "5", "6"], (notes) => commit(plain, company, all(notes)))
      )
      for (let round = 0; round < 6; round++) {
        const { punches } = yield* changesOf(opened, dayOptions(since))
        const notes = punches.map(({ after }) => Option.getOrThrow(after).notes)
        assert.include([0, 1], new Set(notes).size)
        assert.include([0, 200], notes.length)
        assert.isTrue(punches.every(({ before }) => Option.getOrThrow(before).notes === "0"))
        yield* Effect.sleep("2 millis")
      }
      yield* Fiber.join(writer)
      assert.lengthOf((yield* changesOf(opened, dayOptions(since))).punches, 200)
    }))

  it.live.prop(
    "adds up: the sums then and the differences are the sums now, and the copy of any commit is rebuilt",
    [Arbitrary.schema(Plan)],
    ([plan], context) => {
      needs(context, isHere, noPostgres)
      return Effect.scoped(Effect.gen(function*() {
        // The same tables for all plans, each with its own companies.
        const opened = yield* openHistory(client)
        const [company, other] = [1, 2].map(() => CompanyId.make(100 + companies++))
        if (company === undefined || other === undefined) return assert.fail("there are two companies")
        const past: Array<readonly [DateTime.Utc, ReadonlyArray<PastRow>]> = []
        let hasBegun = false
        for (const { isKept, isWhole, rows } of plan.steps) {
          hasBegun ||= isKept
          yield* commit(isKept ? opened.kept : opened.plain, company, punchesOf(plan, rows), isWhole)
          if (rows.length > 2) yield* commit(opened.kept, other, punchesOf(plan, rows), isWhole)
          if (hasBegun) past.push([yield* lastOf(opened, company), yield* copyNow(opened, company)])
        }
        const now = yield* copyNow(opened, company)
        const asOf = plan.asOf === null ? undefined : at(plan.asOf * 60)
        for (const [since, then] of past) {
          assert.deepStrictEqual(yield* copyAt(opened, company, since), then)
          const listed = PunchCopy.list(company, { deleted: "include" }, { at: since })
          const present = then.filter(({ isMissing }) => !isMissing).map(({ punch }) => punch)
          assert.deepStrictEqual(yield* opened.run(Stream.runCollect(listed)), byClockIn(present))
          const options = { ...dayOptions(since), asOf }
          const found = yield* changesOf(opened, options, company)
          const sums = yield* Effect.all([sumsOf(then, options), sumsOf(now, options)])
          assert.deepStrictEqual(differences(found), minus(sums[1], sums[0]))
          assert.deepStrictEqual(new Map(told(found)), expected(then, now))
          assert.deepStrictEqual(found.punches, inOrder(found.punches))
        }
      }))
    },
    { arbitrary: { runs: 50 } }
  )
})

it("names every failure of a question", () => {
  const asked = PunchCopy.changes(company, dayOptions(at(0)))
  expectTypeOf(asked).toEqualTypeOf<
    Effect.Effect<
      Changes,
      SyncError | HistoryUnavailable | InvalidRequest | Period.MissingDayRule | Labor.SumOverflow,
      SqlClient.SqlClient
    >
  >()
})
