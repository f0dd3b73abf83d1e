/**
 * Chromium for tests: `TIME_PUNCHES_TEST_CHROMIUM`, or Debian's. It ends with the scope, and its profile is removed.
 * `needs(context, hasChromium, noChromium)` skips a test if neither is found; `npm run test:full` fails then.
 */
import { Effect, Schema, type Scope } from "effect"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Page } from "playwright-core"

const executable = process.env["TIME_PUNCHES_TEST_CHROMIUM"] ?? "/usr/bin/chromium"

export const hasChromium: boolean = Fs.existsSync(executable)

/** Why a test is skipped that needs Chromium. */
export const noChromium =
  "no Chromium: set TIME_PUNCHES_TEST_CHROMIUM to its program, or install it (Debian: apt-get install chromium)"

/** A phone and a desktop, in pixels. */
export const widths = [375, 1440] as const

interface OpenOptions {
  /** Width of the window in pixels. Default: 1440. */
  readonly width?: number
  /** Console errors that the test causes on purpose, such as the status of a refused request. */
  readonly allows?: RegExp
}

interface Browser {
  /** The folder of its profile, which each of its processes names in its arguments. */
  readonly profile: string
  /**
   * Opens an address. When the scope closes, the test fails if the page wrote an error to the console, threw one, opened a
   * dialog or a window, or sent a request to another machine.
   */
  readonly open: (url: string, options?: OpenOptions) => Effect.Effect<Page, never, Scope.Scope>
}

/** No name resolves, so that not even a request that fails the test leaves this machine. */
const flags = [
  "--disable-background-networking",
  "--disable-gpu",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]"
]

/** A separate Chromium. */
export const browser: Effect.Effect<Browser, never, Scope.Scope> = Effect.gen(function*() {
  const profile = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "time-punches-chromium-"))),
    (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  )
  const context = yield* Effect.acquireRelease(
    Effect.promise(() =>
      chromium.launchPersistentContext(profile, {
        executablePath: executable,
        headless: true,
        chromiumSandbox: false,
        args: flags,
        permissions: ["clipboard-read", "clipboard-write"]
      })
    ),
    (context) => Effect.promise(() => context.close())
  )
  const open = Effect.fnUntraced(function*(url: string, { allows, width = 1440 }: OpenOptions = {}) {
    const page = yield* Effect.acquireRelease(
      Effect.promise(() => context.newPage()),
      (page) => Effect.promise(() => page.close())
    )
    const faults: Array<string> = []
    const found = (fault: string) => {
      if (allows?.test(fault) !== true) faults.push(fault)
    }
    page.on("console", (message) => {
      if (message.type() === "error") found(`console: ${message.text()} (${message.location().url})`)
    })
    page.on("pageerror", (error) => found(`thrown: ${error.stack ?? error.message}`))
    page.on("dialog", (dialog) => {
      found(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on("popup", (popup) => found(`window: ${popup.url()}`))
    page.on("request", (request) => {
      if (!isHere(request.url())) found(`request outside: ${request.url()}`)
    })
    page.on("websocket", (socket) => {
      if (!isHere(socket.url())) found(`socket outside: ${socket.url()}`)
    })
    yield* Effect.addFinalizer(() =>
      faults.length === 0 ? Effect.void : Effect.die(new Error(`${url} in Chromium:\n${faults.join("\n")}`))
    )
    yield* Effect.promise(() => page.setViewportSize({ width, height: 900 }))
    yield* Effect.promise(() => page.goto(url))
    return page
  })
  return { profile, open }
})

const isHere = (address: string): boolean => {
  const { hostname, protocol } = new URL(address)
  return ["about:", "blob:", "data:", "file:"].includes(protocol) ||
    ["localhost", "127.0.0.1", "[::1]"].includes(hostname)
}

const axeSource = Fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const Violations = Schema.Array(
  Schema.Struct({ id: Schema.String, help: Schema.String, nodes: Schema.Array(Schema.String) })
)

/** Fails if axe-core finds a serious or critical violation, in light or in dark colours. */
export const axe = Effect.fnUntraced(function*(page: Page) {
  // Chromium evaluates it for the driver: no policy of the page applies, and none has to be weakened.
  yield* Effect.promise(() => page.evaluate(axeSource))
  for (const colorScheme of ["light", "dark"] as const) {
    yield* Effect.promise(() => page.emulateMedia({ colorScheme }))
    const found = yield* Effect.promise(() =>
      page.evaluate(`axe.run(document).then(({ violations }) =>
        violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, help, nodes }) =>
          ({ id, help, nodes: nodes.map(({ html }) => html) })))`)
    )
    const violations = yield* Schema.decodeUnknownEffect(Violations)(found).pipe(Effect.orDie)
    if (violations.length > 0) {
      const lines = violations.map(({ help, id, nodes }) => `${id}: ${help}\n  ${nodes.slice(0, 5).join("\n  ")}`)
      return yield* Effect.die(new Error(`axe-core, ${colorScheme} colours, ${page.url()}:\n${lines.join("\n")}`))
    }
  }
})

/** Elements whose right edge is outside the window, except inside of one that scrolls; on a phone no table scrolls. */
const outside = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth > clientWidth) return ["the document, of " + scrollWidth + " pixels"]
  const tables = clientWidth > 600 ? [] : [...document.querySelectorAll(".scroll, .wide")]
    .filter((table) => table.scrollWidth > table.clientWidth).map((table) => table.outerHTML.slice(0, 120))
  if (tables.length > 0) return tables
  const scrolls = (element) => element !== null &&
    (["auto", "scroll"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
  const right = document.documentElement.clientWidth + 1
  return [...document.body.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > right && !scrolls(element.parentElement))
    .map((element) => element.outerHTML.slice(0, 120))
})()`

/** Fails if the page, at this width in pixels, must be scrolled sideways. */
export const fits = Effect.fnUntraced(function*(page: Page, width: number) {
  yield* Effect.promise(() => page.setViewportSize({ width, height: 900 }))
  for (const colorScheme of ["light", "dark"] as const) {
    yield* Effect.promise(() => page.emulateMedia({ colorScheme }))
    const found = yield* Effect.promise(() => page.evaluate(outside))
    const elements = yield* Schema.decodeUnknownEffect(Schema.Array(Schema.String))(found).pipe(Effect.orDie)
    if (elements.length > 0) {
      return yield* Effect.die(
        new Error(`${page.url()} at ${width} pixels is too narrow for:\n${elements.join("\n")}`)
      )
    }
  }
})

/** How many tables, rows, headings of columns and rows, and cells assistive technology finds. */
const tableRoles = Effect.fnUntraced(function*(page: Page) {
  const session = yield* Effect.promise(() => page.context().newCDPSession(page))
  const { nodes } = yield* Effect.promise(() => session.send("Accessibility.getFullAXTree"))
  yield* Effect.promise(() => session.detach())
  return ["table", "row", "columnheader", "rowheader", "cell"].map((role) =>
    `${role} ${nodes.filter((node) => !node.ignored && node.role?.value === role).length}`
  ).join(", ")
})

/** Both at each of the `widths`, with the same tables for assistive technology; a tablet between them has room too. */
export const looksRight = Effect.fnUntraced(function*(page: Page) {
  yield* fits(page, 768)
  const roles = new Set<string>()
  for (const width of widths) {
    yield* fits(page, width)
    yield* axe(page)
    roles.add(yield* tableRoles(page))
  }
  if (roles.size > 1) {
    return yield* Effect.die(new Error(`${page.url()} has other tables on a phone: ${[...roles].join("; ")}`))
  }
})
