/** The page of a fleet in a real browser: a real `fleet run` of a file, over a fake service. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Page } from "playwright-core"
import { CompanyGuid, CompanyId } from "../../src/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService, generatePunches } from "../../src/testing/index.ts"
import { commandOf, environmentOf } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { browser, hasChromium, looksRight, noChromium, widths } from "./browser.ts"

const companies = Array.from({ length: 12 }, (_, at) => ({
  id: CompanyId.make(5001 + at),
  guid: CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(5001 + at).padStart(12, "0")}`),
  accessToken: `token-${5001 + at}`
}))

const service = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  companies,
  punches: companies.flatMap(({ id }, at) =>
    generatePunches({ seed: at, count: 60, companyId: id, firstId: at * 10_000 + 1 })
      .map((punch) => Object.assign(punch, { notes: "" }))
  )
})))

const text = (page: Page, selector: string) => Effect.promise(() => page.locator(selector).innerText())
const run = (f: () => Promise<unknown>) => Effect.promise(async () => void await f())

/** `fleet run` with a page. Gives its address and its file once it listens. */
const fleet = Effect.gen(function*() {
  const { url } = yield* FakeServer
  const file = `${yield* temporaryFolder}/punches.db`
  const environment = environmentOf(url)
  const csv = companies.map(({ guid, id }) => `${id}=${guid}`)
  ChildProcess.execFileSync(process.execPath, commandOf(["fleet", "add", "--database", file, ...csv]), {
    env: environment
  })
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      ChildProcess.spawn(
        process.execPath,
        commandOf(["fleet", "run", "--database", file, "--http", "0", "--log-format", "json"]),
        { env: environment, stdio: ["ignore", "ignore", "pipe"] }
      )
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (part: string) => (log += part))
  const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)))
  const address = yield* Effect.promise(() =>
    new Promise<string>((resolve, reject) => {
      child.stderr.on("data", () => {
        const found = /the page of the fleet is at (http:\/\/\S+?)\/"/.exec(log)?.[1]
        if (found !== undefined) resolve(found)
      })
      child.on("close", () => reject(new Error(log)))
    })
  )
  const end = Effect.promise(() => {
    child.kill("SIGTERM")
    return ended
  })
  return { address, file, end, log: () => log }
})

/** Changes the file behind the back of the fleet. */
const inFile = (file: string, statement: string) =>
  Effect.sync(() => {
    const database = new DatabaseSync(file, { timeout: 5000 })
    database.exec(statement)
    database.close()
  })

const screenshots = process.env["TIME_PUNCHES_TEST_SCREENSHOTS"]

/** Pictures for who asks for them, as `NAME-WIDTH.png`. */
const pictured = Effect.fnUntraced(function*(page: Page, name: string) {
  if (screenshots === undefined) return
  Fs.mkdirSync(screenshots, { recursive: true })
  for (const width of widths) {
    yield* run(() => page.setViewportSize({ width, height: 900 }))
    yield* run(() => page.screenshot({ path: Path.join(screenshots, `${name}-${width}.png`), fullPage: width === 375 }))
  }
})

const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>\u202egnirts </td></table>`

describe("the page of a fleet in a browser", () => {
  it.live("shows companies while they are synced, follows what changes, and ends with its process", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const { address, end, file, log } = yield* fleet
      const { open } = yield* browser
      const page = yield* open(`${address}/`, { allows: /ERR_(CONNECTION|INCOMPLETE|EMPTY)/ })
      yield* run(() => page.locator("#companies td:has-text('increment')").nth(11).waitFor({ timeout: 60_000 }))
      assert.match(yield* text(page, "#summary"), /720 rows written/)
      assert.strictEqual(yield* text(page, "#live"), "Live.")
      yield* inFile(
        file,
        `UPDATE fleet_company SET state = 'blocked', reason = 'Forbidden', failures = 3, last_error = '${
          JSON.stringify({ at: "2026-04-05T12:00:00.000Z", tag: hostile, text: "its text is not shown" })
        }' WHERE company_id = 5007; UPDATE fleet_company SET last_ok_at = last_ok_at - 7200000, failures = 2 WHERE company_id = 5003; INSERT INTO fleet_pause (reason, until, probed_at) VALUES ('operator', NULL, 0)`
      )
      yield* run(() => page.locator("#summary .notice").waitFor({ timeout: 60_000 }))
      const first = yield* text(page, "#companies tbody tr:nth-child(1)")
      assert.match(first, /^5007\s+blocked \(Forbidden\)/)
      assert.notInclude(first, "is not shown")
      assert.include(first, "<img src=x onerror=alert(1)>")
      assert.match(yield* text(page, "#companies tbody tr:nth-child(2)"), /^5003/)
      yield* looksRight(page)
      yield* pictured(page, "fleet")

      const status: unknown = yield* Effect.promise(async () => (await fetch(`${address}/status.json`)).json())
      assert.containSubset(status, { companies: 12, states: { blocked: 1 }, list: [{ companyId: 5007 }] })
      assert.strictEqual(yield* Effect.promise(async () => (await fetch(`${address}/healthz`)).status), 200)

      yield* run(() => page.locator("select[name=show]").selectOption("failing"))
      yield* run(() => page.waitForURL(/show=failing/))
      assert.strictEqual(yield* Effect.promise(() => page.locator("#companies tbody tr").count()), 2)
      assert.strictEqual(yield* end, 0)
      yield* run(() => page.locator("#live:has-text('does not answer')").waitFor())
      // Each line of the log is an object.
      for (const line of log().trim().split("\n")) assert.property(JSON.parse(line), "message", line)
    }).pipe(Effect.scoped, Effect.provide(service))
  })

  it.live("scrolls 10,000 companies", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const { address, file } = yield* fleet
      yield* inFile(
        file,
        `INSERT INTO fleet_company (company_id, state, phase, every_ms, added_at, next_at, last_ok_at, epoch, starts, failures, tag_count, rows) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9988) SELECT 100000 + i, 'paused', 'increment', 900000, 0, 0, 0, 1, 0, 0, 0, i FROM n`
      )
      const { open } = yield* browser
      const page = yield* open(`${address}/?sort=company&limit=10000`)
      const rows = page.locator("#companies tbody tr")
      assert.strictEqual(yield* Effect.promise(() => rows.count()), 10_000)
      yield* run(() => rows.last().scrollIntoViewIfNeeded())
      assert.isTrue(yield* Effect.promise(() => rows.last().isVisible()))
      assert.match(yield* text(page, "#companies tbody tr:last-child"), /^109988/)
    }).pipe(Effect.scoped, Effect.provide(service))
  })
})
