import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { failAfter } from "../export/exportSupport.ts"
import { dateIn, isoOf, punch, zones } from "../payroll/checkSupport.ts"
import { cli, inFakeOf, linesOf, queries, read, temporaryFolder } from "../support.ts"

const punchAt = (id: number, location_id: number, clockedIn: number) =>
  punch(id, isoOf(clockedIn), 6, { location_id, tips: 1 })

/** A punch at each half hour of three weeks in spring, at the three locations in turn: clocks change in two of them. */
const punches = Array.from(
  { length: 48 * 35 },
  (_, at) => punchAt(at + 1, 301 + (at % 3), Date.UTC(2026, 1, 27) + at * 1_800_000)
)

const dateOf = dateIn(zones)

const idsIn = (first: string, last: string) =>
  punches.filter((punch) => first <= dateOf(punch) && dateOf(punch) <= last).map(({ id }) => id)

const idsOf = (ndjson: string) => linesOf(ndjson).map((line): number => JSON.parse(line).id)

const fileOf = (rows: Readonly<Record<number, string>>) =>
  Effect.map(temporaryFolder, (folder) => {
    const file = `${folder}/zones.csv`
    Fs.writeFileSync(file, ["location_id,zone", ...Object.entries(rows).map((row) => row.join(","))].join("\r\n"))
    return file
  })

const inFake = inFakeOf(punches)

const week = ["--week", "2026-03-08"]

const periods: ReadonlyArray<readonly [call: string, first: string, last: string]> = [
  ["--week 2026-03-08", "2026-03-02", "2026-03-08"],
  ["--week 2026-03-08 --week-starts sunday", "2026-03-08", "2026-03-14"],
  ["--month 2026-03", "2026-03-01", "2026-03-31"],
  ["--from 2026-03-08 --to 2026-03-08", "2026-03-08", "2026-03-08"]
]

