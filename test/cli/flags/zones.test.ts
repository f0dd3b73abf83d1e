import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Option, Schema } from "effect"
import { describeZones, type LocationDayRules, parseZones, readZone, zoneFormOf } from "../../../src/cli/flags/zones.ts"
import { BusinessDate } from "../../../src/Ids.ts"
import { dayRuleKey } from "../../../src/payroll/DayRule.ts"
import * as Period from "../../../src/payroll/Period.ts"

const encoder = new TextEncoder()

const parse = (...lines: ReadonlyArray<string>) => parseZones(encoder.encode(lines.join("\n")), "zones.csv")

const head = "location_id,zone"

const rowsOf = (clocks: LocationDayRules) =>
  [...clocks].map(([id, dayRule]) => `${id} ${dayRuleKey(dayRule)}`.replace(/ 0$/, ""))

describe("a file of zones", () => {
  it.effect("has a zone for each location, by name or as an offset", () =>
    Effect.gen(function*() {
      const zones = yield* parse(head, "301,America/New_York", "0,+05:45", "302,UTC")

      assert.deepStrictEqual(rowsOf(zones), ["301 America/New_York", "0 +05:45", "302 UTC"])
    }))

  it.effect.each(
    [
      ["a byte order mark", `\uFEFF${head}\n301,Europe/Berlin`],
      ["CRLF and blank lines", `${head}\r\n\r\n301,Europe/Berlin\r\n\r\n`],
      ["quotes", `"location_id","zone"\n"301","Europe/Berlin"`],
      ["semicolons", `${head.replace(",", ";")}\r\n301;Europe/Berlin\r\n`],
      ["semicolons in quotes", `\uFEFF"location_id";"zone"\n"301";"Europe/Berlin"`],
      ["empty columns of a spreadsheet", `location_id;zone;;\n301;Europe/Berlin;;\n;;;\n`],
      ["empty cells in some rows alone", `${head}\n301,Europe/Berlin,\n,,`],
      ["an empty title above no cell", `${head},\n301,Europe/Berlin`],
      ["spaces around cells", ` location_id , zone\n 301 ,\tEurope/Berlin `]
    ] as const
  )("may have %s", ([, text]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(rowsOf(yield* parse(text)), ["301 Europe/Berlin"])
    }))

  it.effect("may have the start of the days of each location, else it is that of the flag, else midnight", () =>
    Effect.gen(function*() {
      const rows = ["301,America/New_York,04:00", "302,Europe/Berlin,-02:00", "303,UTC,", "304,UTC,00:00"]
      const text = encoder.encode(["location_id, zone, day_starts", ...rows].join("\n"))
      const without = yield* parseZones(text, "zones.csv")
      const six = yield* parseZones(text, "zones.csv", Option.some(Duration.hours(6)))
      const plain = yield* parseZones(encoder.encode(`${head}\n301,UTC`), "zones.csv", Option.some(Duration.hours(6)))
      const hour = 3_600_000

      assert.deepStrictEqual(rowsOf(without), [
        `301 America/New_York ${4 * hour}`,
        `302 Europe/Berlin ${-2 * hour}`,
        "303 UTC",
        "304 UTC"
      ])
      assert.deepStrictEqual(rowsOf(six), [...rowsOf(without).slice(0, 2), `303 UTC ${6 * hour}`, "304 UTC"])
      assert.deepStrictEqual(rowsOf(plain), [`301 UTC ${6 * hour}`])
    }))

  const one = "301,UTC"

  it.effect.each<[what: string, lines: ReadonlyArray<string>, message: string]>([
    [
      "nothing in it",
      [""],
      "line 1: the columns must be location_id,zone or location_id,zone,day_starts, not an empty line"
    ],
    ["no header", [one], "line 1: the columns must be location_id,zone or location_id,zone,day_starts, not 301,UTC"],
    [
      "other columns",
      ["location,zone"],
      "line 1: the columns must be location_id,zone or location_id,zone,day_starts, not location,zone"
    ],
    ["no location", [head, "", ""], "line 1: no location follows the columns"],
    [
      "an unknown zone",
      [head, one, "302,Mars/Olympus"],
      "line 3: the zone must be the name of a time zone, such as Europe/Berlin, or an offset from -12:00 to +14:00, such as +01:00, " +
      "not \"Mars/Olympus\""
    ],
    ["an empty zone", [head, "302, "], "line 2: the zone must be the name of a time zone"],
    ["an offset of no time", [head, "302,+1:7"], "line 2: the zone must be the name of a time zone"],
    ["an offset of no place", [head, "301,+14:00", "302,+14:30"], "line 3: the zone must be the name of a time zone"],
    [
      "an id with a point",
      [head, "301.0,UTC"],
      "line 2: the id must be a whole number from 0 to 9007199254740991, not \"301.0\""
    ],
    ["a negative id", [head, "-1,UTC"], "line 2: the id must be a whole number from 0 to 9007199254740991, not \"-1\""],
    ["an id beyond the safe integers", [head, "9007199254740993,UTC"], "line 2: the id must be a whole number"],
    ["an empty id", [head, ",UTC"], "line 2: the id must be a whole number from 0 to 9007199254740991, not \"\""],
    ["a cell too few", [head, one, "302"], "line 3: it must have 2 cells, location_id,zone, and has 1"],
    [
      "a zone that an engine takes for another place",
      [head, one, "302,BST"],
      "line 3: the zone must be the name of a place, such as Europe/London: BST would be Asia/Dhaka, +06:00, not \"BST\""
    ],
    [
      "a cell under no title",
      [`${head},`, "302,UTC,Main St"],
      "line 2: it must have 2 cells, location_id,zone, and has 3"
    ],
    ["a title between empty ones", [`${head},,place`, one], "line 1: the columns must be"],
    ["both separators", ["location_id;zone,day_starts", one], "line 1: the columns must be"],
    ["commas below a header of semicolons", ["location_id;zone", one], "line 2: it must have 2 cells"],
    ["a cell too many", [head, "302,UTC,Main St"], "line 2: it must have 2 cells, location_id,zone, and has 3"],
    ["a location twice", [head, one, "302,UTC", "301,UTC"], "line 4: line 2 has a zone for location 301 already"],
    ["a location twice, with a 0 in front", [head, one, "0301,+01:00"], "line 3: line 2 has a zone for location 301"],
    ["a mistake before another", [head, "x,UTC", "302"], "line 2: the id must be"],
    ["a quote that does not end", [head, one, "302,\"UTC"], "line 3: Unterminated quoted field"],
    [
      "a start that is no time",
      [`${head},day_starts`, `${one},4:00`],
      "line 2: the start of the day must be a time from 00:00 to 12:00, such as 04:00, or before midnight, such as " +
      "-02:00, not \"4:00\""
    ],
    ["a start after noon", [`${head},day_starts`, `${one},12:01`], "line 2: the start of the day must be a time from"],
    [
      "a start before the noon of the day before",
      [`${head},day_starts`, `${one},-12:30`],
      "line 2: the start of the day must be"
    ],
    [
      "a start missing as a cell",
      [`${head},day_starts`, one],
      "line 2: it must have 3 cells, location_id,zone,day_starts, and has 2"
    ],
    ["a control character", [head, "301,\u001b[2J"], "not \"\\u001b[2J\""]
  ])("is refused with its line for %s", ([, lines, message]) =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(parse(...lines))

      assert.strictEqual(failure.code, 2)
      assert.match(failure.message, /^zones\.csv, line \d+: /)
      assert.include(failure.message, message)
    }))

  it.effect("is refused where it is not UTF-8", () =>
    Effect.gen(function*() {
      const latin1 = Uint8Array.from([...encoder.encode(`${head}\n301,S`), 0xe3, 0x6f])

      assert.strictEqual(
        (yield* Effect.flip(parseZones(latin1, "a.csv"))).message,
        "a.csv, line 2: this is not UTF-8; in a spreadsheet, save it as \"CSV UTF-8\", or with the character set Unicode " +
          "(UTF-8)"
      )
    }))
})

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]

