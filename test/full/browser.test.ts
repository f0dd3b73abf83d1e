/** The Chromium of the tests sees what a page does wrong, and leaves nothing behind. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, type Scope } from "effect"
import * as Fs from "node:fs"
import * as Http from "node:http"
import type { Page } from "playwright-core"
import { html, markup, page } from "../../src/internal/page/html.ts"
import { needs } from "../support/needs.ts"
import { axe, browser, fits, hasChromium, looksRight, noChromium } from "./browser.ts"

/** A server of one page, with this head and body. */
const served = (body: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly server: Http.Server }>((resume) => {
      const server = Http.createServer((_request, response) => {
        response.setHeader("content-type", "text/html")
        response.end(page({ title: "A page", body: html`<main><h1>A page</h1>${markup(body)}</main>` }))
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address === null || typeof address === "string" ? 0 : address.port
        resume(Effect.succeed({ server, url: `http://127.0.0.1:${port}/` }))
      })
    }),
    ({ server }) => Effect.sync(() => server.closeAllConnections() ?? server.close())
  )

/** Opens a page with this body, looks at it, and closes it: what fails, as text. */
const failure = (body: string, look: (page: Page) => Effect.Effect<void, never, Scope.Scope>, allows?: RegExp) =>
  Effect.gen(function*() {
    const { url } = yield* served(body)
    const { open } = yield* browser
    yield* look(yield* open(url, allows === undefined ? {} : { allows }))
  }).pipe(
    Effect.scoped,
    Effect.exit,
    Effect.map(Exit.match({ onSuccess: () => "", onFailure: Cause.pretty }))
  )

/** Waits until a script has run and its request has failed. */
const settled = (page: Page) => Effect.promise(() => page.waitForTimeout(300))

describe("the Chromium of the tests", () => {
  it.live("accepts a page without faults", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      assert.strictEqual(yield* failure("<p>Text</p>", looksRight), "")
    })
  })

  it.live.each(
    [
      ["an error on the console", "<script>console.error('noted')</script>", /console: noted/],
      ["an error that is thrown", "<script>throw new Error('broken')</script>", /thrown: Error: broken/],
      ["a dialog", "<script>alert('hello')</script>", /dialog: hello/],
      ["an image from elsewhere", "<img alt=x src=http://example.com/a.png>", /request outside: http:\/\/example.com/],
      ["an address of another machine", "<img alt=x src=http://192.0.2.1/a.png>", /outside: http:\/\/192.0.2.1/],
      ["a socket to elsewhere", "<script>new WebSocket('ws://example.com/')</script>", /outside: ws:\/\/example.com/]
    ] as const
  )("fails for %s", ([, body, message], context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      assert.match(yield* failure(body, settled), message)
    })
  })

  it.live("accepts the errors that a test allows, and no other", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const body = "<script>console.error('one'); console.error('two')</script>"
      const text = yield* failure(body, settled, /one/)

      assert.match(text, /console: two/)
      assert.notInclude(text, "console: one")
    })
  })

  it.live.each(
    [
      ["an image without a text", "<img src=data:,>", axe, /image-alt/],
      ["a contrast that is too small, in dark colours only", "<p style='color:#333'>Text</p>", axe, /dark colours/],
      ["a page that is wider than a phone", "<p style='width:600px'>Text</p>", (page: Page) => fits(page, 375), /375/],
      [
        "a table that must be scrolled on a phone",
        "<div style='overflow-x:auto' class=scroll><p style='width:600px'>Text</p></div>",
        (page: Page) => fits(page, 375),
        /class="scroll"/
      ],
      [
        "a table that is none on a phone",
        "<style>@media (max-width:600px) { table { display: none } }</style><table><tr><th>1<td>2</table>",
        looksRight,
        /other tables on a phone/
      ]
    ] as const
  )("fails for %s", ([, body, look, message], context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      assert.match(
        yield* failure(
          `<style>body { background: light-dark(#fff, #222) } :root { color-scheme: light dark }
        </style>${body}`,
          look
        ),
        message
      )
    })
  })

  it.live("leaves no process and no file", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const [profile, during] = yield* Effect.scoped(Effect.gen(function*() {
        const { url } = yield* served("<p>Text</p>")
        const { open, profile } = yield* browser
        yield* open(url)
        return [profile, processesOf(profile)] as const
      }))

      assert.isAbove(during, 0)
      assert.strictEqual(processesOf(profile), 0)
      assert.isFalse(Fs.existsSync(profile))
    })
  })
})

/** How many processes name a folder in their arguments. */
const processesOf = (folder: string): number =>
  Fs.globSync("/proc/[0-9]*/cmdline").filter((file) => {
    try {
      return Fs.readFileSync(file, "utf8").includes(folder)
    } catch {
      // It ended since it was listed.
      return false
    }
  }).length