describe("--zone-file", () => {
  it.effect.each(periods)(
    "counts each punch in the period of its own location: %s",
    ([call, first, last]) =>
      inFake(Effect.gen(function*() {
        const flags = [...call.split(" "), "--zone-file", yield* fileOf(zones)]
        const output = `${yield* temporaryFolder}/punches`
        const listed = yield* cli(["list", "--format", "ndjson", ...flags])
        const exported = yield* cli(["export", "--output", output, ...flags])
        const summed = yield* cli(["summary", "--by", "day", "--json", ...flags])
        const days: ReadonlyArray<{ day: string; punches: number }> = JSON.parse(summed.stdout)
        const expected = idsIn(first, last)

        assert.deepStrictEqual([listed.code, exported.code, summed.code], [0, 0, 0])
        assert.isAbove(expected.length, 40)
        assert.deepStrictEqual(idsOf(listed.stdout), expected)
        assert.strictEqual(read(output), listed.stdout)
        assert.match(exported.stderr, new RegExp(`: ${expected.length.toLocaleString("en-US")} punches, `))
        // Each day has the punches of the own date of a location.
        assert.deepStrictEqual(
          days.map((row) => [row.day, row.punches]),
          [...new Set(days.map(({ day }) => day))].toSorted().map((day) => [day, idsIn(day, day).length])
        )
        assert.strictEqual(days.reduce((sum, row) => sum + row.punches, 0), expected.length)
      }))
  )

  it.effect("and --zone are no text that names no place, and warn once of one that names a sign", () =>
    inFake(Effect.gen(function*() {
      const call = ["list", "--format", "ndjson", ...week]
      const refused = yield* Effect.forEach(
        [["--zone", "EST"], ["--zone-file", yield* fileOf({ ...zones, 301: "BST" })]],
        (flags) => cli([...call, ...flags])
      )
      assert.deepStrictEqual(refused.map(({ code, stdout }) => [code, stdout]), [[2, ""], [2, ""]])
      assert.include(refused[0]?.stderr, "such as America/New_York: EST would be America/Panama, -05:00")
      assert.include(refused[1]?.stderr, "line 2: the zone must be the name of a place, such as Europe/London: BST")
      assert.lengthOf(yield* queries, 0)

      const offset = yield* cli([...call, "--zone=-05:00"])
      const named = yield* cli([...call, "--zone", "Etc/GMT+5", "--quiet"])
      const ofFile = yield* cli([
        ...call,
        "--zone-file",
        yield* fileOf({ 301: "etc/gmt+5", 302: "Etc/GMT+5", 303: "Etc/GMT-14" })
      ])

      assert.deepStrictEqual([offset.stdout, offset.stderr.match(/ is -05:00/)], [named.stdout, null])
      assert.strictEqual(named.stderr, "Etc/GMT+5 is -05:00\n")
      assert.deepStrictEqual(
        linesOf(ofFile.stderr).filter((line) => line.includes("GMT")),
        ["Etc/GMT+5 is -05:00", "Etc/GMT-14 is +14:00"]
      )
    })))

  it.effect("counts --last by the date that it is at each location", () =>
    inFake(Effect.gen(function*() {
      // Monday in New York and Berlin, Sunday in Honolulu.
      yield* TestClock.setTime(Date.parse("2026-03-09T08:00:00Z"))
      const { stdout } = yield* cli(["list", "--format", "ndjson", "--last", "2d", "--zone-file", yield* fileOf(zones)])
      const expected = punches.filter((punch) =>
        punch.location_id === 303
          ? ["2026-03-07", "2026-03-08"].includes(dateOf(punch))
          : ["2026-03-08", "2026-03-09"].includes(dateOf(punch))
      )

      assert.deepStrictEqual(idsOf(stdout), expected.map(({ id }) => id))
    })))

  it.effect("shows local times by the zone of each punch, and machine forms in UTC", () =>
    inFake(Effect.gen(function*() {
      const flags = ["--zone-file", yield* fileOf(zones), "--clocked-in-gte", "2026-03-08T12:00:00Z", "--limit", "3"]
      const table = yield* cli(["list", ...flags])
      const csv = yield* cli(["list", "--format", "csv", ...flags])
      const times = linesOf(table.stdout).slice(1).map((line) => /\d{4}-\S+/.exec(line)?.[0])

      assert.deepStrictEqual(times, [
        "2026-03-08T08:00:00-04:00",
        "2026-03-08T13:30:00+01:00",
        "2026-03-08T03:00:00-10:00"
      ])
      assert.include(csv.stdout, ",2026-03-08T12:00:00Z,")
    })))

  it.effect("takes as many as --limit says of those that belong, and resumes behind them", () =>
    inFake(Effect.gen(function*() {
      const flags = ["--format", "ndjson", "--zone-file", yield* fileOf(zones), ...week]
      const expected = idsIn("2026-03-02", "2026-03-08")
      const some = yield* cli(["list", "--limit", "5", ...flags])
      const asked = (yield* queries).length
      yield* failAfter(4)
      const broken = yield* cli(["list", "--page-size", "20", ...flags])
      const [, from = ""] = /--cursor='([^']+)'/.exec(broken.stderr) ?? []
      const rest = yield* cli(["list", "--page-size", "20", `--cursor=${from}`, ...flags])

      assert.deepStrictEqual(idsOf(some.stdout), expected.slice(0, 5))
      assert.strictEqual(asked, 1)
      assert.deepStrictEqual([broken.code, rest.code], [7, 0])
      assert.isAbove(linesOf(broken.stdout).length, 20)
      assert.deepStrictEqual(idsOf(broken.stdout + rest.stdout), expected)
    })))

  it.effect("has titles as wide as the rows, also where the first page has none of the period", () =>
    inFake(Effect.gen(function*() {
      const flags = ["--zone-file", yield* fileOf(zones), ...week, "--page-size", "5"]
      const { stdout } = yield* cli(["list", ...flags])
      const json = yield* cli(["list", "--json", ...flags])
      const [head = "", row = ""] = linesOf(stdout)

      assert.strictEqual(head.indexOf("clocked_in"), row.indexOf("2026-"))
      assert.strictEqual(JSON.parse(json.stdout).length, linesOf(stdout).length - 1)
    })))

  it.effect.each(["list", "summary", "export --output punches"])(
    "of %s is refused with the line of its mistake, before a request",
    (call) =>
      inFake(Effect.gen(function*() {
        const file = yield* fileOf({ ...zones, 304: "Mars/Olympus" })
        const wrong = yield* cli([...call.split(" "), ...week, "--zone-file", file])
        const missing = yield* cli([...call.split(" "), ...week, "--zone-file", `${file}.none`])
        const both = yield* cli([...call.split(" "), ...week, "--zone-file", yield* fileOf(zones), "--zone", "UTC"])

        assert.deepStrictEqual([wrong.code, missing.code, both.code], [2, 8, 2])
        assert.include(wrong.stderr, `${file}, line 5: the zone must be the name of a time zone`)
        assert.include(missing.stderr, `${file}.none: there is no such file`)
        assert.include(both.stderr, "--zone and --zone-file both say which clock counts")
        assert.deepStrictEqual(yield* queries, [])
      }))
  )

  it.effect("of an export goes with a period", () =>
    inFake(Effect.gen(function*() {
      const { code, stderr } = yield* cli(["export", "--output", "punches", "--zone-file", yield* fileOf(zones)])

      assert.strictEqual(code, 2)
      assert.match(stderr, /--zone-file goes with a period/)
    })))
})

