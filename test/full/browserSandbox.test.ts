/** The page of a sandbox in a real browser: what it shows, what its buttons do, and what a page elsewhere cannot do. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Http from "node:http"
import type { Page } from "playwright-core"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches, type StoredPunch } from "../../src/testing/index.ts"
import { needs } from "../support/needs.ts"
import { browser, hasChromium, looksRight, noChromium } from "./browser.ts"

const punches = generatePunches({ seed: 3, count: 45, companyId: defaultCompany.id, deletedShare: 0 })

/** Texts that a page must show and never obey. */
const hostile = [
  "<img src=x onerror=\"alert('image')\"><script>alert('script')</script>",
  "\"><button data-fault=reset>Press</button></td></tr></table>",
  "\u202egnirts desrever\u202c and \u2066isolated\u2069",
  "bell\u0007 escape\u001b[31m null\u0000 line\u2028end",
  "${alert('template')} {{alert('braces')}} javascript:alert('scheme')",
  "x".repeat(3000)
]

const hostilePunches: ReadonlyArray<StoredPunch> = punches.slice(0, hostile.length).map((punch, at) =>
  Object.assign({}, punch, { notes: hostile[at] ?? "" })
)

const sandbox = (punches: ReadonlyArray<StoredPunch>) =>
  FakeServer.layer({ page: true }).pipe(Layer.provideMerge(FakeService.layer({ punches })))

const run = (f: () => Promise<unknown>) => Effect.promise(async () => void await f())

const textOf = (page: Page, selector: string) => Effect.promise(() => page.locator(selector).innerText())

/** The page of the server, once it shows punches. */
const opened = Effect.fnUntraced(function*(options: { readonly allows?: RegExp } = {}) {
  const { url } = yield* FakeServer
  const { open } = yield* browser
  const page = yield* open(`${url}/`, options)
  yield* run(() => page.locator("#rows tr").first().waitFor())
  return page
})

const idsOn = (page: Page) =>
  Effect.promise(async () => (await page.locator("#rows tr td:nth-child(2)").allInnerTexts()).map(Number))

/** Presses a button and waits until the table is another one. */
const turned = (page: Page, button: string) =>
  run(async () => {
    const before = await page.locator("#rows").innerText()
    await page.getByRole("button", { name: button, exact: true }).click()
    await page.waitForFunction(
      (before) => document.querySelector<HTMLElement>("#rows")?.innerText !== before,
      before
    )
  })

const row = (page: Page, id: number) => page.locator("#rows tr", { hasText: `${id}` }).first()

const storedRow = (id: number) =>
  Effect.map(
    FakeService.use(({ respond }) =>
      respond({
        method: "GET",
        url: `/v2/company/${defaultCompany.id}/time_punches?limit=200&deleted=null`,
        headers: { authorization: `Bearer ${defaultCompany.accessToken}` },
        body: ""
      })
    ),
    ({ body }): Record<string, unknown> | undefined =>
      JSON.parse(String(body)).data.find((row: { readonly id: number }) => row.id === id)
  )

