import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option, Result } from "effect"
import { HttpClientRequest } from "effect/http"
import {
  BusinessDate,
  CompanyGuid,
  CompanyId,
  Cursor,
  DepartmentId,
  LocationId,
  type PunchFilter,
  RoleId,
  TimePunch,
  UserId
} from "../../src/index.ts"
import { buildQuery, pageAt, pageRequest, startAt } from "../../src/listing/request.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { untyped } from "../support/untyped.ts"

const company = CompanyId.make(4021)
const at = (text: string) => DateTime.makeUnsafe(text)

interface Call {
  readonly filter?: PunchFilter
  readonly pageSize?: number
  readonly cursor?: string
  readonly base?: string
}

const queryOf = ({ filter, pageSize }: Call) => Result.getOrThrow(buildQuery(company, filter, pageSize))

const requestOf = (call: Call) =>
  pageRequest(
    call.base ?? "https://api.test/base",
    queryOf(call),
    Option.map(Option.fromUndefinedOr(call.cursor), (text) => Cursor.make(text))
  )

/** The URL as it goes out. */
const urlOf = (call: Call): URL => Option.getOrThrow(HttpClientRequest.toUrl(requestOf(call)))

/** Everything after the `?`, but the page size that every request has. */
const paramsOf = (filter: PunchFilter): string => urlOf({ filter }).search.replace("?limit=200", "").replace(/^&/, "")

