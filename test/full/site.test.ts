/** `npm run docs` in a clone: it warns of nothing, no link of the site is broken, a search finds pages, and a browser shows them right. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { rm } from "node:fs/promises"
import * as Http from "node:http"
import { dirname, extname, join, relative } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { groupsOf } from "../../docs/site/pages.ts"
import { needs } from "../support/needs.ts"
import { axe, browser, fits, hasChromium, looksRight, noChromium, widths } from "./browser.ts"
import { makeClone, succeed } from "./project.ts"

let clone = ""
let site = ""

beforeAll(async () => {
  clone = await makeClone()
  site = join(clone, "site")
  const { stderr, stdout } = await succeed(clone, "npm", "run", "docs", "--silent")
  assert.notMatch(stdout + stderr, /warning/i)
})

afterAll(() => rm(clone, { recursive: true, force: true }))

const pagesBelow = (folder: string): ReadonlyArray<string> =>
  Fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"))

/** The addresses of the pages that Markdown links. */
const pagesOf = (links: string): ReadonlyArray<string> => [
  ...new Set([...links.matchAll(/\]\(([\w/-]+)\.md/g)].map(([, path = ""]) => `${path}.html`))
]

/** Every address that a page names, and every place in it that an address may name. */
const readPage = (path: string) => {
  const html = Fs.readFileSync(join(site, path), "utf8")
  const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, found = ""]) => found.replaceAll("&amp;", "&"))
  return { path, links: all(/<[^>]+\s(?:href|src)="([^"]*)"/g), places: new Set(all(/\sid="([^"]*)"/g)) }
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml"
}

/** Serves the site on loopback, as a host of static files does. */
const served = Effect.gen(function*() {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() =>
      new Promise<Http.Server>((resolve) => {
        const server = Http.createServer(({ url = "" }, response) => {
          const { pathname } = new URL(url, "http://localhost")
          const file = join(site, pathname)
          if (!Fs.existsSync(file)) return void response.writeHead(404).end()
          response.setHeader("content-type", types[extname(file)] ?? "text/plain").end(Fs.readFileSync(file))
        })
        server.listen(0, "127.0.0.1", () => resolve(server))
      })
    ),
    (server) =>
      Effect.promise(() =>
        new Promise((resolve) => {
          server.close(resolve)
          server.closeAllConnections()
        })
      )
  )
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  return (path: string) => `http://127.0.0.1:${port}/${path}`
})

