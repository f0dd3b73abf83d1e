import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema, SchemaIssue } from "effect"
import { inspect } from "node:util"
import {
  BreakId,
  BusinessDate,
  Cents,
  CompanyGuid,
  CompanyId,
  Cursor,
  CustomBreakId,
  DepartmentId,
  LocationId,
  RoleId,
  ShiftId,
  TimePunchId,
  UserId
} from "../src/index.ts"
import { FeedPosition } from "../src/sql/index.ts"
import { prng } from "../src/testing/base/prng.ts"

const ids = [
  ["TimePunchId", TimePunchId],
  ["CompanyId", CompanyId],
  ["UserId", UserId],
  ["LocationId", LocationId],
  ["DepartmentId", DepartmentId],
  ["RoleId", RoleId],
  ["ShiftId", ShiftId],
  ["BreakId", BreakId],
  ["CustomBreakId", CustomBreakId]
] as const

const twoTo53 = 2 ** 53

/** What `make` throws. */
const thrown = (make: () => unknown): Error => {
  try {
    make()
  } catch (error) {
    if (error instanceof Error) return error
  }
  return assert.fail("took it")
}

describe("make", () => {
  it.each(
    [
      ...ids.filter(([name]) => name !== "CompanyId").flatMap(([name, id]) =>
        [
          [name, id, 1.5, "Expected a safe integer"],
          [name, id, -1, "Expected a value greater than or equal to 0"]
        ] as const
      ),
      ["CompanyId", CompanyId, twoTo53, "Expected a safe integer"],
      ["CompanyId", CompanyId, 0, "Expected a value greater than 0"],
      ["Cents", Cents, 15.5, "Expected a safe integer"],
      ["CompanyGuid", CompanyGuid, "x", "Expected a GUID"],
      ["Cursor", Cursor, "", "Expected a value with a length of at least 1"],
      ["BusinessDate", BusinessDate, "2026-2-3", "Expected a real date as YYYY-MM-DD"],
      ["FeedPosition", FeedPosition, "x", "Expected a position of a feed"]
    ] as const
  )("of %s says what it expected instead of $2", (name, brand, value, what) => {
    // @ts-expect-error a value of the table is not tied to its brand
    const error = thrown(() => brand.make(value))

    assert.strictEqual(error.message, `${name}.make: ${what}`)
  })

  it("says the type that it expects of another one", () => {
    // @ts-expect-error a program without types has a text where a number is due
    assert.strictEqual(thrown(() => CompanyId.make("4021")).message, "CompanyId.make: Expected a number")
    // @ts-expect-error
    assert.strictEqual(thrown(() => BusinessDate.make(20260203)).message, "BusinessDate.make: Expected a string")
  })

  it("says it where an engine cannot cut the trace", () => {
    const { captureStackTrace } = Error
    // @ts-expect-error older engines have none
    delete Error.captureStackTrace
    try {
      assert.strictEqual(thrown(() => CompanyId.make(0)).message, "CompanyId.make: Expected a value greater than 0")
    } finally {
      Error.captureStackTrace = captureStackTrace
    }
  })

  it("throws at the line of the call, in a few lines, and has the issue as its cause", () => {
    const error = thrown(() => BusinessDate.make("x"))

    assert.match(error.stack?.split("\n")[1] ?? "", /Ids\.test\.ts/)
    assert.isTrue(SchemaIssue.isIssue(error.cause))
    assert.notInclude(inspect(error, { customInspect: false }), "InvalidValue")
  })
})