const pairs = letters.flatMap((one) => letters.map((other) => one + other))

const isTakenHere = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).format() !== ""
  } catch {
    return false
  }
}

describe("the text of a zone", () => {
  const places = ["CET", "EET", "GB", "GMT", "MET", "NZ", "PRC", "ROC", "ROK", "UCT", "UTC", "WET"]
  const others =
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT EST HST IET IST JST MIT MST NET NST PLT PNT PRT PST SST VST"
      .split(" ")

  it("of two or three letters that this machine takes is known here: as a place, or as none", () => {
    const taken = [...pairs, ...pairs.flatMap((pair) => letters.map((letter) => pair + letter))].filter(isTakenHere)

    assert.deepStrictEqual(taken.toSorted(), [...places, ...others].toSorted())
    for (const text of places) {
      assert.deepStrictEqual(
        [text, text.toLowerCase()].map((each) => Option.isSome(readZone(each))),
        [true, true],
        text
      )
    }
    for (const text of others) {
      for (const each of [text, text.toLowerCase()]) {
        assert.isTrue(Option.isNone(readZone(each)), each)
        assert.match(
          zoneFormOf(each),
          new RegExp(`^the name of a place, such as \\w+/.+: ${each} would be \\w.*, [+-]`)
        )
      }
    }
  })

  it("is refused with what it would be here, and what to write", () => {
    assert.deepStrictEqual(["EST", "AST", "jst", "SystemV/PST8PDT", "XYZ"].map(zoneFormOf), [
      "the name of a place, such as America/New_York: EST would be America/Panama, -05:00",
      "the name of a place, such as America/Halifax: AST would be America/Anchorage, -09:00 or -08:00",
      "the name of a place, such as Asia/Tokyo: jst would be Asia/Tokyo, +09:00",
      "the name of a place, such as America/New_York: SystemV/PST8PDT would be SystemV/PST8PDT, -08:00 or -07:00",
      "the name of a time zone, such as Europe/Berlin, or an offset from -12:00 to +14:00, such as +01:00"
    ])
  })

  it.each([
    "US/Eastern",
    "EST5EDT",
    "America/Phoenix",
    "Pacific/Honolulu",
    "Asia/Tokyo",
    "Europe/Kyiv",
    "Zulu",
    "Eire",
    "Etc/GMT+5",
    "-05:00"
  ])("is taken where it says one clock: %s", (text) => {
    assert.isTrue(Option.isSome(readZone(text)))
  })
})

