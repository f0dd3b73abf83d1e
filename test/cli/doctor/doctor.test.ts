import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { checkClock, layerClockSkew } from "../../../src/cli/doctor/service.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { cli, environment, linesOf, queries, without } from "../support.ts"

const fake = FakeService.layer({
  punches: generatePunches({ seed: 8, count: 900, companyId: defaultCompany.id })
})

/** Runs doctor, and reads its results by check: the status and the text after it. */
const examine = (options: Parameters<typeof cli>[1] = {}, ...flags: ReadonlyArray<string>) =>
  Effect.map(cli(["doctor", ...flags], options), ({ code, stderr, stdout }) => {
    const found = new Map<string, readonly [status: string, text: string]>()
    for (const line of linesOf(stdout)) {
      const [, status = "", check = "", text = ""] = /^(ok|warn|FAIL) +(.+?) {2,}(.*)$/.exec(line) ?? []
      found.set(check, [status, text])
    }
    return { code, stderr, found, bad: [...found].filter(([, [status]]) => status !== "ok").map(([check]) => check) }
  })

const checks = ["addresses", "credential", "version", "company", "service", "access", "rows", "cursors", "back"]

const filters = [
  "location_id",
  "department_id",
  "role_id",
  "user_id",
  "approved=true",
  "approved=false",
  "deleted=exclude",
  "deleted=only",
  "clocked_in",
  "clocked_out",
  "modified_since",
  "business_date",
  "flags=auto_clocked_out"
]