describe.each(ids)("%s", (name, id) => {
  const isId = Schema.is(id)

  it("is named by what refuses a text", () => {
    assert.strictEqual(
      Result.getFailure(Schema.decodeUnknownResult(id)("7")).pipe(Option.getOrThrow).message,
      `Expected ${name}`
    )
  })

  it("is 0 for anything but a company", () => {
    assert.strictEqual(isId(0), name !== "CompanyId")
  })

  it.each([1, 2 ** 31, twoTo53 - 1])("takes the whole number %d", (value) => {
    assert.isTrue(isId(value))
    assert.strictEqual(Number(id.make(value)), value)
  })

  it.each([-1, -twoTo53, 0.5, 1.5, twoTo53, 1e21, Infinity, -Infinity, NaN])("refuses the number %d", (value) => {
    assert.isFalse(isId(value))
    assert.throws(() => id.make(value))
  })

  it.each(["1", "", "1/../../admin", null, undefined, true, {}, [1]])("refuses %j, which is no number", (value) => {
    assert.isFalse(isId(value))
  })
})

describe("Cents", () => {
  const isCents = Schema.is(Cents)

  it.each([0, 1, -1, 1550, -twoTo53 + 1, twoTo53 - 1])("takes %d, of any sign", (value) => {
    assert.isTrue(isCents(value))
    assert.strictEqual(Number(Cents.make(value)), value)
  })

  it.each([15.5, -0.01, 1e-7, twoTo53, NaN, Infinity, "1550", null])("refuses %j rather than round it", (value) => {
    assert.isFalse(isCents(value))
  })
})

describe("CompanyGuid", () => {
  const isGuid = Schema.is(CompanyGuid)

  it.each([
    "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
    "3B2F7C1E-5A94-4D0B-8E6F-9C1A7D2E4F60",
    "3b2F7c1E-5A94-4d0B-8e6F-9c1A7d2E4f60"
  ])("takes %s in either case and keeps it as it is", (guid) => {
    assert.isTrue(isGuid(guid))
    assert.strictEqual(String(CompanyGuid.make(guid)), guid)
  })

  it.each([
    "",
    "3b2f7c1e",
    "3b2f7c1e5a944d0b8e6f9c1a7d2e4f60",
    "{3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60}",
    " 3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
    "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60\n",
    "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60\r\nx-injected: 1",
    "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f6g",
    "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f601",
    4021,
    null
  ])("refuses %j", (guid) => {
    assert.isFalse(isGuid(guid))
  })
})

describe("Cursor", () => {
  it.each(["a", " ", "=", "ключ", "\u0000", "n".repeat(100_000)])("takes any text that is not empty", (cursor) => {
    assert.isTrue(Schema.is(Cursor)(cursor))
  })

  it.each(["", null, undefined, 1])("refuses %j", (cursor) => {
    assert.isFalse(Schema.is(Cursor)(cursor))
  })

  it("refuses half a character, which would be sent as another one", () => {
    for (const cursor of ["\ud800", "a\udc00b", "\udc00\ud800"]) assert.isFalse(Schema.is(Cursor)(cursor))
    assert.isTrue(Schema.is(Cursor)("🧑‍🍳"))
  })
})

describe("BusinessDate", () => {
  const isDate = Schema.is(BusinessDate)

  /** Whether the platform's calendar gives the same day back. */
  const exists = (year: number, month: number, day: number) => {
    const date = new Date(0)
    date.setUTCFullYear(year, month - 1, day)
    return year > 0 && date.getUTCFullYear() === year && date.getUTCMonth() + 1 === month && date.getUTCDate() === day
  }

  const write = (year: number, month: number, day: number) =>
    `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`

  it("takes exactly the days of the calendar", () => {
    const { between } = prng(1)
    const years = [0, 1, 4, 99, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999]
    for (const year of [...years, ...Array.from({ length: 20 }, () => between(1, 9999))]) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const text = write(year, month, day)
          assert.strictEqual(isDate(text), exists(year, month, day), text)
        }
      }
    }
  })

  it.each([
    "",
    "2024-1-02",
    "2024-01-2",
    "24-01-02",
    "2024/01/02",
    "20240102",
    "2024-01-02T00:00:00Z",
    " 2024-01-02",
    "2024-01-02\n",
    "+2024-01-02",
    "-024-01-02",
    "12024-01-02",
    "２０２４-01-02",
    "2024-01-0x",
    20240102,
    null,
    new Date(0)
  ])("refuses %j", (text) => {
    assert.isFalse(isDate(text))
  })
})