describe("the identity of zones", () => {
  const week = (text: string) => (zone: Period.DayRule) => Period.week(zone, BusinessDate.make(text))

  const identity = (date: string, ...rows: ReadonlyArray<string>) =>
    Effect.map(parse(head, ...rows), (zones) => describeZones(zones, week(date)))

  it.effect("has the zones as a hash, and the period in each", () =>
    Effect.gen(function*() {
      const { "--zone-file": zones, ...periods } = yield* identity("2026-03-08", "302,Asia/Tokyo", "301,UTC", "303,UTC")

      assert.match(zones ?? "", /^3 with sha256 [0-9a-f]{64}$/)
      assert.deepStrictEqual(periods, {
        "period in Asia/Tokyo": "2026-03-01T15:00:00Z to 2026-03-08T15:00:00Z",
        "period in UTC": "2026-03-02T00:00:00Z to 2026-03-09T00:00:00Z"
      })
    }))

  it.effect("has when the days of each location begin", () =>
    Effect.gen(function*() {
      const of = (start: string) =>
        Effect.map(
          parseZones(encoder.encode(`${head},day_starts\n301,UTC,${start}\n302,UTC,`), "zones.csv"),
          (zones) => describeZones(zones, week("2026-03-08"))
        )
      const [midnight, empty, four, evening] = yield* Effect.forEach(["00:00", "", "04:00", "-02:30"], of)
      const { "--zone-file": zones, ...periods } = four ?? {}

      assert.deepStrictEqual(midnight, empty)
      assert.deepStrictEqual(empty, yield* identity("2026-03-08", "301,UTC", "302,UTC"))
      assert.notStrictEqual(zones, empty?.["--zone-file"])
      assert.notDeepEqual(evening, four)
      assert.deepStrictEqual(periods, {
        "period in UTC,04:00": "2026-03-02T04:00:00Z to 2026-03-09T04:00:00Z",
        "period in UTC": "2026-03-02T00:00:00Z to 2026-03-09T00:00:00Z"
      })
      assert.property(evening ?? {}, "period in UTC,-02:30")
    }))

  it.effect("depends on nothing but the zone of each location, and the period", () =>
    Effect.gen(function*() {
      const one = yield* identity("2026-03-08", "301,UTC", "302,Asia/Tokyo")
      const others = yield* Effect.all([
        identity("2026-03-09", "301,UTC", "302,Asia/Tokyo"),
        identity("2026-03-08", "302,UTC", "301,Asia/Tokyo"),
        identity("2026-03-08", "301,UTC", "303,Asia/Tokyo"),
        identity("2026-03-08", "301,UTC", "302,Asia/Tokyo", "303,Asia/Tokyo")
      ])

      assert.deepStrictEqual(yield* identity("2026-03-07", "\"302\", Asia/Tokyo", "", "301,UTC"), one)
      for (const other of others) assert.notDeepEqual(other, one)
    }))
})

const Rows = Schema.Array(Schema.Struct({
  id: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  zone: Schema.Literals(["UTC", "America/St_Johns", "Europe/Berlin", "+09:30", "-03:00"]),
  quoted: Schema.Boolean,
  spaces: Schema.Literals(["", " ", "\t "]),
  end: Schema.Literals(["\n", "\r\n", "\n\n"])
}))

describe("Every file of zones", () => {
  it.effect.prop(
    "is read as it was written, or fails at the first location that is there twice",
    [Rows],
    ([rows]) =>
      Effect.gen(function*() {
        const lines = rows.map(({ end, id, quoted, spaces, zone }) =>
          (quoted ? `"${spaces}${id}","${zone}${spaces}"` : `${id}${spaces},${spaces}${zone}`) + end
        )
        const firstTwice = rows.findIndex(({ id }, at) => rows.slice(0, at).some((row) => row.id === id))
        const read = parseZones(encoder.encode(`${head}\n${lines.join("")}`), "zones.csv")

        if (rows.length === 0) {
          assert.include((yield* Effect.flip(read)).message, "no location")
        } else if (firstTwice >= 0) {
          const line = 2 + lines.slice(0, firstTwice).join("").split("\n").length - 1
          assert.include((yield* Effect.flip(read)).message, `line ${line}: line `)
        } else {
          assert.deepStrictEqual(rowsOf(yield* read), rows.map(({ id, zone }) => `${id} ${zone}`))
        }
      })
  )
})