describe("the page of a sandbox", () => {
  it.live("shows the punches of the service, its requests, and the lines that connect a client", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const { url } = yield* FakeServer
      const page = yield* opened()
      const [first] = punches
      const text = yield* textOf(page, "#rows tr:first-child")
      yield* run(() => page.locator("#log tr").first().waitFor())

      for (const part of [first?.id, first?.user_id, first?.clocked_in, ((first?.hourly_wage ?? 0) / 100).toFixed(2)]) {
        assert.include(text, `${part}`)
      }
      assert.include(yield* textOf(page, "#environment"), `export TIME_PUNCHES_BASE_URL=${url}\n`)
      assert.match(yield* textOf(page, "#log"), /GET \/v2\/company\/4021\/time_punches limit=20 from this page\s+200/)
      yield* looksRight(page)
    }).pipe(Effect.scoped, Effect.provide(sandbox(punches)))
  })

  it.live("turns the pages of the service forward and back, and shows every punch once", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const page = yield* opened()
      const pages = [yield* idsOn(page)]
      for (let at = 0; at < 2; at++) {
        yield* turned(page, "Next")
        pages.push(yield* idsOn(page))
      }
      const isLast = yield* Effect.promise(() => page.locator("#next").isDisabled())
      yield* turned(page, "Previous")

      assert.deepStrictEqual(pages.flat(), punches.map(({ id }) => id).toSorted((a, b) => a - b))
      assert.isTrue(isLast)
      assert.deepStrictEqual(yield* idsOn(page), pages[1])
    }).pipe(Effect.scoped, Effect.provide(sandbox(punches)))
  })

  it.live("injects the fault of a button, shows it until it strikes, and what became of the request", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const page = yield* opened({ allows: /status of 503/ })
      yield* run(() => page.getByRole("button", { name: "status 503" }).click())
      yield* run(() => page.locator("#active li").waitFor())
      const active = yield* textOf(page, "#active")
      yield* run(() => page.getByRole("button", { name: "First page" }).click())
      yield* run(() => page.locator("#page.bad").waitFor())
      yield* run(() => page.locator("#log td.bad").waitFor())
      const refused = yield* textOf(page, "#page")
      yield* run(() => page.getByRole("button", { name: "First page" }).click())
      yield* run(() => page.locator("#page.muted", { hasText: "20 punches" }).waitFor())

      assert.match(active, /^Status .*503.*: once$/)
      assert.match(refused, /^The service answers 503: /)
      assert.strictEqual(yield* textOf(page, "#log td.bad"), "503")
      assert.strictEqual(yield* Effect.promise(() => page.locator("#active li").count()), 0)
    }).pipe(Effect.scoped, Effect.provide(sandbox(punches)))
  })

  it.live("clears a fault that would last", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const service = yield* FakeService
      const page = yield* opened()
      yield* run(() => page.locator("#times").selectOption("always"))
      yield* run(() => page.getByRole("button", { name: "reset", exact: true }).click())
      yield* run(() => page.locator("#active li", { hasText: "Reset: until cleared" }).waitFor())
      const before = (yield* service.faults).length
      yield* run(() => page.getByRole("button", { name: "Clear all" }).click())
      yield* run(() => page.locator("#active li").waitFor({ state: "detached" }))

      assert.strictEqual(before, 1)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped, Effect.provide(sandbox(punches)))
  })

  it.live("corrects a punch, and says why the service refuses a correction", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const id = punches[4]?.id ?? 0
      const before = yield* storedRow(id)
      const page = yield* opened({ allows: /status of 422/ })
      const dialog = page.getByRole("dialog")
      yield* run(() => page.getByRole("button", { name: `Correct punch ${id}` }).click())
      yield* run(() => dialog.getByLabel("Hourly wage in cents").fill("17.5"))
      yield* run(() => dialog.getByRole("button", { name: "Save" }).click())
      yield* run(() => page.locator("#refused", { hasText: "hourly_wage" }).waitFor())
      const untouched = yield* storedRow(id)
      yield* looksRight(page)
      yield* run(() => dialog.getByLabel("Hourly wage in cents").fill("1750"))
      yield* run(() => dialog.getByLabel("Notes").fill("two\nlines"))
      yield* run(() => dialog.getByLabel("Clock-out").fill("2031-01-01T00:00:00Z"))
      yield* run(() => dialog.getByRole("button", { name: "Save" }).click())
      yield* run(() => row(page, id).getByText("17.50").waitFor())
      const after = yield* storedRow(id)

      assert.deepStrictEqual(untouched, before)
      assert.deepStrictEqual(after, {
        ...before,
        hourly_wage: 1750,
        notes: "two\nlines",
        clocked_out: "2031-01-01T00:00:00Z",
        modified: after?.["modified"]
      })
    }).pipe(Effect.scoped, Effect.provide(sandbox(punches)))
  })

  it.live("copies the lines that connect a client, of the company that is chosen", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const page = yield* opened()
      yield* run(() => page.getByLabel("Company").fill("4022"))
      yield* run(() => page.getByRole("button", { name: "Show" }).click())
      yield* run(() => page.locator("#environment", { hasText: "COMPANY_ID=4022" }).waitFor())
      yield* run(() => page.getByRole("button", { name: "Copy the lines" }).click())
      yield* run(() => page.locator("#copied", { hasText: "Copied." }).waitFor())
      const copied = yield* Effect.promise(() => page.evaluate(() => navigator.clipboard.readText()))

      assert.match(copied, /^# OAuth client:\nexport [^]*export TIME_PUNCHES_COMPANY_ID=4022\n/)
      assert.strictEqual(copied.trim(), (yield* textOf(page, "#environment")).trim())
    }).pipe(Effect.scoped, Effect.provide(sandbox(punches)))
  })

  it.live("shows hostile notes and requests as text, with their hidden characters", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const { url } = yield* FakeServer
      const page = yield* opened({ allows: /status of 404/ })
      const buttons = yield* Effect.promise(() => page.locator("button[data-fault=reset]").count())
      yield* run(() =>
        fetch(`${url}/${encodeURIComponent(hostile[0] ?? "")}?a=${encodeURIComponent(hostile[2] ?? "")}`)
      )
      yield* run(() => page.locator("#log td.bad").waitFor())
      const table = yield* textOf(page, "#rows")
      const log = yield* textOf(page, "#log")
      const made = yield* Effect.promise(() => page.locator("img, iframe, script:not([src]), a").count())

      for (
        const part of [hostile[0] ?? "", "\\u202egnirts", "bell\\u0007 escape\\u001b[31m null\\u0000 line\\u2028end"]
      ) {
        assert.include(table, part)
      }
      assert.include(log, "a=\\u202egnirts")
      const heights = yield* Effect.promise(() =>
        page.locator("#rows tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
      )
      assert.isBelow(Math.max(...heights), 90)
      assert.notMatch(table + log, /[\u0000-\u0008\u001b\u2028\u202a-\u202e\u2066-\u2069]/)
      assert.strictEqual(made, 0)
      assert.strictEqual(yield* Effect.promise(() => page.locator("button[data-fault=reset]").count()), buttons)
      yield* looksRight(page)
    }).pipe(Effect.scoped, Effect.provide(sandbox(hostilePunches)))
  })

  it.live("does nothing for a page on another port, and tells it nothing", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const { url } = yield* FakeServer
      const service = yield* FakeService
      const id = punches[0]?.id ?? 0
      const before = yield* storedRow(id)
      const press = JSON.stringify({ name: "reset", choice: 0, times: "always", target: "usual" })
      const elsewhere = yield* pageElsewhere(`<iframe title="Sandbox" src="${url}/"></iframe>
        <form method="post" enctype="text/plain" action="${url}/sandbox/faults" target="answer">
          <input name='${press.slice(0, -1)},"x' value='":0}'></form><iframe title="Answer" name="answer"></iframe>
        <a href="${url}/">Sandbox</a>`)
      const { open } = yield* browser
      const page = yield* open(elsewhere, { allows: /status of 403|CORS|ERR_FAILED|frame|Framing|MIME|EventSource/ })
      const told = yield* Effect.promise(() =>
        page.evaluate(async ({ id, press, url }) => {
          const told: Array<string> = []
          const ask = (path: string, init: RequestInit) =>
            fetch(`${url}${path}`, init).then((answer) => answer.text()).then(
              (text) => told.push(text),
              () => undefined
            )
          for (const mode of ["cors", "no-cors"] as const) {
            await ask("/sandbox/faults", { method: "POST", body: press, mode })
            await ask("/sandbox/log", { mode })
            await ask("/sandbox/companies/4021", { mode })
          }
          await ask(`/sandbox/time_punches/${id}`, { method: "PATCH", body: "{\"notes\":\"foreign\"}" })
          await ask("/sandbox/faults", { method: "DELETE" })
          await new Promise<void>((resolve) => {
            const events = new EventSource(`${url}/sandbox/log`)
            events.addEventListener("open", () => told.push("the log"))
            events.addEventListener("error", () => resolve())
          })
          document.querySelector("form")?.submit()
          await new Promise((resolve) => setTimeout(resolve, 500))
          return told
        }, { id, press, url })
      )

      assert.deepStrictEqual(told.filter((text) => text !== ""), [])
      assert.deepStrictEqual(yield* service.faults, [])
      assert.deepStrictEqual(yield* storedRow(id), before)
      yield* run(() => page.getByRole("link").click())
      yield* run(() => page.locator("#rows tr").first().waitFor())
    }).pipe(Effect.scoped, Effect.provide(sandbox(punches)))
  })
})

/** A page of another origin on this machine. */
const pageElsewhere = (body: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Http.Server; readonly url: string }>((resume) => {
      const server = Http.createServer((_request, response) => {
        response.setHeader("content-type", "text/html; charset=utf-8")
        response.end(`<!doctype html><title>Elsewhere</title>${body}`)
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address === null || typeof address === "string" ? 0 : address.port
        resume(Effect.succeed({ server, url: `http://127.0.0.1:${port}/` }))
      })
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map(({ url }) => url))