/** With a punch of another location: after the week in each of the three zones, but in that of Baker Island. */
const inBeyond = inFakeOf([...punches, punchAt(9000, 309, Date.parse("2026-03-09T11:00:00Z"))])

describe("a location that is not in the file of --zone-file", () => {
  it.effect.each(["list", "summary"])(
    "fails %s, also where its punch is in no period of the others",
    (command) =>
      inBeyond(Effect.gen(function*() {
        const { code, stderr, stdout } = yield* cli([command, "--json", ...week, "--zone-file", yield* fileOf(zones)])

        assert.strictEqual(code, 2)
        assert.match(
          stderr,
          /^time-punches: location 309 has no zone\n {2}Add it and its zone to the file of --zone-file/m
        )
        assert.throws(() => JSON.parse(stdout))
      }))
  )

  it.effect("leaves a list that resumes with the location in the file", () =>
    inBeyond(Effect.gen(function*() {
      const call = ["list", "--format", "ndjson", "--page-size", "20", ...week]
      const failed = yield* cli([...call, "--zone-file", yield* fileOf(zones)])
      const [, from = ""] = /--cursor='([^']+)'/.exec(failed.stderr) ?? []
      const rest = yield* cli([
        ...call,
        `--cursor=${from}`,
        "--zone-file",
        yield* fileOf({ ...zones, 309: "-12:00" })
      ])

      assert.strictEqual(rest.code, 0)
      assert.deepStrictEqual(idsOf(failed.stdout + rest.stdout), [...idsIn("2026-03-02", "2026-03-08"), 9000])
    })))

  it.effect("leaves an export that starts over with the location in the file", () =>
    inBeyond(Effect.gen(function*() {
      const output = `${yield* temporaryFolder}/punches`
      const call = ["export", "--page-size", "20", "--output", output, ...week]
      const failed = yield* cli([...call, "--zone-file", yield* fileOf(zones)])
      const complete = ["--zone-file", yield* fileOf({ ...zones, 309: "-12:00" })]
      const refused = yield* cli([...call, ...complete])
      const forced = yield* cli([...call, ...complete, "--force"])

      assert.deepStrictEqual([failed.code, refused.code, forced.code], [2, 2, 0])
      assert.match(failed.stderr, /location 309 has no zone\n.*\n {2}Then start over, with --force\.\n$/)
      assert.match(refused.stderr, /with other flags: --zone-file 3 with sha256 [0-9a-f]+, now 4 with sha256/)
      assert.deepStrictEqual(idsOf(read(output)), [...idsIn("2026-03-02", "2026-03-08"), 9000])
    })))
})

