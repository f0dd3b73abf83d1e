/** The calendar as a term: which period follows a close, told day by day, and the one form of equal calendars. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { Close } from "../../src/close/index.ts"
import { BusinessDate, CompanyId, TimePunchId } from "../../src/Ids.ts"
import { type PayCalendar, PayCalendarText } from "../../src/payroll/PayCalendar.ts"
import * as Period from "../../src/payroll/Period.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import * as States from "../full/closeStates.ts"
import { shift } from "../support/arbitraryPunch.ts"
import { commit, openHistory } from "../support/histories.ts"
import { newYork } from "./terms.ts"

const company = CompanyId.make(2)
const read = Schema.decodeSync(PayCalendarText)
const write = Schema.encodeSync(PayCalendarText)

/** Days since 1970-01-01. */
const dayOf = (date: string): number => Date.parse(`${date}T00:00Z`) / 86_400_000
const dateOf = (day: number) => BusinessDate.make(new Date(86_400_000 * day).toISOString().slice(0, 10))

/** The calendar of a text, as the second computation of closes takes it. */
const calendarOf = (text: string): States.Calendar => {
  const [list = "", anchor] = text.split(":")
  if (anchor === undefined) return { firsts: list.split(",").map(Number) }
  const lengths = list.split(",").map((each) => parseInt(each, 10) * (each.endsWith("w") ? 7 : 1))
  return { list: lengths, anchor: dayOf(anchor) }
}
const begins = (text: string, day: number) => States.begins(calendarOf(text), day)
const lastOf = (text: string, first: number) => States.lastOf(calendarOf(text), first)

const calendars =
  ("7d:2026-03-02 7d:2026-03-01 1w:2025-11-05 10d:2026-01-01 14d:2026-01-05 2w:2026-01-01 15d:2026-01-03 " +
    "28d:2026-02-01 30d:2026-01-01 4w,4w,5w:2026-01-05 4w,5w,4w:2026-02-02 5w,4w,4w:2025-12-29 13d,15d:2026-01-01 " +
    "7d,7d,14d:2026-01-05 1 26 31 29 1,15 1,16 5,20 10,25 27,28 15,31 11,26").split(" ")

const openCopy = Effect.gen(function*() {
  const copy = yield* openHistory(NodeSqlite.layer({ filename: ":memory:" }))
  yield* commit(copy.kept, company, [shift("2026-01-02T14:00:00Z", 8, { id: TimePunchId.make(1) })])
  const create = (options: Pick<Close.CloseOptions, "first" | "last" | "calendar">) =>
    copy.run(
      Close.create(company, { dayRule: newYork, rounding: "halfUp", accept: ["stale", "empty", "gap"], ...options })
    )
  const next = (calendar?: PayCalendar) =>
    copy.run(Close.next(company, { calendar })).pipe(
      Effect.map(({ options }) => options),
      Effect.catchTag("UnknownClose", () => Effect.undefined)
    )
  return { create, next }
})

describe("The period behind a close", () => {
  it.live(
    "is that of its calendar, or refused: never another one, for many calendars from many dates",
    () =>
      Effect.gen(function*() {
        const counts = { right: 0, refused: 0, wrong: 0 }
        const tell = (text: string, begin: number, found: Close.NextOptions | undefined) => {
          const isRight = found !== undefined && found.first === dateOf(begin) && begins(text, begin) &&
            found.last === dateOf(lastOf(text, begin))
          const isRefused = found === undefined && (text === "" || !begins(text, begin))
          counts[isRight ? "right" : isRefused ? "refused" : "wrong"]++
          assert.isTrue(isRight || isRefused, `${text} from ${dateOf(begin)}: ${found?.first} to ${found?.last}`)
        }
        const some = (from: number) => calendars.filter((_, at) => (at + from) % 5 === 0)
        for (const [at, text] of calendars.entries()) {
          const { create, next } = yield* openCopy
          let first = dayOf("2026-01-01")
          while (!begins(text, first)) first++
          yield* create({ first: dateOf(first), last: dateOf(lastOf(text, first)), calendar: read(text) })
          for (let count = 0; count < 4; count++) {
            first = lastOf(text, first) + 1
            const found = yield* next()
            tell(text, first, found)
            // By another calendar it begins there too, or is refused.
            for (const other of some(at + count)) tell(other, first, yield* next(read(other)))
            if (found !== undefined) yield* create(found)
          }
          // Behind free dates nothing is known, unless a calendar is given that begins there.
          const begin = lastOf(text, first) + 1
          const last = begin + (at * 5) % 17
          yield* create({ first: dateOf(begin), last: dateOf(last) })
          tell("", last + 1, yield* next())
          for (const other of some(at)) tell(other, last + 1, yield* next(read(other)))
        }
        process.stdout.write(`calendars: right ${counts.right}, refused ${counts.refused}, wrong ${counts.wrong}\n`)
        assert.isAbove(Math.min(counts.right, counts.refused), 100)
      }).pipe(Effect.scoped),
    60_000
  )
})

