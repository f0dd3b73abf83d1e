import { assert, describe, it } from "@effect/vitest"
import { formatInstant, isWritable, parseInstant } from "../../../src/internal/wire/instant.ts"
import { prng } from "../../../src/testing/base/prng.ts"
import { allMisspellings, malformed, oracle, wellFormed } from "../../support/instants.ts"

const hundredThousand = 100_000

describe("parseInstant", () => {
  it("reads a hundred thousand RFC 3339 texts as the platform's calendar does", () => {
    const chance = prng(14)
    for (let run = 0; run < hundredThousand; run++) {
      const text = wellFormed(chance)
      const instant = parseInstant(text)
      if (instant !== oracle(text)) assert.strictEqual(instant, oracle(text), text)
    }
  })

  it("refuses a hundred thousand texts that are nearly RFC 3339", () => {
    const chance = prng(15)
    const seen = new Set<string>()
    for (let run = 0; run < hundredThousand; run++) {
      const { misspelling, text } = malformed(chance)
      seen.add(misspelling)
      if (!Number.isNaN(parseInstant(text))) assert.fail(`${misspelling}: ${JSON.stringify(text)} was read`)
    }

    assert.sameMembers([...seen], allMisspellings)
  })

  it.each([
    ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02t03:04:05z", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04:05-00:00", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04:05+05:30", "2024-01-01T21:34:05.000Z"],
    ["2024-01-02T03:04:05+0530", "2024-01-01T21:34:05.000Z"],
    ["2024-12-31T23:30:00-01:00", "2025-01-01T00:30:00.000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"]
  ])("reads %s as %s", (text, instant) => {
    assert.strictEqual(new Date(parseInstant(text)).toISOString(), instant)
  })

  it.each([["5", 500], ["05", 50], ["123", 123], ["1239", 123], ["9999", 999], ["0009", 0], ["123456789", 123]])(
    "cuts the fraction .%s to milliseconds",
    (fraction, millis) => {
      assert.strictEqual(parseInstant(`1970-01-01T00:00:00.${fraction}Z`), millis)
      assert.strictEqual(parseInstant(`1969-12-31T23:59:59.${fraction}Z`), millis - 1000)
    }
  )

  it.each([
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.500Z"],
    ["2017-01-01T05:29:60+05:30", "2017-01-01T00:00:00.000Z"],
    ["2016-12-31T15:59:60-0800", "2017-01-01T00:00:00.000Z"],
    ["1969-12-31T23:59:60Z", "1970-01-01T00:00:00.000Z"]
  ])("reads the leap second %s as the second after it", (text, instant) => {
    assert.strictEqual(new Date(parseInstant(text)).toISOString(), instant)
  })

  it.each(["2016-12-31T23:58:60Z", "2016-12-31T22:59:60Z", "2016-12-31T23:59:60+05:30", "2016-12-31T23:59:61Z"])(
    "refuses %s, since only the last minute of a UTC day can be that long",
    (text) => {
      assert.isNaN(parseInstant(text))
    }
  )

  it.each([
    "2024-01-02T03:04:05",
    "2024-01-02",
    "2024-01-02T03:04Z",
    "2024",
    "0",
    "",
    "foo 1",
    "Tue, 02 Jan 2024 03:04:05 GMT",
    "January 2, 2024 03:04:05 UTC",
    "1704164645",
    "2024-W01-2T03:04:05Z",
    "2024-002T03:04:05Z",
    "2024-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2024-04-31T00:00:00Z",
    "2024-01-02T24:00:00Z",
    "10000-01-01T00:00:00Z",
    "+010000-01-01T00:00:00Z",
    "-2024-01-02T03:04:05Z",
    "-002024-01-02T03:04:05Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00",
    "9999-12-31T23:59:60Z",
    "0001-01-01T00:59:59.999+01:00",
    "2024-01-02T03:04:05+24:00",
    "2024-01-02T03:04:05+05:60",
    "2024-01-02T03:04:05+05",
    "2024-01-02T03:04:05Z+00:00",
    "2024-01-02T03:04:05 +00:00",
    "2024-01-02T03:04:05[UTC]",
    "2024-01-02T03:04:05.Z",
    "2024-01-02T03:04:05,5Z",
    "٢٠٢٤-٠١-٠٢T٠٣:٠٤:٠٥Z"
  ])("refuses %j", (text) => {
    assert.isNaN(parseInstant(text))
  })
})

describe("formatInstant", () => {
  it("writes Z, and milliseconds only where there are any", () => {
    assert.strictEqual(formatInstant(0), "1970-01-01T00:00:00Z")
    assert.strictEqual(formatInstant(1), "1970-01-01T00:00:00.001Z")
    assert.strictEqual(formatInstant(-1), "1969-12-31T23:59:59.999Z")
    assert.strictEqual(formatInstant(500), "1970-01-01T00:00:00.500Z")
  })

  it("writes the digits of the platform's calendar for every month, every day of 400 years, every second and millisecond", () => {
    const day = 86_400_000
    const instants = [
      ...Array.from({ length: 9999 * 12 }, (_, month) => new Date(0).setUTCFullYear(1, month, 1)),
      ...Array.from({ length: 146_098 }, (_, days) => Date.UTC(1800, 1, 1) + days * day),
      ...Array.from({ length: 86_400 }, (_, second) => -day * 400 + second * 1000),
      ...Array.from({ length: 1000 }, (_, millis) => day * 20_000 + millis)
    ]
    const compare = (instant: number) => {
      const expected = new Date(instant).toISOString().replace(".000Z", "Z")
      if (formatInstant(instant) !== expected) assert.strictEqual(formatInstant(instant), expected)
    }
    for (const instant of instants) {
      compare(instant)
      // The other side of a midnight.
      if (isWritable(instant - 1)) compare(instant - 1)
    }
    assert.strictEqual(formatInstant(-0), "1970-01-01T00:00:00Z")
    assert.strictEqual(formatInstant(Date.parse("9999-12-31T23:59:59.999Z")), "9999-12-31T23:59:59.999Z")
  })

  it("writes what is read as the same instant", () => {
    const { chance, next } = prng(16)
    for (let run = 0; run < 20_000; run++) {
      const any = Math.floor(-62_135_596_800_000 + next() * 315_537_897_600_000)
      const instant = chance(0.5) ? any : Math.floor(any / 1000) * 1000
      if (parseInstant(formatInstant(instant)) !== instant) assert.fail(formatInstant(instant))
    }
  })
})

describe("isWritable", () => {
  it("ends where the year no longer has four digits, or is no year at all", () => {
    const first = Date.parse("0001-01-01T00:00:00Z")
    const last = Date.parse("9999-12-31T23:59:59.999Z")

    assert.isTrue(isWritable(first) && isWritable(last) && isWritable(0))
    for (const instant of [first - 1, last + 1, 0.5, NaN, Infinity, -Infinity]) assert.isFalse(isWritable(instant))
  })
})
