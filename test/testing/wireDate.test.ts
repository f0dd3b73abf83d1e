import { assert, describe, it } from "@effect/vitest"
import { prng } from "../../src/testing/base/prng.ts"
import { formatDate, formatInstant, makeZones, parseDate, parseInstant } from "../../src/testing/base/wireDate.ts"

describe("parseInstant of the fake service", () => {
  it.each([
    ["2026-03-18T07:23:00Z", "2026-03-18T07:23:00.000Z"],
    ["2026-03-18T07:23:00+00:00", "2026-03-18T07:23:00.000Z"],
    ["2026-03-18T07:23:00+0530", "2026-03-18T01:53:00.000Z"],
    ["2026-03-18T07:23:00.5-05:00", "2026-03-18T12:23:00.500Z"],
    ["2024-02-29T23:59:59.9996Z", "2024-02-29T23:59:59.999Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
    ["2026-06-30T23:59:60Z", "2026-07-01T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"]
  ])("reads %s", (text, expected) => {
    assert.strictEqual(parseInstant(text)?.epoch, Date.parse(expected))
  })

  it.each([
    "2026-03-18T07:23:00",
    "2026-03-18",
    "2026-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:00 00:00",
    "2026-01-01T00:00:00.Z",
    "+010000-01-01T00:00:00Z",
    "0000-00-00T00:00:00Z",
    "foo 1",
    "0",
    ""
  ])("refuses %s", (text) => {
    assert.isUndefined(parseInstant(text))
  })

  it("keeps the local time beside the instant", () => {
    assert.deepStrictEqual(parseInstant("2026-03-18T07:23:00+02:00"), {
      epoch: Date.parse("2026-03-18T05:23:00Z"),
      wall: Date.parse("2026-03-18T07:23:00Z")
    })
  })
})

describe("dates of the fake service", () => {
  it("reads and writes every day from 1 January 1600 to the end of 2399, counted one by one", () => {
    let days = -135_140
    for (let year = 1600; year < 2400; year++) {
      const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      for (const [month, length] of [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].entries()) {
        for (let dayOfMonth = 1; dayOfMonth <= length; dayOfMonth++, days++) {
          const text = [year, month + 1, dayOfMonth].map((part) => String(part).padStart(2, "0")).join("-")
          if (formatDate(days) !== text || parseDate(text) !== days) assert.fail(`${days} is ${text}`)
        }
      }
    }
    assert.strictEqual(days, 157_054)
  })

  it("reads the years from 1, and no date that does not exist", () => {
    assert.strictEqual(parseDate("0001-01-01"), -719_162)
    assert.strictEqual(parseDate("0099-12-31"), -683_004)
    for (const text of ["0000-01-01", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-01"]) {
      assert.isUndefined(parseDate(text))
    }
  })

  it("formats instants in every form without changing them", () => {
    const random = prng(7)
    for (let round = 0; round < 2000; round++) {
      const epoch = random.between(0, 2_000_000_000) * 1000 + random.between(0, 999)
      const form = {
        offset: random.pick([0, 60, 330, -300, -570]),
        zone: random.pick(["+00:00", "+0000"] as const),
        fraction: random.pick([3, 6, 9])
      }

      assert.strictEqual(Date.parse(formatInstant(epoch, form)), epoch)
      assert.strictEqual(parseInstant(formatInstant(epoch, form))?.epoch, epoch)
    }
    assert.strictEqual(formatInstant(0, { offset: 0, zone: "Z", fraction: 0 }), "1970-01-01T00:00:00Z")
  })
})

describe("zones of the fake service", () => {
  it("show the same local time as Intl, at clock changes too", () => {
    const zones = makeZones()
    const random = prng(3)
    for (let round = 0; round < 1500; round++) {
      const timeZone = random.pick(["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"])
      const epoch = random.between(1_767_225_600, 1_798_761_600) * 1000

      assert.strictEqual(
        new Date(zones.wallAt(epoch, timeZone)).toISOString().slice(0, 19).replace("T", " "),
        new Date(epoch).toLocaleString("sv-SE", { timeZone })
      )
    }
  })
})
