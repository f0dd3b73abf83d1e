/** The page of a fleet: what it shows and hides, who may read it, and how large it is. */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Metric, Option, Schema } from "effect"
import * as Http from "node:http"
import { CompanyStatus } from "../../src/fleet/CompanyState.ts"
import { chart, companiesHtml, fleetPage } from "../../src/fleet/node/page/html.ts"
import { servePage } from "../../src/fleet/node/page/serve.ts"
import {
  type PageQuery,
  readQuery,
  select,
  statusJson,
  type View,
  type Watched
} from "../../src/fleet/node/page/view.ts"
import {
  claiming,
  companies,
  ending,
  monotonic,
  setCompanies,
  sqliteStore,
  takeover,
  type TestStore
} from "./support.ts"

const noon = "2026-04-05T12:00:00.000Z"
const decode = Schema.decodeUnknownSync(CompanyStatus)

const company = (id: number, more: Record<string, unknown> = {}, runner = "a"): Watched =>
  Object.assign(
    decode({
      companyId: id,
      state: "active",
      phase: "increment",
      reason: null,
      everySeconds: 900,
      nextAt: noon,
      lastOkAt: noon,
      lateSeconds: 0,
      failures: 0,
      lastError: null,
      rows: 1234,
      ...more
    }),
    { runner, isInWork: false }
  )

const viewOf = (companies: ReadonlyArray<Watched>, more: Partial<View> = {}): View => ({
  at: DateTime.makeUnsafe(noon),
  companies,
  minutes: [],
  pauses: [],
  runners: [],
  ...more
})

const all: PageQuery = readQuery("/")

const hostile = "<img src=x onerror=alert(1)>\"'&\u202egnirts\u0007\u001b[31m</td></table><script>alert(2)</script>"

const error = (text: string, tag = "DecodeError") => ({ lastError: { at: noon, tag, text }, failures: 1 })

