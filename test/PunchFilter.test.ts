import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Schema, Stream } from "effect"
import {
  BusinessDate,
  type Company,
  CompanyId,
  DepartmentId,
  EmployeeApprovalStatus,
  LocationId,
  type PunchCriteria,
  PunchFilter,
  PunchFlag,
  RoleId,
  TimePunches,
  UserId,
  withClockWindows,
  withDates
} from "../src/index.ts"
import { firstIssue } from "../src/internal/wire/issue.ts"
import { prng } from "../src/testing/base/prng.ts"
import { approvalStatuses, punchFlags } from "../src/testing/base/WirePunch.ts"
import { FakeService, generatePunches } from "../src/testing/index.ts"
import { app, company } from "./support/client.ts"
import { randomFilter } from "./support/listing.ts"
import { untyped } from "./support/untyped.ts"

const at = (instant: string | number) => DateTime.makeUnsafe(instant)

interface Call {
  readonly company?: Company | CompanyId
  readonly filter?: PunchFilter
  readonly options?: object
}

/** The error of each way to call; asserts that none of them sent anything. */
const refused = Effect.fnUntraced(function*({ filter, ...call }: Call) {
  const service = yield* FakeService
  const target = "company" in call ? untyped(call.company) : company
  const options = untyped(call.options)
  const errors = yield* Effect.all([
    Effect.flip(Stream.runDrain(TimePunches.list(target, filter, options))),
    Effect.flip(Stream.runDrain(TimePunches.pages(target, filter, options))),
    Effect.flip(Stream.runDrain(TimePunches.listResults(target, filter, options))),
    Effect.flip(TimePunches.page(target, filter, options))
  ])
  assert.isEmpty(yield* service.requests)
  const [first] = errors
  for (const error of errors) {
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.strictEqual(error.message, first?.message)
    assert.strictEqual(error.attempts, 0)
  }
  return first?._tag === "InvalidRequest" ? first : assert.fail("nothing was refused")
})

const fieldOf = (call: Call) => Effect.map(refused(call), ({ field }) => field).pipe(Effect.provide(app()))