describe("the site", () => {
  it("has no broken link, and loads nothing of another host", () => {
    const pages = new Map([...pagesBelow(site), "assets/icons.svg"].map((path) => [path, readPage(path)]))
    const links = [...pages.values()].flatMap(({ links, path }) => links.map((link) => ({ path, link })))
    const broken = links.filter(({ link }) => !/^(?:https?|mailto|data):/.test(link)).filter(({ link, path }) => {
      const [file = "", place = ""] = link.split("#").map(decodeURIComponent)
      const target = file === "" ? path : relative(site, join(site, dirname(path), file.split("?")[0] ?? ""))
      return !Fs.existsSync(join(site, target)) || place !== "" && pages.get(target)?.places.has(place) !== true
    })

    assert.isAbove(links.length, 1000)
    assert.deepStrictEqual(broken, [])
    for (const { path } of pages.values()) {
      assert.notMatch(
        Fs.readFileSync(join(site, path), "utf8"),
        /<(?:script|link|img)[^>]+(?:href|src)="(?:https?:)?\/\//,
        path
      )
    }
  })

  it("has the pages of the README in its order, and each subpath of the package", () => {
    const readme = Fs.readFileSync(join(clone, "README.md"), "utf8")
    const manifest: { readonly exports: Record<string, unknown> } = JSON.parse(
      Fs.readFileSync(join(clone, "package.json"), "utf8")
    )
    const subpaths = Object.entries(manifest.exports).filter(([name, target]) =>
      target !== null && typeof target === "object" && !name.includes("*")
    )

    for (const [, page = ""] of readme.matchAll(/\]\(((?:docs\/)?[\w-]+)\.md/g)) {
      assert.isTrue(Fs.existsSync(join(site, `${page}.html`)), page)
    }
    for (const [name] of subpaths) {
      assert.isTrue(Fs.existsSync(join(site, "reference", `${join("effect-time-punches", name)}.html`)), name)
    }
  })

  it.live("fits each page of text in both widths, and passes axe in light and dark", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const at = yield* served
      const { open } = yield* browser
      const page = yield* open(at("index.html"))
      const texts = pagesBelow(site).filter((path) => !path.startsWith("reference/") && !path.includes("examples/"))
      for (const path of texts) {
        yield* Effect.promise(() => page.goto(at(path)))
        for (const width of widths) yield* fits(page, width)
      }
      // One stylesheet and one theme: axe looks at one page of each kind.
      const reference = ["TimePunches", "ListOptions", "payroll/Period"].map((name) =>
        `reference/effect-time-punches/${name}.html`
      )
      for (const path of ["index.html", ...reference]) {
        yield* Effect.promise(() => page.goto(at(path)))
        yield* looksRight(page)
      }
    }).pipe(Effect.scoped)
  })

  it("has a link to the next page at the end of each page of the README's groups but the last", () => {
    const pages = groupsOf(Fs.readFileSync(join(clone, "README.md"), "utf8")).flatMap(([, links]) => pagesOf(links))
    pages.forEach((path, at) => {
      const [, next] =
        /<p>Next: <a href="([^"]+)"[^]*?<\/p>\s*<\/div>/.exec(Fs.readFileSync(join(site, path), "utf8")) ?? []
      assert.strictEqual(next === undefined ? undefined : join(dirname(path), next), pages[at + 1], path)
    })
  })

  it.live("has the README's groups as headings of its menu, and columns that hold code and text", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const at = yield* served
      const { open } = yield* browser
      const page = yield* open(at("index.html"))
      const menu = page.locator("#tsd-nav-container > li")
      yield* Effect.promise(() => menu.first().waitFor())
      const shown = yield* Effect.promise(() =>
        menu.evaluateAll((items) =>
          items.map((item) => item.querySelector(":scope > a")?.getAttribute("href") ?? item.textContent)
        )
      )
      const groups = groupsOf(Fs.readFileSync(join(clone, "README.md"), "utf8"))
      assert.strictEqual(groups.length, 4)
      const expected = groups.flatMap(([name, links]) => [name].concat(pagesOf(links)))
      assert.deepStrictEqual(shown.slice(0, expected.length).map((item) => item?.replace("./", "")), expected)
      assert.notInclude(Fs.readFileSync(join(site, "examples.html"), "utf8"), "START HERE")
      assert.match(
        yield* Effect.promise(() => page.locator("pre").first().innerText()),
        /^npm ci && npm pack/
      )

      yield* Effect.promise(() => page.goto(at("docs/05-errors-and-retries.html")))
      assert.isFalse(yield* Effect.promise(() => page.locator(".tsd-breadcrumb").isVisible()))
      for (const width of [1280, 1440]) {
        yield* Effect.promise(() => page.setViewportSize({ width, height: 900 }))
        const widths = yield* Effect.forEach(
          ["p", "pre", ".wide"],
          (name) =>
            Effect.promise(() =>
              page.locator(`.tsd-typography > ${name}`).first().evaluate((found) => found.getBoundingClientRect().width)
            )
        )
        assert.deepStrictEqual(widths, [768, 768, 768])
      }
    }).pipe(Effect.scoped)
  })

  it.live("finds sections, flags and names with the text around the words, the best first", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const at = yield* served
      const { open } = yield* browser
      const page = yield* open(at("index.html"))
      const results = page.locator("#tsd-search-results a")
      const search = Effect.fnUntraced(function*(query: string) {
        yield* Effect.promise(() => page.locator("#tsd-search-input").fill(query))
        return yield* Effect.promise(() => results.allInnerTexts())
      })
      yield* Effect.promise(() => page.locator("#tsd-search-trigger").click())
      const first = {
        "resumeFrom": /resum/i,
        "deadline": /^Read and resume › Deadlines\n.*deadline/,
        "time zone": /zone.*\n.*time zone/i,
        "overtime": /^(?!Changelog).*overtime/i,
        "is not set": /^Errors and retries › .*\n.*is not set/,
        "--week": /› --week .+\n.*\w/,
        "TIME_PUNCHES_COMPANY_ID": /› TIME_PUNCHES_COMPANY_ID\n/
      }
      for (const [query, shows] of Object.entries(first)) assert.match((yield* search(query))[0] ?? "", shows, query)
      assert.include((yield* search("deadline")).join("\n"), "› ListOptions.deadline\n")
      assert.deepStrictEqual(yield* search("--no-such-flag"), [])
      assert.strictEqual(
        yield* Effect.promise(() => page.locator("#tsd-search-status").innerText()),
        "No results for “--no-such-flag”"
      )
      yield* search("RetryPolicy")
      yield* axe(page)
      yield* Effect.promise(() => page.keyboard.press("ArrowDown"))
      yield* Effect.promise(() => page.keyboard.press("Enter"))
      yield* Effect.promise(() => page.locator("h1", { hasText: /Class RetryPolicy/ }).waitFor())
    }).pipe(Effect.scoped)
  })
})
