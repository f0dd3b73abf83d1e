/** A report in a real Chromium: it looks right, loads nothing, prints, runs nothing of a hostile data set, and has right numbers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Fs from "node:fs"
import * as Http from "node:http"
import { defaultCompany, FakeService, generateWeeks, toWire } from "../../src/testing/index.ts"
import { cli, inFakeOf, temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { browser, hasChromium, looksRight, noChromium } from "./browser.ts"

/** Serves a page on loopback, and counts what else is requested. */
const served = Effect.fnUntraced(function*(html: string) {
  const requested: Array<string> = []
  const server = yield* Effect.acquireRelease(
    Effect.promise(() =>
      new Promise<Http.Server>((resolve) => {
        const server = Http.createServer(({ url = "" }, response) => {
          requested.push(url)
          response.setHeader("content-type", "text/html; charset=utf-8").end(url === "/report.html" ? html : "")
        })
        server.listen(0, "127.0.0.1", () => resolve(server))
      })
    ),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  )
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  return { url: `http://127.0.0.1:${port}/report.html`, requested }
})

const evil = "</text></title></style><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\u2066\u0007"

/** Three weeks with problems, whose notes and names try to break out. */
const punches = generateWeeks({ companyId: defaultCompany.id, people: 60, weeks: 3, problems: 0.2 }).map((stored) =>
  Object.assign(toWire(stored), { notes: evil })
)

/** Names that are as long as a service permits, that break at soft hyphens, or that are read from the right. */
const people = [
  evil,
  `Анна Петрова-Воскресенская`,
  "x".repeat(200),
  "Donau\u00addampf\u00adschiff\u00adfahrts\u00adgesell\u00adschafts\u00adkapitän Mül\u00adler",
  "عبد الرحمن الأحمدي"
]

const files = Effect.map(temporaryFolder, (folder) => {
  const rows = [
    ...Array.from(
      { length: 60 },
      (_, at) => ["user", 501 + at, people[at % people.length]]
    ),
    ["location", 301, "Harbour Kitchen & Bar at the Old Fish Market"],
    ["location", 302, evil],
    ["location", 303, "W".repeat(200)]
  ]
  const cell = (value: string | number | undefined) => `"${`${value}`.replaceAll("\"", "\"\"")}"`
  const names = `${folder}/names.csv`
  Fs.writeFileSync(names, ["kind,id,name", ...rows.map((row) => row.map(cell).join(","))].join("\n"))
  return { names, database: `${folder}/punches.db` }
})

const inFake = inFakeOf(punches)

const week = ["--week", "2026-03-04", "--zone", "America/New_York"]

const Sums = Schema.Array(Schema.Array(Schema.Number))

/** The exact values of the rows of a table. */
const valuesOf = (caption: string) =>
  `[...document.querySelectorAll("table")].find((table) => table.caption.textContent === ${JSON.stringify(caption)})
    .querySelectorAll("tbody tr").values().map((row) => [...row.querySelectorAll("data")].map(({ value }) => Number(value)))
    .toArray()`

/** The cells of tables of sums that do not stand behind the title of their column. */
const otherTitles = `[...document.querySelectorAll(".rows tr:has(td) > *")].filter((cell) => {
  const title = cell.closest("table").querySelectorAll("thead th")[cell.cellIndex].textContent
  const shown = getComputedStyle(cell, "::before").content
  return (shown.startsWith('"') ? JSON.parse(shown) : "") !== (cell.cellIndex === 0 || cell.textContent === "" ? "" : title)
}).map((cell) => cell.outerHTML)`

const byKey = (rows: ReadonlyArray<ReadonlyArray<number>>) => rows.toSorted(([one = 0], [other = 0]) => one - other)

