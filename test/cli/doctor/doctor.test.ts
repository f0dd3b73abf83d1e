import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { execFile, execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { promisify } from "node:util"
import { checkClock, layerClockSkew } from "../../../src/cli/doctor/listing.ts"
import { fail, makeCheck, ok, renderAdvice, warn } from "../../../src/cli/doctor/report.ts"
import { twoCompanies } from "../../../src/cli/sandbox/companies.ts"
import { writeParameters } from "../../../src/listing/parameters.ts"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { environmentOf } from "../child.ts"
import { cli, environment, queries, temporaryFolder, without } from "../support.ts"
import { examine, type Lie, withRows } from "./support.ts"

const punches = generatePunches({ seed: 8, count: 400, companyId: defaultCompany.id })

const fake = FakeService.layer({ punches })

const page = Fs.readFileSync(new URL("../../../docs/09-command-line.md", import.meta.url), "utf8")

/** The text between a heading of the page and the next one. */
const section = page.split(/^## /m).find((text) => text.startsWith("doctor\n")) ?? ""

const quoted = [...section.matchAll(/```txt\n([\s\S]*?)```/g)].map(([, text = ""]) => text)

/** A service that omits the first punch of a user; the command's machine is two minutes ahead. */
const omitting: Lie = {
  answer: (page, query) => query.has("user_id") ? withRows(page, page.data.slice(1)) : page,
  headers: { date: "Fri, 01 May 2026 00:00:00 GMT" }
}

const setClock = TestClock.setTime(Date.parse("2026-05-01T00:02:00Z"))

describe("time-punches doctor", () => {
  it.effect("reports ok for every check of a healthy service, with about 30 requests", () =>
    Effect.gen(function*() {
      const { advice, bad, code, found, stderr } = yield* examine()

      assert.deepStrictEqual([code, stderr, bad, advice], [0, "", [], "Advice: nothing to fix."])
      assert.deepStrictEqual([...found.keys()].slice(0, 12), [
        "addresses",
        "credential",
        "version",
        "company",
        "service",
        "access",
        "version of the answer",
        "rows",
        "clock",
        "page size",
        "breaks",
        "cursors"
      ])
      assert.strictEqual(found.get("cursors")?.[1], "4 pages forward, 80 punches, none twice")
      assert.isAtMost((yield* queries).length, 35)
    }).pipe(Effect.provide(fake)))

  it.effect("sends every filter of the interface, but approvals of employees and an order", () =>
    Effect.gen(function*() {
      yield* examine()
      const sent = new Set((yield* queries).flatMap((query) => Object.keys(query)))

      const unasked = ["employee_approval_statuses", "sort_by"]
      assert.includeMembers(
        [...sent],
        writeParameters({}).map(([name]) => name).filter((name) => !unasked.includes(name))
      )
    }).pipe(Effect.provide(fake)))

  it.effect("says of a sandbox what its page of the docs shows", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* examine()

      assert.lengthOf(quoted, 1)
      const real = stdout.split("\n")
      const lines = (quoted[0] ?? "").trimEnd().split("\n")
      assert.isAbove(lines.length, 8)
      for (const line of lines) if (line !== "…") assert.include(real, line)
      assert.strictEqual(code, 0)
    }).pipe(Effect.provide(FakeService.layer({ punches: twoCompanies(400, 1).punchesOf(0) }))))

  it.effect("has one line for a filter that omits a punch, one for all others, and one advice", () =>
    Effect.gen(function*() {
      yield* setClock
      const { advice, bad, code, found, stderr } = yield* examine({ lie: omitting })

      assert.deepStrictEqual([code, bad], [7, ["clock", "filter user_id"]])
      assert.match(found.get("filter user_id")?.[1] ?? "", /^punch \d+ matches, and is not among \d+ punch(es)?$/)
      assert.match(found.get("filters")?.[1] ?? "", /^13 omit no punch that matches$/)
      assert.match(advice, /omits matching punches: .* \[filter user_id\] Then see the other finding\.$/)
      assert.match(stderr, /^time-punches: 1 of \d+ checks failed\n$/)
    }).pipe(Effect.provide(fake)))

  it.effect("prints the same as one object with --json, and exits alike", () =>
    Effect.gen(function*() {
      yield* setClock
      const text = yield* examine({ lie: omitting })
      const json = yield* examine({ lie: omitting, flags: ["--json"] })
      const { advice, checks } = JSON.parse(json.stdout)
      const lines = text.stdout.split("\n").slice(0, -2)

      assert.deepStrictEqual([json.code, json.stderr], [text.code, text.stderr])
      assert.isAbove(checks.length, 14)
      for (const [at, { check, detail, status }] of checks.entries()) {
        assert.strictEqual(lines[at], `${status.padEnd(4)}  ${check.padEnd(34)}  ${detail}`)
      }
      assert.strictEqual(lines.length, checks.length)
      assert.include(text.advice ?? "", advice)
      assert.match(advice, /omits matching punches/)
    }).pipe(Effect.provide(fake)))

  it.effect("reads the filters that are given as a run does, and does not ask whether others give too much", () =>
    Effect.gen(function*() {
      const lie = { ask: (query: URLSearchParams) => query.delete("approved") }
      const good = yield* examine({ flags: ["--flags", "late", "--approved", "false"] })
      const others = yield* examine({ lie })
      const bad = yield* examine({ lie, flags: ["--approved", "false"], waits: true })

      assert.deepStrictEqual([good.code, others.code, bad.code], [0, 0, 7])
      assert.match(bad.found.get("request")?.[1] ?? "", /approved/)
      assert.match(bad.advice, /^Advice: The service ignores this filter/)
    }).pipe(Effect.provide(fake)))

  it.live("prints eight requests with --ask, which a shell can send, and sends none", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* cli(["doctor", "--ask"], { env: {} })
      const service = yield* FakeService
      const [sent, { url }] = [yield* service.requests, yield* FakeServer]
      const shell = yield* Effect.promise(() => {
        const ran = promisify(execFile)("bash", ["-c", stdout], { env: { ...process.env, ...environmentOf(url) } })
        ran.child.stdin?.end(`${defaultCompany.accessToken}\n`)
        return ran
      })

      assert.deepStrictEqual([code, sent.length, stdout.match(/^# [1-8]\. /gm)?.length], [0, 0, 8])
      assert.notMatch(stdout, /fake-client/)
      assert.strictEqual(
        (yield* service.requests).map(({ endpoint }) => endpoint).join(" "),
        "token token page page page page page page"
      )
      assert.deepStrictEqual(
        [...shell.stdout.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
        ["401", "200", "200", "200", "200", "200", "200", "200"]
      )
      assert.match(shell.stdout, /x-api-version: 2020-01-01/)
    }).pipe(Effect.provide(FakeServer.layer().pipe(Layer.provideMerge(fake)))))

  it.effect("counts breaks, and names the fields that may take punches away, until they are harmless", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.badRow(0, { voided_at: "2026-03-02T14:00:00Z" }))
      const marked = yield* examine()
      const harmless = yield* examine({ env: { ...environment, TIME_PUNCHES_KNOWN_KEYS: "data[].voided_at" } })

      assert.match(marked.found.get("breaks")?.[1] ?? "", /^\d+ breaks, [1-9]\d* deleted$/)
      assert.deepStrictEqual([marked.code, marked.bad], [0, ["unknown fields", "marks"]])
      assert.match(marked.found.get("marks")?.[1] ?? "", /data\[\]\.voided_at may take away a punch or a break/)
      assert.deepStrictEqual(harmless.bad, ["unknown fields"])
    }).pipe(Effect.provide(fake)))

  it.effect("makes several pages of a few punches, and warns when there are none", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.clear
      const none = yield* examine()
      yield* service.seed(generatePunches({ seed: 1, count: 5, companyId: defaultCompany.id, deletedShare: 0 }))
      const few = yield* examine()

      assert.deepStrictEqual([none.code, none.bad], [0, ["rows"]])
      assert.strictEqual(
        none.advice,
        "Advice: Give a company that has punches: the other checks need some. [rows]"
      )
      assert.strictEqual(few.found.get("cursors")?.[1], "3 pages forward, 5 punches, none twice")
      assert.deepStrictEqual([few.code, few.bad], [0, []])
    }).pipe(Effect.provide(fake)))

  it.effect("finds punches after some empty pages", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.emptyPage, { requests: [1, 2] })
      const { code, found } = yield* examine()

      assert.strictEqual(code, 0)
      assert.strictEqual(found.get("rows")?.[1], "20 punches could be read")
    }).pipe(Effect.provide(fake)))

  it.effect("names all invalid settings at once, and sends no request", () =>
    Effect.gen(function*() {
      const env = {
        ...without("TIME_PUNCHES_COMPANY_GUID", "TIME_PUNCHES_CLIENT_SECRET"),
        TIME_PUNCHES_BASE_URL: "http://example.com",
        TIME_PUNCHES_API_VERSION: "2026-02-30"
      }
      const { advice, bad, code, found } = yield* examine({ env })

      assert.deepStrictEqual([code, bad], [3, ["addresses", "credential", "version"]])
      assert.match(found.get("addresses")?.[1] ?? "", /TIME_PUNCHES_BASE_URL must be an https URL/)
      assert.match(found.get("version")?.[1] ?? "", /TIME_PUNCHES_API_VERSION must be a real date/)
      assert.match(advice, /^Advice: Fix the variables .* \[addresses, credential, version\]$/)
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
      assert.match(oauth.found.get("company")?.[1] ?? "", /without a guid, which an OAuth client must send$/)
      assert.match(oauth.advice, /^Advice: Give --company ID=GUID, or set TIME_PUNCHES_COMPANY_GUID/)
      assert.strictEqual(token.code, 0)
      assert.match(token.found.get("company")?.[1] ?? "", /guid is not sent with access tokens/)
    }).pipe(Effect.provide(fake)))

  it.effect("advises on the id and the guid first where the service refuses the company", () =>
    Effect.gen(function*() {
      const foreign = { ...environment, TIME_PUNCHES_COMPANY_GUID: "00000000-0000-4000-8000-000000000000" }
      const { advice, code, failed } = yield* examine({ env: foreign })

      assert.deepStrictEqual([code, failed], [5, ["access"]])
      assert.match(advice, /^Advice: Check the id of the company first, and its guid\. Ask the company: /)
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
    }).pipe(
      Effect.provide(FakeService.layer({ punches: punches.map((punch) => Object.assign({}, punch, { tips: 0 })) }))
    ))

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

  it.effect("[M7] says why the token endpoint was not reached, as it does of the listing", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const accessToken = {
        ...without("TIME_PUNCHES_CLIENT_ID", "TIME_PUNCHES_CLIENT_SECRET"),
        TIME_PUNCHES_ACCESS_TOKEN: defaultCompany.accessToken
      }
      yield* service.inject(Fault.reset, { target: "token" })
      yield* service.inject(Fault.reset)
      const token = yield* examine({ waits: true })
      const page = yield* examine({ env: accessToken, waits: true })

      for (const { advice, code, failed, found } of [token, page]) {
        assert.deepStrictEqual([code, failed], [6, ["service"]])
        assert.match(found.get("service")?.[1] ?? "", /ECONNRESET/)
        assert.strictEqual(advice, page.advice)
        assert.match(advice, /^Advice: Check TIME_PUNCHES_BASE_URL .*, the network, and the proxy of HTTPS_PROXY\./)
      }
    }).pipe(Effect.provide(fake)))

  it.effect("[M8] advises something about every database that cannot be read, and checks the service all the same", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      Fs.symlinkSync(`${folder}/loop`, `${folder}/loop`)
      Fs.writeFileSync(`${folder}/text`, "This is no database. ".repeat(500))
      Fs.writeFileSync(`${folder}/empty`, "")
      execFileSync("mkfifo", [`${folder}/pipe`])
      for (const name of ["loop", "pipe", "text", "empty", "missing", ""]) {
        const { advice, failed, found } = yield* examine({ flags: ["--database", `${folder}/${name}`] })

        assert.deepStrictEqual([failed, found.get("cursors")?.[0]], [["copy"], "ok"], name)
        assert.match(advice, /^Advice: [A-Z].+\. \[copy\]$/, name)
      }
    }).pipe(Effect.scoped, Effect.provide(fake)))

  it.effect("gives the other checks up when the service goes away", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.retryAfter("900", 503), { requests: Array.from({ length: 99 }, (_, at) => at + 8) })
      const { advice, code, failed, found } = yield* examine()

      assert.strictEqual(code, 6)
      assert.lengthOf(failed, 3)
      assert.match(found.get("other checks")?.[1] ?? "", /^\d+ were given up$/)
      assert.match(advice, /^Advice: This may pass: try again later\. \[/)
    }).pipe(Effect.provide(fake)))
})