describe("an unfinished export with --zone-file", () => {
  const begun = Effect.fnUntraced(function*(format: string, period: ReadonlyArray<string>, pages: number) {
    yield* TestClock.setTime(Date.parse("2026-03-11T03:00:00Z"))
    const file = yield* fileOf(zones)
    const output = `${yield* temporaryFolder}/punches`
    const whole = `${output}.whole`
    const call = ["export", "--format", format, "--page-size", "20", ...period, "--zone-file"]
    yield* cli([...call, file, "--output", whole])
    yield* failAfter(pages)
    const first = yield* cli([...call, file, "--output", output])
    assert.strictEqual(first.code, 7)
    return { call, file, output, whole: read(whole) }
  })

  it.effect.each(["ndjson", "csv"].flatMap((format) => [1, 3, 9].map((pages): [string, number] => [format, pages])))(
    "resumes to the same bytes: %s after %i pages",
    ([format, pages]) =>
      inFake(Effect.gen(function*() {
        const { call, file, output, whole } = yield* begun(format, week, pages)
        const ran = yield* cli([...call, file, "--output", output])

        assert.strictEqual(ran.code, 0)
        assert.strictEqual(read(output), whole)
        assert.strictEqual(linesOf(whole).length, idsIn("2026-03-02", "2026-03-08").length + (format === "csv" ? 1 : 0))
      }))
  )

  it.effect("resumes with another file of the same zones, and not with other ones", () =>
    inFake(Effect.gen(function*() {
      const { call, output, whole } = yield* begun("ndjson", week, 9)
      const other = yield* fileOf({ ...zones, 302: "Europe/London" })
      const refused = yield* cli([...call, other, "--output", output])
      const single = yield* cli([...call.slice(0, -1), "--zone", "UTC", "--output", output])
      const same = yield* fileOf(zones)
      Fs.writeFileSync(same, linesOf(read(same)).toSorted().toReversed().join("\n"))
      const resumed = yield* cli([...call, same, "--output", output])

      assert.deepStrictEqual([refused.code, single.code, resumed.code], [2, 2, 0])
      assert.match(refused.stderr, /--zone-file 3 with sha256 .*period in Europe\/London \(none\), now /)
      assert.include(single.stderr, "--zone-file 3 with sha256")
      assert.match(resumed.stderr, /^resuming after /m)
      assert.strictEqual(read(output), whole)
    })))

  it.effect("of --last is another one after a midnight of a location, and is offered no window", () =>
    inFake(Effect.gen(function*() {
      const { call, file, output } = yield* begun("ndjson", ["--last", "7d"], 9)
      // Midnight of New York: the dates of the world's first and last zones are the same as before.
      yield* TestClock.setTime(Date.parse("2026-03-11T04:30:00Z"))
      const refused = yield* cli([...call, file, "--output", output])
      yield* TestClock.setTime(Date.parse("2026-03-12T04:30:00Z"))
      const nextDay = yield* cli([...call, file, "--output", output])

      assert.deepStrictEqual([refused.code, nextDay.code], [2, 2])
      assert.match(refused.stderr, /flags: period in America\/New_York .*, now 2026-03-05T05:00:00Z to 2026-03-12T04/)
      assert.match(nextDay.stderr, /flags: --clocked-in-gte .*; period in Pacific\/Honolulu /)
      // Its window would have the punches of other days too.
      assert.notInclude(nextDay.stderr, "in place of a period")
    })))
})