describe("the page of a fleet", () => {
  it("shows hostile names, reasons and errors as text", () => {
    const view = viewOf([company(1, { ...error(hostile, hostile), state: "blocked", reason: hostile }, hostile)], {
      pauses: [{ reason: hostile, until: Option.none(), by: Option.some(hostile) }],
      minutes: [{ minute: 29_590_000, runner: hostile, runs: 1, pages: 1, rows: 1, failures: 0 }],
      runners: [{
        runner: hostile,
        state: "sick",
        error: Option.some(hostile),
        release: hostile,
        startedAt: DateTime.makeUnsafe(noon),
        seenAt: DateTime.makeUnsafe(noon),
        holds: []
      }]
    })
    const text = fleetPage(view, Object.assign({}, all, { find: hostile }), hostile)

    assert.notMatch(text, /<img|<script>|\u202e|\u0007|\u001b/)
    assert.include(text, "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;\\u202egnirts\\u0007\\u001b[31m")
    assert.strictEqual(text.match(/<table>/g)?.length, text.match(/<\/table>/g)?.length)
    assert.notMatch(text, / style=| on\w+="|javascript:/)
  })

  it("shows nothing of the text of an error, which may quote a cursor, a guid or a token", () => {
    const secrets = [
      "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0",
      "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
      "WyIyMDI2LTA0LTA1Il0",
      "correcthorsebattery",
      "s3cret"
    ]
    const view = viewOf([company(1, error(`422: after ${secrets.join(" and '")}' is not valid, company 1, page 12`))])
    const texts = [companiesHtml(view, all), JSON.stringify(statusJson(view, all, "a"))]

    for (const text of texts) {
      for (const secret of secrets) assert.notInclude(text, secret)
      assert.include(text, "DecodeError")
      assert.notInclude(text, "is not valid")
    }
  })

  it("says when an active company is due, and of no other, and names the hours of the chart", () => {
    const view = viewOf(["active", "blocked", "quarantined", "paused"].map((state, at) => company(at + 1, { state })))

    const due = [
      ...companiesHtml(view, all).matchAll(
        /<th scope="row"[^]*?>(\d+)<[^]*?<td class="time">(?:[^]*?)<td class="time">([^<]*)/g
      )
    ]
    assert.sameDeepMembers(due.map(([, id, due]) => [id, due]), [
      ["1", "2026-04-05 12:00:00"],
      ["2", "–"],
      ["3", "–"],
      ["4", "–"]
    ])
    assert.include(fleetPage(view, all, "a"), "<span>11:01</span><span>11:15</span>")
  })

  it("puts what needs a person first, then what is late, what fails, and what is paused", () => {
    const view = viewOf([
      company(1),
      company(2, { failures: 3 }),
      company(3, { lateSeconds: 5000 }),
      company(4, { lateSeconds: 9000 }),
      company(5, { state: "blocked", reason: "Forbidden" }),
      company(6, { state: "paused", lateSeconds: 99_999 })
    ])
    const shown = (url: string) => select(view, readQuery(url)).shown.map(({ companyId: company }) => Number(company))

    assert.deepStrictEqual(shown("/"), [5, 4, 3, 2, 6, 1])
    assert.deepStrictEqual(shown("/?show=late"), [4, 3])
    assert.deepStrictEqual(shown("/?show=failing&sort=company"), [2, 5])
    assert.deepStrictEqual(shown("/?show=paused"), [6])
    assert.deepStrictEqual(shown("/?find=3"), [3])
    assert.deepStrictEqual(shown("/?sort=company&limit=2"), [1, 2])
  })

  it("takes a query that it does not understand for none", () => {
    assert.deepStrictEqual(readQuery("/?show=%3Cb%3E&sort=1&find=1%20or%201&limit=-1"), all)
    assert.strictEqual(readQuery("/?limit=99999999").limit, 10_000)
  })

  it("draws the turns of each minute, the failed ones at their foot", () => {
    assert.strictEqual(
      chart([{ runs: 4, failures: 1 }, { runs: 0, failures: 0 }, { runs: 2, failures: 0 }], "6 \"turns\"").html,
      `<svg class="chart" viewBox="0 0 30 101" role="img" aria-label="6 &quot;turns&quot;" preserveAspectRatio="none">` +
        `<rect class="turns" x="0" y="0" width="8" height="100"/><rect class="failed" x="0" y="75" width="8" height="25"/>` +
        `<rect class="turns" x="20" y="50" width="8" height="50"/><path d="M0 100.5H30"/></svg>`
    )
  })
})

/** The routes over a socket. */
const served = Effect.fnUntraced(function*(
  options: {
    readonly host?: string
    readonly name?: string
    readonly workedAt?: () => number
    readonly isTurning?: Effect.Effect<boolean>
  } = {}
) {
  const test = yield* sqliteStore
  const workedAt = options.workedAt ?? monotonic
  let reads = 0
  const store: TestStore["store"] = {
    ...test.store,
    withNow: (use) =>
      Effect.suspend(() => {
        reads += 1
        return test.store.withNow(use)
      })
  }
  const server = Http.createServer()
  const context = yield* Layer.build(
    NodeHttpServer.layerServer(() => server, { port: 0, host: options.host ?? "127.0.0.1" })
  ).pipe(Effect.orDie)
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  const { isLocal, url } = yield* Effect.provideContext(
    servePage(
      { store, name: "a", takeover, workedAt, isTurning: options.isTurning ?? Effect.succeed(true) },
      options.name ?? options.host
    ),
    context
  )
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    Effect.promise(() =>
      new Promise<{ readonly status: number; readonly headers: Http.IncomingHttpHeaders; readonly body: string }>(
        (resolve, reject) => {
          const request = Http.request(
            { port: new URL(url).port, host: "127.0.0.1", path, headers, method },
            (response) => {
              let body = ""
              const done = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
              response.setEncoding("utf8").on("data", (text: string) => {
                body += text
              })
              response.on("end", done)
            }
          )
          request.on("error", reject)
          request.end()
        }
      )
    )
  return { ...test, get, isLocal, reads: () => reads }
})

const paths = ["/", "/page.css", "/page.js", "/status.json", "/metrics", "/livez", "/readyz", "/healthz"] as const

describe("the routes of the page of a fleet", () => {
  it.live("answer with a strict policy, and refuse pages elsewhere and names that point here", () =>
    Effect.gen(function*() {
      const { get, isLocal } = yield* served()
      assert.isTrue(isLocal)
      for (const path of paths) {
        const { body, headers, status } = yield* get(path)
        assert.strictEqual(status, 200, path)
        assert.isNotEmpty(body)
        assert.match(`${headers["content-security-policy"]}`, /default-src 'none'; style-src 'self'; script-src 'self'/)
        assert.strictEqual(headers["cache-control"], "no-store")
        const foreign = [
          { host: "evil.example" },
          { origin: "https://evil.example" },
          { origin: "http://localhost:1" },
          { host: "localhost", origin: "https://localhost" },
          { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }
        ]
        for (const headers of foreign) assert.strictEqual((yield* get(path, headers)).status, 403, path)
      }
      assert.strictEqual((yield* get("/other")).status, 404)
      assert.strictEqual((yield* get("/", {}, "POST")).status, 404)
    }))

  it.live("of an address that others reach refuse names that they were not given, and pages elsewhere", () =>
    Effect.gen(function*() {
      const { get, isLocal } = yield* served({ host: "0.0.0.0", name: "fleet.example" })
      assert.isFalse(isLocal)
      for (const path of paths) {
        for (const host of ["fleet.example", "Fleet.example:80", "10.0.0.7:8080", "[fd00::7]:80", "localhost"]) {
          assert.strictEqual((yield* get(path, { host })).status, 200, `${path} ${host}`)
        }
        // A name of another site that resolves to this machine.
        for (const host of ["evil.example", "fleet.example.evil.example", "10.0.0.7.evil.example", "[evil.example]"]) {
          assert.strictEqual((yield* get(path, { host })).status, 403, `${path} ${host}`)
        }
        for (const origin of ["http://fleet.example", "https://Fleet.example"]) {
          assert.strictEqual((yield* get(path, { host: "fleet.example", origin })).status, 200, path)
        }
        const refused = yield* get(path, { host: "fleet.example", origin: "https://evil.example" })
        assert.strictEqual(refused.status, 403, path)
      }
    }))

  it.live("show what the database has, by one reading for all who look", () =>
    Effect.gen(function*() {
      const { get, reads, store, ...test } = yield* served()
      yield* store.operator.add(companies(3))
      const [claim] = yield* store.claim(claiming("b", { room: 1 }))
      if (claim !== undefined)
        yield* store.end("b", ending(claim, { pages: 2, rows: 7 }), {
          credentials: "shared",
          sweepEvery: 1e9,
          fullSweepEvery: 0,
          keepTurns: 50
        })
      // If the minute were a fraction, each turn would have a separate row.
      const minutes = yield* Effect.orDie(test.sql`SELECT typeof(minute) AS kind FROM fleet_minute`)
      assert.deepStrictEqual(minutes.map((row) => Object.values(row)), [["integer"]])
      yield* setCompanies({ store, ...test }, "state = 'blocked', reason = 'Forbidden'", "company_id = 3")
      yield* store.operator.pauseAll
      yield* store.notePresence("b", { isStart: true, release: "1.0.0", settings: "{}" })
      yield* store.noteTrouble("b", { kind: "refused", text: "the secret" })
      const before = reads()
      const all = yield* Effect.all(["/", "/status.json", "/"].map((path) => get(path)), {
        concurrency: "unbounded"
      })
      const [page, status] = all.map(({ body }) => body)

      assert.strictEqual(reads() - before, 1)
      assert.include(page, "<strong class=\"bad\">Paused: operator</strong>")
      assert.include(page, "1 turns in the last hour, 0 of them failed; 2 pages, 7 rows written")
      assert.match(page ?? "", /<th scope="row">b<\/th>\s*<td><span class="bad">refused<\/span>/)
      assert.notInclude(`${page} ${status}`, "the secret")
      const json: unknown = JSON.parse(status ?? "")
      assert.containSubset(json, {
        runner: "a",
        companies: 3,
        states: { active: 2, blocked: 1 },
        failing: 1,
        pauses: [{ reason: "operator", until: null, by: null }],
        runners: [{ runner: "b", state: "refused", release: "1.0.0", inWork: 0, runs: 1, pages: 2, rows: 7 }],
        list: [{ companyId: 3, state: "blocked", reason: "Forbidden" }, {}, {}]
      })
    }))

  it.live("say how late the fleet is on each runner, also while the database is away", () =>
    Effect.gen(function*() {
      const { get, sql, ...test } = yield* served()
      yield* test.store.operator.add(companies(2, 1000))
      yield* setCompanies({ sql, ...test }, "added_at = added_at - 100000", "company_id = 2")
      const lateOf = (body: string) => Number(/^time_punches_fleet_late_seconds\S* (\S+)/m.exec(body)?.[1])
      const before = (yield* get("/metrics")).body
      const first = lateOf(before)
      yield* Effect.orDie(sql`DROP TABLE fleet_company`)
      yield* Effect.sleep("5100 millis")
      const after = (yield* get("/metrics")).body
      const away = lateOf(after)

      assert.isAtLeast(first, 99)
      // Not milliseconds.
      assert.isBelow(first, 160)
      assert.isAtLeast(away - first, 5)
      assert.match(before, /^time_punches_fleet_due\S* 2$/m)
      assert.notMatch(after, /time_punches_fleet_(?:due|suspects)/)
      // What a scrape has read is sent by no other exporter of the process.
      const kept = (yield* Metric.snapshot).map(({ id }) => id)
      assert.deepStrictEqual(kept.filter((id) => /late_seconds|_age_|due|suspects/.test(id)), [])
      assert.strictEqual((yield* get("/")).status, 503)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))

  it.live("are healthy while the leases are held and companies claimed, and alive while claims are tried", () =>
    Effect.gen(function*() {
      let workedAt = -Infinity
      let turns = true
      const { get } = yield* served({ workedAt: () => workedAt, isTurning: Effect.sync(() => turns) })
      const statuses: Array<number> = []
      for (const age of [Infinity, 1, takeover + 500]) {
        workedAt = monotonic() - age
        turns = age < takeover
        for (const path of ["/livez", "/readyz", "/healthz"]) statuses.push((yield* get(path)).status)
      }

      assert.deepStrictEqual(statuses, [503, 503, 503, 200, 200, 200, 503, 503, 503])
    }))

  it.live("show 10,000 companies in few bytes", () =>
    Effect.gen(function*() {
      const { get, store, ...test } = yield* served()
      yield* store.operator.add(companies(10_000))
      yield* setCompanies(
        { store, ...test },
        `runner = 'a', last_error = '{"at":"${noon}","tag":"DecodeError","text":"${"x ".repeat(120)}"}'`
      )
      const page = yield* get("/")
      const whole = yield* get("/?limit=10000")

      assert.strictEqual(page.body.match(/<th scope="row"/g)?.length, 100)
      assert.isBelow(page.body.length, 120_000)
      assert.strictEqual(whole.body.match(/<th scope="row"/g)?.length, 10_000)
      assert.isBelow(whole.body.length, 10_000_000)
    }))
})