describe("PunchFilter", () => {
  const early = at("2026-03-01T00:00:00Z")
  const late = at("2026-03-02T00:00:00Z")
  const tooLate = at("2026-03-02T00:00:00Z").pipe(DateTime.add({ years: 9000 }))
  const tooEarly = at("2026-03-02T00:00:00Z").pipe(DateTime.subtract({ years: 2026 }))

  const wrong: ReadonlyArray<readonly [string, string, unknown]> = [
    ["an unknown key", "userID", { userID: 7 }],
    ["a wire name", "user_id", { user_id: 7 }],
    ["the deprecated parameter", "includeDeleted", { includeDeleted: true }],
    ["an unknown key of a window", "clockedIn.from", { clockedIn: { from: early } }],
    ["an unknown key of the dates", "businessDate.lte", { businessDate: { lte: "2026-03-01" } }],
    ["an id as text", "userId", { userId: "7" }],
    ["a negative id", "locationId", { locationId: -1 }],
    ["a fraction of an id", "roleId", { roleId: 1.5 }],
    ["an id past 2^53", "departmentId", { departmentId: 2 ** 53 }],
    ["NaN", "userId", { userId: NaN }],
    ["null", "userId", { userId: null }],
    ["approved as text", "approved", { approved: "false" }],
    ["approved as null", "approved", { approved: null }],
    ["deleted as a boolean", "deleted", { deleted: false }],
    ["localizeSearchTime as a number", "localizeSearchTime", { localizeSearchTime: 1 }],
    ["an instant as text", "modifiedSince", { modifiedSince: "2026-03-01T00:00:00Z" }],
    ["a Date", "clockedIn.gte", { clockedIn: { gte: new Date(0) } }],
    ["milliseconds", "clockedOut.lt", { clockedOut: { lt: 0 } }],
    ["an unknown flag", "flags[1]", { flags: ["late", "early"] }],
    ["flags as text", "flags", { flags: "late,missed_break" }],
    ["an unknown status", "employeeApprovalStatuses[0]", { employeeApprovalStatuses: ["late"] }],
    ["an order by a wire name", "sortBy[0][0]", { sortBy: [["clocked_in", "asc"]] }],
    ["an order by a list", "sortBy[0][0]", { sortBy: [["breaks", "asc"]] }],
    ["an order by a property of every object", "sortBy[0][0]", { sortBy: [["constructor", "asc"]] }],
    ["an order that adds a parameter", "sortBy[0][0]", { sortBy: [["id,tips.desc&limit=1", "asc"]] }],
    ["an unknown direction", "sortBy[0][1]", { sortBy: [["id", "up"]] }],
    ["no direction", "sortBy[0][1]", { sortBy: [["id"]] }],
    ["a hundred thousand characters of order", "sortBy[0][0]", { sortBy: [[",.asc".repeat(20_000), "asc"]] }],
    ["30 February", "businessDate.first", { businessDate: { first: "2026-02-30" } }],
    ["an instant for a date", "businessDate.last", { businessDate: { last: "2026-02-28T00:00:00Z" } }],
    ["no record", "filter", null],
    ["a list", "filter", []],
    ["a window that ends before it starts", "clockedIn", { clockedIn: { gte: late, lte: early } }],
    ["the same with an exclusive end", "clockedOut", { clockedOut: { gte: late, lt: early } }],
    ["the same by the earlier of two ends", "clockedIn", { clockedIn: { gte: late, lte: late, lt: early } }],
    ["dates that end before they start", "businessDate", { businessDate: { first: "2026-03-02", last: "2026-03-01" } }],
    ["business dates beside a window", "businessDate", { businessDate: { first: "2026-03-01" }, clockedIn: {} }],
    ["business dates beside another window", "businessDate", { businessDate: {}, clockedOut: { gte: early } }],
    ["an exclusive end in local time", "clockedIn.lt", { clockedIn: { lt: late }, localizeSearchTime: true }],
    ["a year of five digits", "clockedIn.gte", { clockedIn: { gte: tooLate } }],
    ["the same at an exclusive end", "clockedOut.lt", { clockedOut: { lt: tooLate } }],
    ["the same at an end", "clockedOut.lte", { clockedOut: { lte: tooLate } }],
    ["year 0", "modifiedSince", { modifiedSince: tooEarly }]
  ]

  it.effect.each(wrong)("refuses %s, names %s, and sends nothing", ([, field, filter]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* fieldOf({ filter: untyped(filter) }), field)
    }))

  it.effect.each(["flags", "employeeApprovalStatuses", "sortBy"])(
    "refuses an empty list of %s, which the service would read as none",
    (key) =>
      Effect.gen(function*() {
        assert.match(yield* fieldOf({ filter: untyped({ [key]: [] }) }), new RegExp(`^${key}`))
      })
  )

  it.effect("states what the field must be, and not its value", () =>
    Effect.gen(function*() {
      const { detail, message } = yield* refused({ filter: untyped({ deleted: "the-secret" }) })

      assert.include(detail, "exclude")
      assert.include(message, "invalid deleted: ")
      assert.notInclude(message, "the-secret")
      assert.include(message, "company 4021")
    }).pipe(Effect.provide(app())))

  it.effect("takes windows of no length, one-sided ones, and empty ones", () =>
    Effect.gen(function*() {
      const filters: ReadonlyArray<PunchFilter> = [
        { clockedIn: { gte: early, lte: early } },
        { clockedIn: { gte: early, lt: early } },
        { clockedOut: { gte: early } },
        { clockedIn: {}, clockedOut: {} },
        { businessDate: { first: BusinessDate.make("2026-03-01"), last: BusinessDate.make("2026-03-01") } },
        { businessDate: {} },
        { clockedIn: { lte: early }, localizeSearchTime: true },
        untyped({ businessDate: {}, clockedIn: undefined })
      ]
      for (const filter of filters) assert.isEmpty(yield* Stream.runCollect(TimePunches.list(company, filter)))
    }).pipe(Effect.provide(app())))

  it("knows exactly the flags and statuses of the interface", () => {
    assert.deepStrictEqual([...PunchFlag.literals], [...punchFlags])
    assert.deepStrictEqual([...EmployeeApprovalStatus.literals], [...approvalStatuses])
  })
})

const chance = prng(21)
const stored = generatePunches({ seed: 21, count: 50, companyId: CompanyId.make(4021) })

/** The value with what does not count changed: the order of keys and the zones of instants. */
const vary = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return DateTime.setZoneOffset(value, chance.between(-12, 14) * 3_600_000)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, each]) => [key, vary(each)] as const)
  const first = chance.between(0, entries.length)
  return Object.fromEntries([...entries.slice(first), ...entries.slice(0, first)].toReversed())
}