describe("a report in Chromium", () => {
  it.live(
    "looks right at both widths in light and dark, loads nothing, prints, and runs nothing of hostile data",
    (context) => {
      needs(context, hasChromium, noChromium)
      return inFake(Effect.gen(function*() {
        const { names } = yield* files
        const ran = yield* cli([
          "report",
          ...week,
          "--names",
          names,
          "--weekly-threshold",
          "38h",
          "--daily-threshold",
          "9h",
          "--double-threshold",
          "10h"
        ])
        assert.strictEqual(ran.code, 0, ran.stderr)
        const { requested, url } = yield* served(ran.stdout)
        const { open } = yield* browser
        const page = yield* open(url)
        yield* looksRight(page)
        yield* Effect.promise(() => page.setViewportSize({ width: 375, height: 900 }))
        const [first] = yield* Effect.promise(() => page.locator("#issues tbody tr").allInnerTexts())
        const edges = yield* Effect.promise(() =>
          page.evaluate(
            `[...document.querySelectorAll("#issues tbody td")].map((cell) => cell.getBoundingClientRect().right)`
          )
        )
        const wrong = yield* Effect.promise(() => page.evaluate(otherTitles))
        assert.deepStrictEqual(wrong, [])
        assert.match(first ?? "", /\((?:5\d\d)\)\n[a-z]+\n\S+/i)
        assert.isAtMost(Math.max(...Schema.decodeUnknownSync(Schema.Array(Schema.Number))(edges)), 375)
        yield* Effect.promise(() =>
          page.evaluate(`document.querySelectorAll("summary").forEach((summary) => summary.click())`)
        )
        yield* Effect.promise(() => page.getByText("People on the clock by hour and weekday").waitFor())
        yield* looksRight(page)
        const pdf = yield* Effect.promise(() => page.pdf({ format: "A4" }))
        const active = yield* Effect.promise(() =>
          page.evaluate(`document.querySelectorAll("script, img, iframe, link, object").length`)
        )
        const rows = yield* Effect.promise(() => page.evaluate(valuesOf("By person")))
        const { stdout } = yield* cli([
          "summary",
          "--by",
          "user",
          ...week,
          "--weekly-threshold",
          "38h",
          "--daily-threshold",
          "9h",
          "--double-threshold",
          "10h",
          "--json"
        ])
        const summed: ReadonlyArray<Record<string, number>> = JSON.parse(stdout)

        assert.deepStrictEqual([active, requested], [0, ["/report.html"]])
        assert.match(Buffer.from(pdf.subarray(0, 5)).toString(), /^%PDF-$/)
        assert.isAbove(pdf.length, 20_000)
        assert.deepStrictEqual(
          byKey(Schema.decodeUnknownSync(Sums)(rows)),
          byKey(summed.map((row) =>
            [
              "userId",
              "punches",
              "incomplete",
              "netSeconds",
              "overSeconds",
              "doubleSeconds",
              "costCents",
              "tipsCents"
            ]
              .map((name) => row[name] ?? Number.NaN)
          ))
        )
      }))
    }
  )

  it.live("has texts in its charts that stay within their drawing", (context) => {
    needs(context, hasChromium, noChromium)
    return inFake(Effect.gen(function*() {
      const { names } = yield* files
      const { stdout } = yield* cli(["report", ...week, "--names", names, "--weekly-threshold", "38h"])
      const { url } = yield* served(stdout)
      const { open } = yield* browser
      const page = yield* open(url)
      for (const width of [375, 1440]) {
        yield* Effect.promise(() => page.setViewportSize({ width, height: 900 }))
        const found = yield* Effect.promise(() =>
          page.evaluate(`(() => {
          const inside = (one, other) => one.left >= other.left - 1 && one.right <= other.right + 1 &&
            one.top >= other.top - 1 && one.bottom <= other.bottom + 1
          const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 &&
            one.top < other.bottom - 1 && other.top < one.bottom - 1
          const drawings = [...document.querySelectorAll("figure svg")].filter((svg) => svg.getBoundingClientRect().width > 0)
          return [drawings.length, drawings.flatMap((svg) => {
            const texts = [...svg.querySelectorAll("text")]
            const boxes = texts.map((text) => text.getBoundingClientRect())
            return texts.filter((_, at) => !inside(boxes[at], svg.getBoundingClientRect()) ||
              boxes.some((box, other) => other < at && meet(boxes[at], box))).map((text) => text.textContent)
          })]
        })()`)
        )

        assert.deepStrictEqual(found, [4, []], `${width}`)
      }
    }))
  })

  it.live("has a policy that stops a script which somebody adds", (context) => {
    needs(context, hasChromium, noChromium)
    return inFake(Effect.gen(function*() {
      const { stdout } = yield* cli(["report", ...week])
      const added = stdout.replace(
        "</main>",
        `<script>document.title = "ran"</script><p style="color: red">x</p></main>`
      )
      const { url } = yield* served(added)
      const { open } = yield* browser
      const page = yield* open(url, { allows: /Content Security Policy/ })

      assert.notStrictEqual(added, stdout)
      assert.strictEqual(yield* Effect.promise(() => page.title()), `Labour report of company ${defaultCompany.id}`)
    }))
  })

  it.live("looks right for a close with its corrections", (context) => {
    needs(context, hasChromium, noChromium)
    return inFake(Effect.gen(function*() {
      const service = yield* FakeService
      const { database, names } = yield* files
      const on = (...args: ReadonlyArray<string>) => cli([...args, "--database", database])
      yield* on("sync", "--history")
      const kinds = "open,unapproved,overlap,tooLong,anomaly,zeroWage,autoClockedOut,gap,stale"
      yield* on("payroll", "close", ...week, "--weekly-threshold", "38h", "--accept", kinds, "--note", evil)
      yield* service.edit([1002, 1003, 1010], { clocked_out: "2026-03-05T12:00:00Z" })
      yield* on("sync", "--history")
      yield* on("payroll", "correct")
      const ran = yield* on("report", "--close", "1", "--names", names)
      assert.strictEqual(ran.code, 0, ran.stderr)
      const { requested, url } = yield* served(ran.stdout)
      const { open } = yield* browser
      yield* looksRight(yield* open(url))

      assert.include(ran.stdout, "<caption>2 revisions</caption>")
      assert.deepStrictEqual(requested, ["/report.html"])
    }))
  })
})