describe("time-punches doctor", () => {
  it.effect("reports ok for every check of a healthy service", () =>
    Effect.gen(function*() {
      const { bad, code, found, stderr } = yield* examine()

      assert.deepStrictEqual([code, stderr, bad], [0, "", []])
      assert.deepStrictEqual([...found.keys()], [
        ...checks,
        ...filters.map((name) => `filter ${name}`),
        "sort_by"
      ])
      assert.strictEqual(found.get("cursors")?.[1], "3 pages forward, 60 punches, none twice")
      assert.isAtMost((yield* queries).length, 25)
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      ["location_id", "filter location_id"],
      ["department_id", "filter department_id"],
      ["role_id", "filter role_id"],
      ["user_id", "filter user_id"],
      ["approved", "filter approved=true"],
      ["deleted", "filter deleted=only"],
      ["clocked_in%5Bgte%5D", "filter clocked_in"],
      ["clocked_in%5Blte%5D", "filter clocked_in"],
      ["clocked_out%5Bgte%5D", "filter clocked_out"],
      ["clocked_out%5Blte%5D", "filter clocked_out"],
      ["modified_since", "filter modified_since"],
      ["business_date_start", "filter business_date"],
      ["business_date_end", "filter business_date"],
      ["flags", "filter flags=auto_clocked_out"]
    ] as const
  )("detects that a service drops %s", ([parameter, check]) =>
    Effect.gen(function*() {
      const drop = new RegExp(`&${parameter}=[^&]*`)
      const { code, found, stderr } = yield* examine({ rewrite: (url) => url.replace(drop, "") })

      assert.strictEqual(code, 7)
      assert.strictEqual(found.get(check)?.[0], "FAIL")
      assert.match(found.get(check)?.[1] ?? "", / of \d+ punches do not match, such as \d+ \(.+\) → .+/)
      assert.match(stderr, /^time-punches: [12] of \d+ checks failed\n$/)
    }).pipe(Effect.provide(fake)))

  it.effect("detects a filter that omits a matching punch", () =>
    Effect.gen(function*() {
      const late = (url: string) =>
        url.replace(/(clocked_in%5Blte%5D=\d{4})/, "clocked_in%5Blte%5D=1999")
          .replace(/(clocked_in%5Bgte%5D=\d{4})/, "clocked_in%5Bgte%5D=1999")
      const { code, found } = yield* examine({ rewrite: late })

      assert.strictEqual(code, 7)
      assert.match(found.get("filter clocked_in")?.[1] ?? "", /^punch \d+ matches, and is not among 0 punches/)
    }).pipe(Effect.provide(fake)))

  it.effect("checks the filters that are given, and says how much of them a punch shows", () =>
    Effect.gen(function*() {
      const good = yield* examine({}, "--flags", "late", "--approved", "false")
      const rewrite = (url: string) => url.replace("&approved=false", "")
      const bad = yield* examine({ rewrite }, "--approved", "false")

      assert.strictEqual(good.code, 0)
      assert.match(good.found.get("filter as given")?.[1] ?? "", /^\d+ punches, all match as far as a punch shows it$/)
      assert.strictEqual(bad.found.get("filter as given")?.[0], "FAIL")
    }).pipe(Effect.provide(fake)))

  it.effect("warns of an order that is ignored, without failing", () =>
    Effect.gen(function*() {
      const { bad, code } = yield* examine({ rewrite: (url) => url.replace(/&sort_by=[^&]*/, "") })

      assert.deepStrictEqual([code, bad], [0, ["sort_by"]])
    }).pipe(Effect.provide(fake)))

  it.effect("detects cursors that lead in a circle", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.cursorCycle(1))
      const { code, found } = yield* examine()

      assert.strictEqual(code, 7)
      assert.match(found.get("cursors")?.[1] ?? "", /CursorCycle/)
    }).pipe(Effect.provide(fake)))

  it.effect("detects that paging backward gives other rows", () =>
    Effect.gen(function*() {
      const isBack = (url: string) => {
        const cursor = /&cursor=([^&]+)/.exec(url)?.[1]
        return cursor !== undefined && atob(decodeURIComponent(cursor)).startsWith("[\"p\"")
      }
      const { bad, code } = yield* examine({
        rewrite: (url) => isBack(url) ? url.replace("limit=20", "limit=19") : url
      })

      assert.deepStrictEqual([code, bad], [7, ["back"]])
    }).pipe(Effect.provide(fake)))

  it.effect("makes several pages of a few punches, and warns when there are none", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.clear
      const none = yield* examine()
      yield* service.seed(generatePunches({ seed: 1, count: 5, companyId: defaultCompany.id, deletedShare: 0 }))
      const few = yield* examine()

      assert.deepStrictEqual([none.code, none.bad], [0, ["rows"]])
      assert.strictEqual(few.found.get("cursors")?.[1], "3 pages forward, 5 punches, none twice")
      assert.deepStrictEqual([few.code, few.bad], [0, []])
    }).pipe(Effect.provide(fake)))

  it.effect("names all invalid settings at once, and sends no request", () =>
    Effect.gen(function*() {
      const env = {
        ...without("TIME_PUNCHES_COMPANY_GUID", "TIME_PUNCHES_CLIENT_SECRET"),
        TIME_PUNCHES_BASE_URL: "http://example.com",
        TIME_PUNCHES_API_VERSION: "2026-02-30"
      }
      const { bad, code, found } = yield* examine({ env })

      assert.deepStrictEqual([code, bad], [3, ["addresses", "credential", "version"]])
      assert.match(found.get("addresses")?.[1] ?? "", /TIME_PUNCHES_BASE_URL must be an https URL.* → /)
      assert.match(found.get("version")?.[1] ?? "", /TIME_PUNCHES_API_VERSION must be a real date/)
      assert.deepStrictEqual(yield* queries, [])
    }).pipe(Effect.provide(fake)))

  it.effect("requires a guid for an OAuth client only", () =>
    Effect.gen(function*() {
      const oauth = yield* examine({ env: without("TIME_PUNCHES_COMPANY_GUID") })
      const env = {
        ...without("TIME_PUNCHES_CLIENT_ID", "TIME_PUNCHES_CLIENT_SECRET"),
        TIME_PUNCHES_ACCESS_TOKEN: defaultCompany.accessToken
      }
      const token = yield* examine({ env })

      assert.strictEqual(oauth.code, 2)
      assert.match(
        oauth.found.get("company")?.[1] ?? "",
        /without a guid, which an OAuth client must send → Give --guid/
      )
      assert.strictEqual(token.code, 0)
      assert.match(token.found.get("company")?.[1] ?? "", /guid is not sent with access tokens/)
    }).pipe(Effect.provide(fake)))

  it.effect("warns of a version with decimal tips, and of one in the future", () =>
    Effect.gen(function*() {
      const statusOf = (version: string) =>
        Effect.map(
          examine({ env: { ...environment, TIME_PUNCHES_API_VERSION: version } }),
          ({ found }) => found.get("version")?.[0]
        )
      yield* TestClock.setTime(Date.parse("2026-07-01T00:00:00Z"))

      assert.deepStrictEqual(
        yield* Effect.forEach(["2022-05-01", "2025-01-01", "2026-07-02"], statusOf),
        ["warn", "ok", "warn"]
      )
    }).pipe(Effect.provide(fake)))

  it.live.each(
    [
      ["access", Fault.status(401), 4],
      ["access", Fault.status(403), 5],
      ["service", Fault.status(404), 7],
      ["service", Fault.retryAfter("900", 503), 6],
      ["rows", Fault.html200, 7],
      ["company", Fault.wrongCompany(), 7],
      ["request", Fault.status(422), 7]
    ] as const
  )("reports a failure under %s", ([check, fault, expected]) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(fault)
      const { bad, code } = yield* examine()

      assert.deepStrictEqual([code, bad], [expected, [check]])
    }).pipe(Effect.provide(fake)))

  it.effect("compares its clock with the date of a response", () =>
    Effect.gen(function*() {
      const skews: Array<number> = []
      const date = "Thu, 01 Jan 1970 00:05:00 GMT"
      const client = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { headers: { date } })))
      )
      yield* HttpClient.get("https://api.test/").pipe(
        Effect.provide(layerClockSkew((skew) => skews.push(skew))),
        Effect.provideService(HttpClient.HttpClient, client)
      )

      assert.deepStrictEqual(skews, [-300_000])
      assert.strictEqual(checkClock(-300_000).status, "warn")
      assert.match(checkClock(-300_000).detail, /^5m behind the service's$/)
      assert.match(checkClock(7_200_000).detail, /^2h ahead of the service's$/)
      assert.deepStrictEqual([-2000, 0, 2000].map((skew) => checkClock(skew).status), ["ok", "ok", "ok"])
    }))
})
