/** `Report.toHtml` as a program calls it: one pass, one file that loads nothing, and texts that stay texts. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Stream } from "effect"
import * as Crypto from "node:crypto"
import { BusinessDate, LocationId } from "../../src/Ids.ts"
import { Labor, Period, PeriodCheck } from "../../src/payroll/index.ts"
import { Report } from "../../src/report/index.ts"
import { punch } from "../../src/testing/TestClient.ts"
import { rowsOf } from "../cli/report/tables.ts"

const options: Report.ReportOptions = {
  dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
  period: (dayRule) => Period.localDays(dayRule, BusinessDate.make("2026-03-04"), BusinessDate.make("2026-03-08")),
  rounding: "halfUp"
}

const days = [2, 3, 4, 5, 6, 7, 8, 9].map((day) => punch({ clockedIn: `2026-03-0${day}T14:00:00Z` }))

describe("Report.toHtml", () => {
  it.effect("reads its punches once", () =>
    Effect.gen(function*() {
      let runs = 0
      yield* Report.toHtml(Stream.suspend(() => (runs++, Stream.fromIterable(days))), options)

      assert.strictEqual(runs, 1)
    }))

  it("lists what the check and the thresholds read around the period", () => {
    const withThreshold = { ...options, weeklyThreshold: "40 hours" } satisfies Report.ReportOptions
    const [plain, wide] = [Report.queryWindow(options), Report.queryWindow(withThreshold)]

    const { dayRule, period } = options
    const checked = PeriodCheck.queryWindow({ dayRule, period })
    assert.deepStrictEqual(plain, checked)
    assert.deepStrictEqual(wide, {
      gte: Labor.queryWindow({ dayRule, period, weeklyThreshold: "40 hours" }).gte,
      lt: checked.lt
    })
  })

  it.effect("has the issues first, and a figure of the incomplete punches that leads to them", () =>
    Effect.gen(function*() {
      const open = punch({ id: 9, clockedIn: "2026-03-04T14:00:00Z", clockedOut: null })
      const page = yield* Report.toHtml(Stream.make(open), options)
      const whole = yield* Report.toHtml(Stream.fromIterable(days), options)

      assert.include(page, `<dt>incomplete</dt><dd class="warn"><a href="#issues">1</a></dd>`)
      assert.include(whole, "<dt>incomplete</dt><dd>0</dd>")
      assert.match(page, /<\/dl>\s*<section id="issues">/)
    }))

  it.effect("shows a soft hyphen of a name as a place to break it, and no other hidden character", () =>
    Effect.gen(function*() {
      const page = yield* Report.toHtml(Stream.fromIterable(days), {
        ...options,
        names: () => "Anna\u00adlena\u00ad\u200b"
      })

      assert.include(page, "Anna\u00adlena\\u00ad\\u200b (501)")

      const long = yield* Report.toHtml(Stream.fromIterable(days), {
        ...options,
        names: () => "a\u00ad".repeat(60)
      })
      // A chart has the beginning of a long name, and no sign for the hyphen at its end.
      assert.include(long, "a…")
      assert.notInclude(long, "\\u00ad…")
    }))

  it.effect("counts the days before a cut week for its threshold, and shows the period alone", () =>
    Effect.gen(function*() {
      const page = yield* Report.toHtml(Stream.fromIterable(days), { ...options, weeklyThreshold: "40 hours" })

      assert.deepInclude(rowsOf(page, "By person")[0], { net: 5 * 8 * 3600, over: 2 * 8 * 3600 })
      assert.deepStrictEqual(
        rowsOf(page, "By day").map(({ date }) => date),
        [4, 5, 6, 7, 8].map((day) => `2026-03-0${day}`)
      )
      assert.include(page, "1 person with time over 40:00 in a week.")
    }))

  it.effect("has a table of the numbers of a chart that no sum shows, for who cannot see it", () =>
    Effect.gen(function*() {
      const punches = Stream.make(
        punch({ id: 1, clockedIn: "2026-03-04T14:00:00Z", clockedOut: "2026-03-04T15:30:00Z" }),
        punch({ id: 2, clockedIn: "2026-03-04T15:00:00Z", clockedOut: "2026-03-04T16:00:00Z", locationId: 302 }),
        punch({ id: 3, clockedIn: "2026-03-08T15:00:00Z", clockedOut: "2026-03-08T15:02:00Z", locationId: 302 })
      )
      const page = yield* Report.toHtml(punches, { ...options, firstDay: "sunday" })
      const people = rowsOf(page, "People on the clock by hour and weekday")

      assert.deepStrictEqual(rowsOf(page, "Net hours by day and location"), [
        { date: "2026-03-04", "location 301": 5400, "location 302": 3600 },
        { date: "2026-03-08", "location 301": 0, "location 302": 120 }
      ])
      assert.lengthOf(people, 24)
      assert.deepStrictEqual(Object.keys(people[0] ?? {}), ["hour", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"])
      assert.deepStrictEqual(people.slice(9, 12).map(({ Sun, Wed, hour }) => [hour, Wed, Sun]), [
        ["9:00", 1, 0],
        ["10:00", 1.5, 0],
        ["11:00", 0, 2 / 60]
      ])
      for (const caption of ["Net hours by day and location", "People on the clock by hour and weekday"]) {
        assert.match(
          page,
          new RegExp(`<details>\\n<summary>[^<]+</summary>\\n<div [^>]*>\\n<table>\\n<caption>${caption}`)
        )
      }
    }))

  it.effect("leaves out deleted punches, and those that are not selected", () =>
    Effect.gen(function*() {
      const punches = Stream.make(
        punch({ id: 1, clockedIn: "2026-03-04T14:00:00Z" }),
        punch({ id: 2, clockedIn: "2026-03-05T14:00:00Z", deleted: true }),
        punch({ id: 3, clockedIn: "2026-03-06T14:00:00Z", locationId: 302 })
      )
      const page = yield* Report.toHtml(punches, {
        ...options,
        select: ({ locationId }) => locationId === LocationId.make(301)
      })

      assert.include(page, "<h2>Sums</h2>")
      assert.deepStrictEqual(rowsOf(page, "By location").map(({ location, punches }) => [location, punches]), [[
        301,
        1
      ]])
    }))

  it.effect("fails for a location without a day rule, and before a sum could be wrong", () =>
    Effect.gen(function*() {
      const missing = yield* Effect.flip(
        Report.toHtml(Stream.fromIterable(days), { ...options, dayRule: Period.dayRules(new Map()) })
      )
      const tips = Number.MAX_SAFE_INTEGER
      const much = Stream.fromIterable(
        [1, 2].map((id) => punch({ id, userId: id, locationId: id, tips, clockedIn: `2026-03-0${3 + id}T14:00:00Z` }))
      )
      const overflow = yield* Effect.flip(Report.toHtml(much, options))

      assert.strictEqual(missing._tag, "MissingDayRule")
      assert.strictEqual(overflow._tag, "SumOverflow")
    }))

  it.effect("is one file without a script, whose policy permits its one style and nothing else", () =>
    Effect.gen(function*() {
      const page = yield* Report.toHtml(Stream.fromIterable(days), options)
      const [, style = ""] = /<style>([^]*?)<\/style>/.exec(page) ?? []
      const hash = Crypto.createHash("sha256").update(style).digest("base64")

      assert.include(
        page,
        `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">`
      )
      assert.notMatch(
        page.replace(style, ""),
        /<script|<link|<iframe|<style>.*<style>| style="| on\w+="| src="| href="|url\(/
      )
    }))

  it.effect("shows names, titles and notes of other people as text", () =>
    Effect.gen(function*() {
      const evil = "</title></style><script>alert(1)</script>\u202e\u0000\"'"
      const page = yield* Report.toHtml(Stream.fromIterable(days), {
        ...options,
        title: evil,
        notes: [evil],
        names: () => evil
      })

      assert.notMatch(page, /<script|[\u202e\0]/)
      assert.strictEqual(page.replaceAll(/<g><title>[^<]*<\/title>/g, "").match(/<\/title>/g)?.length, 1)
      assert.include(
        page,
        "&lt;/title&gt;&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\u0000&quot;&#39; (501)"
      )
    }))

  it.effect("says how many bars and findings it leaves out", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 1100 }, (_, at) =>
        punch({ id: at + 1, userId: at + 1, clockedIn: "2026-03-04T14:00:00Z", approved: false }))
      const page = yield* Report.toHtml(Stream.fromIterable(many), options)

      assert.include(page, "The first 40 of 1,100 people, by hours; the table has all.")
      assert.include(page, "The first 1,000 of 1,100 issues; time-punches payroll check lists all.")
      assert.lengthOf(rowsOf(page, "Punches with issues"), 1000)
      assert.lengthOf(rowsOf(page, "By person"), 1100)
    }))
})