describe("buildQuery", () => {
  it("requests pages of 200 rows without a filter by default", () => {
    assert.strictEqual(urlOf({}).href, "https://api.test/base/v2/company/4021/time_punches?limit=200")
    assert.strictEqual(requestOf({}).method, "GET")
  })

  const parameters: ReadonlyArray<readonly [string, PunchFilter]> = [
    ["location_id=301", { locationId: LocationId.make(301) }],
    ["department_id=0", { departmentId: DepartmentId.make(0) }],
    ["department_id=21", { departmentId: DepartmentId.make(21) }],
    ["role_id=11", { roleId: RoleId.make(11) }],
    ["user_id=9007199254740991", { userId: UserId.make(2 ** 53 - 1) }],
    ["approved=true", { approved: true }],
    ["approved=false", { approved: false }],
    ["", { deleted: "exclude" }],
    ["deleted=true", { deleted: "only" }],
    ["deleted=null", { deleted: "include" }],
    ["modified_since=2026-03-01T00%3A00%3A00Z", { modifiedSince: at("2026-03-01T00:00:00Z") }],
    ["clocked_in%5Bgte%5D=2026-03-01T00%3A00%3A00Z", { clockedIn: { gte: at("2026-03-01T00:00:00Z") } }],
    ["clocked_in%5Blte%5D=2026-03-01T00%3A00%3A00.001Z", { clockedIn: { lte: at("2026-03-01T00:00:00.001Z") } }],
    ["clocked_in%5Blte%5D=2026-03-01T00%3A00%3A00Z", { clockedIn: { lt: at("2026-03-01T00:00:00Z") } }],
    ["clocked_out%5Bgte%5D=2026-03-01T00%3A00%3A00Z", { clockedOut: { gte: at("2026-03-01T00:00:00Z") } }],
    ["clocked_out%5Blte%5D=2026-03-01T00%3A00%3A00Z", { clockedOut: { lte: at("2026-03-01T00:00:00Z") } }],
    ["clocked_out%5Blte%5D=2026-03-01T00%3A00%3A00Z", { clockedOut: { lt: at("2026-03-01T00:00:00Z") } }],
    ["localize_search_time=true", { localizeSearchTime: true }],
    ["", { localizeSearchTime: false }],
    ["flags=late", { flags: ["late"] }],
    ["flags=late,auto_clocked_out,missed_break", { flags: ["late", "auto_clocked_out", "missed_break"] }],
    ["employee_approval_statuses=pending,disputed", { employeeApprovalStatuses: ["pending", "disputed"] }],
    ["sort_by=clocked_in.desc,id.asc", { sortBy: [["clockedIn", "desc"], ["id", "asc"]] }],
    ["business_date_start=2026-03-01", { businessDate: { first: BusinessDate.make("2026-03-01") } }],
    ["business_date_end=2026-03-31", { businessDate: { last: BusinessDate.make("2026-03-31") } }]
  ]

  it.each(parameters)("writes the parameter %j", (expected, filter) => {
    assert.strictEqual(paramsOf(filter), expected)
  })

  it("writes all parameters that can go together, and each of them once", () => {
    const from = at("2026-03-01T00:00:00Z")
    const { searchParams } = urlOf({
      pageSize: 50,
      cursor: "next",
      filter: {
        locationId: LocationId.make(1),
        departmentId: DepartmentId.make(2),
        roleId: RoleId.make(3),
        userId: UserId.make(4),
        approved: true,
        deleted: "only",
        modifiedSince: from,
        flags: ["late"],
        employeeApprovalStatuses: ["approved"],
        localizeSearchTime: true,
        sortBy: [["id", "asc"]],
        clockedIn: { gte: from, lte: from },
        clockedOut: { gte: from, lte: from }
      }
    })

    assert.deepStrictEqual([...searchParams].map(([name]) => name).toSorted(), [
      "approved",
      "clocked_in[gte]",
      "clocked_in[lte]",
      "clocked_out[gte]",
      "clocked_out[lte]",
      "cursor",
      "deleted",
      "department_id",
      "employee_approval_statuses",
      "flags",
      "limit",
      "localize_search_time",
      "location_id",
      "modified_since",
      "role_id",
      "sort_by",
      "user_id"
    ])
    assert.strictEqual(searchParams.get("limit"), "50")
  })

  it("leaves out what is undefined, in a window too", () => {
    const nothing: PunchFilter = {
      userId: undefined,
      flags: undefined,
      deleted: undefined,
      clockedIn: { gte: undefined }
    }

    assert.strictEqual(paramsOf(nothing), "")
    assert.strictEqual(paramsOf({ businessDate: undefined, clockedOut: undefined }), "")
  })

  it("writes instants of any zone in UTC, with no plus sign in sight", () => {
    const instant = at("2026-03-01T00:00:00Z")
    const zoned = DateTime.setZoneOffset(instant, 5.5 * 3_600_000)

    assert.strictEqual(paramsOf({ modifiedSince: zoned }), paramsOf({ modifiedSince: instant }))
    assert.notInclude(urlOf({ filter: { modifiedSince: zoned } }).href, "+")
  })

  it("writes a sort_by of any field that the interface's own pattern admits", () => {
    const pattern = /^(,?[a-zA-Z_]*(\.(asc|desc))?){1,}$/
    const fields = Object.keys(TimePunch.fields).filter((field) => field !== "breaks")
    const { between, chance } = prng(4)
    for (let run = 0; run < 500; run++) {
      const sortBy = Array.from({ length: between(1, 6) }, () => [
        fields[between(0, fields.length - 1)],
        chance(0.5) ? "asc" : "desc"
      ])
      const text = new URLSearchParams(paramsOf(untyped({ sortBy }))).get("sort_by") ?? ""

      assert.match(text, pattern)
      assert.strictEqual(text.split(",").length, sortBy.length)
      assert.notMatch(text, /(^|,)(,|\.|$)/)
    }
  })

  it("sorts by the wire's name of each field", () => {
    for (const field of Object.keys(TimePunch.fields).filter((field) => field !== "breaks")) {
      const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

      assert.strictEqual(paramsOf(untyped({ sortBy: [[field, "asc"]] })), `sort_by=${snake}.asc`)
    }
  })

  it("keeps the rows before an exclusive end, which the service includes", () => {
    const end = at("2026-03-09T00:00:00Z")
    const { isInRange } = queryOf({ filter: { clockedIn: { lt: end } } })
    const clockedIn = (text: string) => isInRange?.(punch({ clockedIn: at(text) }))

    assert.isTrue(clockedIn("2026-03-08T23:59:59.999Z"))
    assert.isFalse(clockedIn("2026-03-09T00:00:00Z"))
    assert.isFalse(clockedIn("2026-03-09T00:00:00.001Z"))
  })

  it("lets an open punch pass an exclusive end of clockedOut: the service decides whether it belongs", () => {
    const { isInRange } = queryOf({ filter: { clockedOut: { lt: at("2026-03-09T00:00:00Z") } } })

    assert.isTrue(isInRange?.(punch({ clockedOut: Option.none() })))
    assert.isFalse(isInRange?.(punch({ clockedOut: Option.some(at("2026-03-09T00:00:00Z")) })))
  })

  it("drops no row where no end is exclusive", () => {
    assert.isUndefined(queryOf({ filter: { clockedIn: { lte: at("2026-03-09T00:00:00Z") } } }).isInRange)
  })

  it.each([["2026-03-08T00:00:00Z", "2026-03-09T00:00:00Z"], ["2026-03-09T00:00:00Z", "2026-03-08T00:00:00Z"]])(
    "sends the earlier of two ends, lte %s and lt %s",
    (lte, lt) => {
      const sent = new URLSearchParams(paramsOf({ clockedIn: { lte: at(lte), lt: at(lt) } })).get("clocked_in[lte]")

      assert.strictEqual(sent, "2026-03-08T00:00:00Z")
    }
  )

  it("writes one text for one query, so that a cursor still fits it", () => {
    const one: PunchFilter = { userId: UserId.make(1), approved: true, flags: ["late"] }
    const same: PunchFilter = { flags: ["late"], approved: true, userId: UserId.make(1) }

    assert.strictEqual(queryOf({ filter: one }).target, queryOf({ filter: same }).target)
  })

  it("accepts a bare company id, and a company with its guid, which stays out of the URL", () => {
    const guid = CompanyGuid.make("3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60")
    const query = Result.getOrThrow(buildQuery({ id: company, guid }))

    assert.deepStrictEqual(query.company, { id: company, guid })
    assert.deepStrictEqual(Result.getOrThrow(buildQuery(company)).company, { id: company })
    assert.notInclude(query.target, guid)
  })
})