describe("the advice of time-punches doctor", () => {
  const filter = fail("filter user_id", "…", "filters", "Report it.")
  const other = fail("filter role_id", "…", "filters", "Report it.")
  const clock = warn("clock", "…", "clock", "Set it.")
  const access = fail("access", "…", "credential", "Replace it.", 4)
  const good = ok("rows", "…")

  it("has the name, the cause and the exit code of its check in each result", () => {
    const check = makeCheck("page size", "answer")

    assert.deepStrictEqual(check.ok("seen"), ok("page size", "seen"))
    assert.deepStrictEqual(check.warn("seen", "Do."), warn("page size", "seen", "answer", "Do."))
    assert.deepStrictEqual(check.fail("seen", "Do."), fail("page size", "seen", "answer", "Do."))
    assert.deepStrictEqual(check.fail("seen", "Do.", 3), fail("page size", "seen", "answer", "Do.", 3))
  })

  it.each([
    ["nothing to fix.", [good]],
    ["Set it. [clock]", [good, clock]],
    ["Report it. [filter user_id, filter role_id]", [filter, good, other]],
    ["Report it. [filter user_id] Then see the other finding.", [clock, filter]],
    ["Replace it. [access] Then see the other 3 findings.", [filter, clock, other, access]]
  ])("is %j where that is the most basic finding", (advice, results) => {
    assert.strictEqual(renderAdvice(results), `Advice: ${advice}`)
  })

  it.effect("never is to run doctor itself", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const broken = yield* Effect.forEach(
        [Fault.badRow(0, { user_id: "x" }), Fault.wrongObject(), Fault.countMismatch(1), Fault.cursorCycle(1)],
        (fault) => Effect.andThen(service.inject(fault), Effect.tap(examine(), () => service.clearFaults))
      )
      const unset = yield* examine({ env: without("TIME_PUNCHES_BASE_URL", "TIME_PUNCHES_COMPANY_ID") })

      assert.deepStrictEqual([...broken, unset].map(({ code }) => code), [7, 7, 7, 7, 3])
      for (const { stderr, stdout } of [...broken, unset]) assert.notInclude(stdout + stderr, "doctor")
    }).pipe(Effect.provide(fake)))
})

describe("one advice for a cursor that the service does not know any more", () => {
  const expired = Fault.status(422, { problem: { param: "cursor", detail: "The cursor has expired." } })

  const advice = /^time-punches: .*\n {2}The service does not know the cursor.*: start over, .*\n$/

  it.effect("list does not name the cursor to resume from", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(expired, { requests: 2 })
      const { code, stderr } = yield* cli(["list", "--page-size", "50"])

      assert.strictEqual(code, 7)
      assert.match(stderr, advice)
      assert.notInclude(stderr, "--cursor=")
    }).pipe(Effect.provide(fake)))

  it.effect("export does not say that the same command resumes it", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const output = `${yield* temporaryFolder}/punches.ndjson`
      yield* service.inject(expired, { requests: 3 })
      const { code, stderr } = yield* cli(["export", "--output", output, "--page-size", "50"])

      assert.strictEqual(code, 7)
      assert.match(stderr, advice)
      assert.notInclude(stderr, "same command")
    }).pipe(Effect.scoped, Effect.provide(fake)))
})