const filters: ReadonlyArray<PunchFilter> = Array.from({ length: 2000 }, () => randomFilter(chance, stored))

describe("the codec of PunchFilter", () => {
  const encode = Schema.encodeSync(PunchFilter)
  const decode = Schema.decodeUnknownResult(PunchFilter)
  const toText = (filter: PunchFilter) => JSON.stringify(encode(filter))

  it("decodes what it encodes to the same filter, by way of JSON", () => {
    for (const filter of filters) {
      const decoded = Result.getOrThrow(decode(JSON.parse(toText(filter))))

      assert.deepStrictEqual(decoded, filter)
      assert.strictEqual(toText(decoded), toText(filter))
    }
  })

  it("encodes filters that mean the same to the same text, so that the text can be hashed", () => {
    for (const filter of filters) {
      const same = untyped(vary({ userId: undefined, ...filter }))

      assert.strictEqual(toText(same), toText(filter))
    }
    assert.isAbove(new Set(filters.map(toText)).size, 1000)
  })

  it("encodes every key to plain JSON, in a fixed order", () => {
    const early = at("2026-03-01T00:00:00Z")
    const all: PunchCriteria = {
      sortBy: [["clockedIn", "desc"], ["id", "asc"]],
      localizeSearchTime: true,
      employeeApprovalStatuses: ["pending"],
      flags: ["late", "missed_break"],
      modifiedSince: DateTime.setZoneNamedUnsafe(early, "America/New_York"),
      deleted: "include",
      approved: false,
      userId: UserId.make(4),
      roleId: RoleId.make(3),
      departmentId: DepartmentId.make(2),
      locationId: LocationId.make(1)
    }
    const shared = `"locationId":1,"departmentId":2,"roleId":3,"userId":4,"approved":false,"deleted":"include",`
      + `"modifiedSince":"2026-03-01T00:00:00Z","flags":["late","missed_break"],"employeeApprovalStatuses":["pending"],`
      + `"localizeSearchTime":true,"sortBy":[["clockedIn","desc"],["id","asc"]]`

    assert.strictEqual(
      toText({ ...all, clockedOut: { lt: early }, clockedIn: { lte: early, gte: early } }),
      `{${shared},"clockedIn":{"gte":"2026-03-01T00:00:00Z","lte":"2026-03-01T00:00:00Z"},`
        + `"clockedOut":{"lt":"2026-03-01T00:00:00Z"}}`
    )
    assert.strictEqual(
      toText({
        ...all,
        businessDate: { last: BusinessDate.make("2026-03-31"), first: BusinessDate.make("2026-03-01") }
      }),
      `{${shared},"businessDate":{"first":"2026-03-01","last":"2026-03-31"}}`
    )
    assert.strictEqual(toText({ userId: undefined, clockedIn: undefined }), "{}")
  })

  it.each<readonly [string, unknown]>([
    ["userID", { userID: 7 }],
    ["clockedIn.from", { clockedIn: { from: "2026-03-01T00:00:00Z" } }],
    ["businessDate", { businessDate: {}, clockedOut: {} }],
    ["modifiedSince", { modifiedSince: "2026-03-01" }],
    ["modifiedSince", { modifiedSince: at("2026-03-01T00:00:00Z") }],
    ["flags", { flags: [] }],
    ["sortBy[0][0]", { sortBy: [["clocked_in", "asc"]] }],
    ["userId", { userId: null }],
    ["", null]
  ])("names %j where it refuses %j", (path, json) => {
    assert.strictEqual(Result.getOrThrow(Result.flip(Result.mapError(decode(json), firstIssue))).path, path)
  })

  it("does not encode an instant that four digits of year cannot write", () => {
    const filter: PunchFilter = { clockedIn: { gte: at("+010000-01-01T00:00:00Z") } }

    assert.isTrue(Result.isFailure(Schema.encodeResult(PunchFilter)(filter)))
  })

  it("refuses unknown keys when encoding too, and under any option", () => {
    const filter = untyped({ userID: 7 })

    assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(PunchFilter)(filter)))
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(PunchFilter, { onExcessProperty: "ignore" })(filter)))
  })

  it("is its own JSON codec", () => {
    const encodeJson = Schema.encodeSync(Schema.toCodecJson(PunchFilter))

    for (const filter of filters.slice(0, 200)) assert.deepStrictEqual<unknown>(encodeJson(filter), encode(filter))
  })
})