describe("A calendar", () => {
  it("has the periods that counting days gives, in leap years, before 1970 and at the end of each February", () => {
    let days = 0
    for (const text of calendars) {
      for (
        const around of [
          "1896-02-20",
          "1968-02-20",
          "1969-12-20",
          "2000-02-20",
          "2023-02-20",
          "2024-02-20",
          "2100-02-20"
        ]
      ) {
        for (let day = dayOf(around); day < dayOf(around) + 25; day++) {
          let first = day
          while (!begins(text, first)) first--
          const expected = { first: dateOf(first), last: dateOf(lastOf(text, first)) }
          for (const calendar of [read(text), Period.normalCalendar(read(text))]) {
            assert.deepStrictEqual(Period.payPeriod(calendar, dateOf(day)), expected, `${text} on ${dateOf(day)}`)
            days++
          }
        }
      }
    }
    assert.isAbove(days, 5000)
  })

  const normal = (text: string) => write(Period.normalCalendar(read(text)))

  it.each([
    ["4w,4w,5w:2026-01-05", "28d,35d,28d:1970-01-12"],
    ["4w,5w,4w:2026-02-02", "28d,35d,28d:1970-01-12"],
    ["2w,2w:2026-01-05", "14d:1970-01-05"],
    ["7d:2026-03-02", "7d:1970-01-05"],
    ["7d:1969-12-29", "7d:1970-01-05"],
    ["1d:2026-03-02", "1d:1970-01-01"],
    ["1,16", "1,16"],
    // Its first beginning from 1970 on lies behind the year 9999.
    ["10000000d:1969-12-31", "10000000d:1969-12-31"]
  ])("is recorded in one form: %s", (text, expected) => {
    assert.strictEqual(normal(text), expected)
  })

  it("has the same text as another one exactly if their periods are the same", () => {
    const random = prng(48)
    const lists = Array.from({ length: 150 }, () => {
      const once = Array.from({ length: random.between(1, 3) }, () => random.pick([7, 7, 14, 10]))
      const list = random.chance(0.4) ? [...once, ...once] : once
      return `${list.map((days) => `${days}d`).join(",")}:${dateOf(dayOf("2026-01-01") + random.between(0, 40))}`
    })
    const from = dayOf("2026-01-01")
    const periods = lists.map((text) => Array.from({ length: 100 }, (_, day) => begins(text, from + day)).join())
    let equal = 0
    for (const [at, one] of lists.entries()) {
      assert.strictEqual(normal(normal(one)), normal(one))
      for (let other = 0; other < at; other++) {
        const isEqual = periods[at] === periods[other]
        if (isEqual) equal++
        assert.strictEqual(normal(one) === normal(lists[other] ?? ""), isEqual, `${one} and ${lists[other]}`)
      }
    }
    assert.isAbove(equal, 20)
  })

  it.each(["0d:2026-01-05", "4w,:2026-01-05", "4w,0w:2026-01-05", "4w,4w,5w", "4m:2026-01-05", "1,1", "28,30", ""])(
    "is refused: %s",
    (text) => {
      assert.deepStrictEqual(Schema.decodeOption(PayCalendarText)(text), Option.none())
    }
  )
})