describe("pageRequest", () => {
  it("sends the page size", () => {
    assert.strictEqual(urlOf({ pageSize: 1 }).searchParams.get("limit"), "1")
    assert.strictEqual(urlOf({ pageSize: 200 }).searchParams.get("limit"), "200")
  })

  it.each([
    "plain",
    "ends=in==",
    "a=b&cursor=c&limit=1",
    "half#fragment",
    "a+b c%20d%2",
    "comma,semicolon;colon:slash/question?",
    "ключ-🧑‍🍳-\u00e9",
    "\u0000\t\r\nHost: elsewhere",
    "'\"<>[]{}|\\^`~!*()",
    "../../company/1",
    " "
  ])("sends the cursor %j to the letter", (cursor) => {
    const url = urlOf({ cursor, filter: { approved: true } })

    assert.strictEqual(url.searchParams.get("cursor"), cursor)
    assert.strictEqual(url.pathname, "/base/v2/company/4021/time_punches")
    assert.strictEqual(url.hash, "")
    assert.deepStrictEqual([...url.searchParams.keys()], ["limit", "approved", "cursor"])
  })

  it.prop("sends any cursor to the letter", [Cursor], ([text]) => {
    assert.strictEqual(urlOf({ cursor: text }).searchParams.get("cursor"), text)
  }, { arbitrary: { runs: 500, seed: 7 } })

  it("follows any base path", () => {
    const { pathname } = urlOf({ base: "http://127.0.0.1:9/a/b" })

    assert.strictEqual(pathname, "/a/b/v2/company/4021/time_punches")
  })
})

describe("pageAt", () => {
  it("takes a cursor or the word, and refuses an Option of untyped code", () => {
    const cursor = Cursor.make("c")

    assert.deepStrictEqual(pageAt(company, cursor), Result.succeed(Option.some(cursor)))
    assert.deepStrictEqual(pageAt(company, "start"), Result.succeed(Option.none()))
    assert.deepStrictEqual(pageAt(company, undefined), Result.succeed(Option.none()))
    for (const given of [Option.none(), Option.some(cursor), "", 4]) {
      const refused = Result.getFailure(pageAt(company, untyped(given)))
      assert.strictEqual(Option.getOrUndefined(refused)?.field, "cursor")
    }
  })
})

describe("startAt", () => {
  const cursor = Cursor.make("there")

  it("accepts a cursor, the option of a page or an error, or nothing", () => {
    for (const from of [cursor, Option.some(cursor)]) {
      assert.deepStrictEqual(startAt(company, from), Result.succeed(Option.some(cursor)))
    }
    for (const from of [undefined, Option.none()]) {
      assert.deepStrictEqual(startAt(company, from), Result.succeed(Option.none()))
    }
  })
})