describe("the options of a call", () => {
  it.effect.each([0, 201, -1, 1.5, NaN, Infinity, -Infinity, "20", null])(
    "refuse the page size %s",
    (pageSize) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* fieldOf({ options: { pageSize } }), "pageSize")
      })
  )

  it.effect.each([1, 20, 199, 200, undefined])("take the page size %s", (pageSize) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TimePunches.page(company, {}, { pageSize })

      assert.strictEqual((yield* service.requests)[0]?.query["limit"], String(pageSize ?? 200))
    }).pipe(Effect.provide(app())))

  const broken = ["", "\ud800", "a\udc00b", 7, {}, Option.some(""), Option.some("a\ud83d")]

  it.effect.each(broken)(
    "refuse the cursor %j, empty or with half a character in it",
    (cursor) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const from = yield* Effect.flip(Stream.runDrain(TimePunches.list(company, {}, untyped({ cursor }))))
        const at = yield* Effect.flip(TimePunches.page(company, {}, untyped({ cursor })))

        assert.deepInclude(from, { _tag: "InvalidRequest", field: "cursor" })
        assert.deepInclude(at, { _tag: "InvalidRequest", field: "cursor" })
        assert.isEmpty(yield* service.requests)
      }).pipe(Effect.provide(app()))
  )

  it.effect.each([0, -1, 1.5, NaN, -Infinity, "3"])("refuse %s for maxPages", (maxPages) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const error = yield* Effect.flip(Stream.runDrain(TimePunches.pages(company, {}, untyped({ maxPages }))))

      assert.deepInclude(error, { _tag: "InvalidRequest", field: "maxPages" })
      assert.isEmpty(yield* service.requests)
    }).pipe(Effect.provide(app())))
})

describe("the company of a call", () => {
  const bare = [0, -1, 1.5, 2 ** 53, NaN, Infinity, "4021", "1/../../admin", "", null, undefined, true]

  it.effect.each(bare)("is refused as %j, and nothing is sent", (id) =>
    Effect.gen(function*() {
      for (const wrong of [id, { id }]) {
        const { field } = yield* refused({ company: untyped(wrong) })
        assert.match(field, /^(company|id)/)
      }
    }).pipe(Effect.provide(app())))

  it.effect.each(["", "4021", "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60\r\nx-injected: 1", null, 7])(
    "is refused with the guid %j, and nothing is sent",
    (guid) =>
      Effect.gen(function*() {
        assert.match(yield* fieldOf({ company: untyped({ id: 4021, guid }) }), /guid$/)
      })
  )
})

describe("withClockWindows and withDates", () => {
  const criteria: PunchCriteria = { approved: true, userId: UserId.make(1), deleted: "include" }
  const clockedIn = { gte: at("2026-03-01T00:00:00Z") }
  const clockedOut = { lt: at("2026-03-02T00:00:00Z") }
  const businessDate = { first: BusinessDate.make("2026-03-01") }
  const filters: ReadonlyArray<PunchFilter> = [
    criteria,
    { ...criteria, clockedIn, clockedOut },
    { ...criteria, clockedOut },
    { ...criteria, businessDate },
    { ...criteria, businessDate: undefined, clockedIn: undefined, clockedOut: undefined }
  ]

  it.each(filters)("replace all windows of %j and keep its criteria", (filter) => {
    assert.deepStrictEqual(withClockWindows(filter, { clockedIn }), { ...criteria, clockedIn })
    assert.deepStrictEqual(withClockWindows(filter, { clockedOut }), { ...criteria, clockedOut })
    assert.deepStrictEqual(withClockWindows(filter, {}), criteria)
    assert.deepStrictEqual(withDates(filter, businessDate), { ...criteria, businessDate })
    assert.isTrue(
      Schema.is(Schema.toType(PunchFilter))(withDates(withClockWindows(filter, { clockedIn }), businessDate))
    )
  })

  it.effect("leave a key that is no window to the validation of the call", () =>
    Effect.gen(function*() {
      const filter = withClockWindows(criteria, untyped({ businessDates: {} }))

      assert.strictEqual(yield* fieldOf({ filter }), "businessDates")
    }))
})
