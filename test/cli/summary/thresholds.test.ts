import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FakeService } from "../../../src/testing/index.ts"
import { punch, writeZones } from "../payroll/checkSupport.ts"
import { cli, inFakeOf, linesOf, queries, temporaryFolder } from "../support.ts"

const shift = (id: number, user_id: number, clockedIn: string, hours: number | null, location_id = 301) =>
  punch(id, clockedIn, hours, { user_id, location_id })

const inFake = inFakeOf([
  // User 1: 45 hours from Monday to Friday, and 5 on Sunday evening in New York, which is Monday in UTC.
  ...["09", "10", "11", "12", "13"].map((day, at) => shift(at + 1, 1, `2026-03-${day}T13:00:00Z`, 9)),
  shift(6, 1, "2026-03-16T01:00:00Z", 5),
  // User 2: 7 hours in New York, then 6 in Honolulu on the same date, one of another length, and one still open.
  shift(7, 2, "2026-03-10T13:00:00Z", 7),
  shift(8, 2, "2026-03-11T06:00:00Z", 6, 303),
  shift(9, 2, "2026-03-12T13:00:00Z", 0.25),
  shift(10, 2, "2026-03-13T13:00:00Z", null)
])

const zonesFile = Effect.map(
  temporaryFolder,
  (folder) => writeZones(folder, [["301", "America/New_York"], ["303", "Pacific/Honolulu"]])
)

const week = ["summary", "--by", "user", "--week", "2026-03-09"]
const thresholds = ["--weekly-threshold", "40h", "--daily-threshold", "8h", "--double-threshold", "12h"]

const rowsOf = (json: string): ReadonlyArray<Record<string, unknown>> => JSON.parse(json)

const secondsOf = (json: string) => rowsOf(json).map((row) => [row["overSeconds"], row["doubleSeconds"]])

describe("summary with thresholds", () => {
  it.effect("show the hours of each person over the thresholds, by the clock of each location", () =>
    inFake(Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli([...week, ...thresholds, "--zone-file", yield* zonesFile])

      assert.strictEqual(code, 0)
      assert.deepStrictEqual(linesOf(stdout), [
        "user_id  punches  incomplete    net                            regular   over  double    cost  tips",
        "1              6           0  50:00  ████████████████████████    40:00  10:00    0:00  500.00  0.00",
        "2              4           1  13:15  ██████▍                      8:15   4:00    1:00  132.50  0.00",
        "total         10           1  63:15                              48:15  14:00    1:00  632.50  0.00"
      ])
      assert.match(stderr, /^The time of 1 punch is unknown[^\n]*\n$/)
    })))

  it.effect("are exact in CSV and JSON, as columns before the sums", () =>
    inFake(Effect.gen(function*() {
      const flags = ["--zone-file", yield* zonesFile]
      const csv = yield* cli([...week, ...thresholds, ...flags, "--format", "csv"])
      const json = yield* cli([...week, ...thresholds, ...flags, "--json"])

      assert.match(csv.stdout, /^user_id,regular_seconds,over_seconds,double_seconds,punches,incomplete,/)
      assert.deepStrictEqual(
        linesOf(csv.stdout).slice(1).map((line) => line.split(",").slice(0, 5)),
        [["1", "144000", "36000", "0", "6"], ["2", "29700", "14400", "3600", "4"]]
      )
      assert.strictEqual(
        Object.keys(rowsOf(json.stdout)[0] ?? {}).slice(0, 5).join(),
        "userId,regularSeconds,overSeconds,doubleSeconds,punches"
      )
      assert.deepStrictEqual(secondsOf(json.stdout), [[36_000, 0], [14_400, 3600]])
    })))

  it.effect("count by one zone, with fractions of an hour, and each alone", () =>
    inFake(Effect.gen(function*() {
      const zone = ["--zone", "America/New_York", "--json"]
      const one = yield* cli([...week, ...zone, "--weekly-threshold", "37.5h"])
      const other = yield* cli([...week, ...zone, "--daily-threshold", "360m"])

      // The evening in Honolulu is the next date in New York.
      assert.deepStrictEqual(secondsOf(one.stdout), [[12.5 * 3600, undefined], [0, undefined]])
      assert.deepStrictEqual(secondsOf(other.stdout), [[15 * 3600, undefined], [3600, undefined]])
    })))

  it.effect("count open punches up to --as-of", () =>
    inFake(Effect.gen(function*() {
      const flags = ["--zone-file", yield* zonesFile, "--as-of", "2026-03-14T13:00:00Z", "--json"]
      const { stdout } = yield* cli([...week, ...thresholds, ...flags])

      assert.deepStrictEqual(secondsOf(stdout), [[36_000, 0], [(4 + 4) * 3600, (1 + 12) * 3600]])
    })))

  it.effect("begin weeks on --week-starts also without --week", () =>
    inFake(Effect.gen(function*() {
      const month = ["summary", "--by", "user", "--month", "2026-03", "--json", "--zone-file", yield* zonesFile]
      const monday = yield* cli([...month, "--weekly-threshold", "47h"])
      const sunday = yield* cli([...month, "--weekly-threshold", "47h", "--week-starts", "sunday"])
      const daily = yield* cli([...month, "--daily-threshold", "8h", "--week-starts", "sunday"])

      assert.deepStrictEqual([monday, sunday].map(({ stdout }) => rowsOf(stdout)[0]?.["overSeconds"]), [3 * 3600, 0])
      assert.deepStrictEqual([daily.code, daily.stdout], [2, ""])
    })))

  it.effect("say without a period that a week may be in it in part", () =>
    inFake(Effect.gen(function*() {
      const all = ["summary", "--by", "user", "--zone", "America/New_York", "--json", ...thresholds]
      const within = yield* cli([...all, "--week", "2026-03-11"])
      const without = yield* cli(all)

      assert.match(
        without.stderr,
        /^--weekly-threshold: a week that the listed punches cover in part counts with that part\n/
      )
      assert.notInclude(within.stderr, "--weekly-threshold")
    })))

  it.effect("have of a week that the period cuts the hours of its own days: those of two periods are those of the week", () =>
    inFake(Effect.gen(function*() {
      const zone = [
        "--zone",
        "America/New_York",
        "--weekly-threshold",
        "40h",
        "--user-id",
        "1",
        "--by",
        "user",
        "--json"
      ]
      const [first, second, whole] = yield* Effect.forEach(
        [["2026-03-01", "2026-03-12"], ["2026-03-13", "2026-03-31"], ["2026-03-01", "2026-03-31"]],
        ([start = "", end = ""]) => cli(["summary", ...zone, "--from", start, "--to", end])
      )
      const sums = [first, second, whole].map((run) => {
        const [row] = rowsOf(run?.stdout ?? "[]")
        return [row?.["netSeconds"], row?.["overSeconds"]]
      })

      // 36 hours by Thursday; 9 on Friday and 5 on Sunday.
      assert.deepStrictEqual(sums, [[36 * 3600, 0], [14 * 3600, 10 * 3600], [50 * 3600, 10 * 3600]])
    })))

  it.effect("are those of each date and each week of a person, and of all people", () =>
    inFake(Effect.gen(function*() {
      const flags = [...thresholds, "--zone-file", yield* zonesFile]
      const of = (by: string) =>
        Effect.map(cli(["summary", "--week", "2026-03-11", ...flags, "--by", by, "--json"]), ({ stdout }) =>
          rowsOf(stdout).map((row) => [
            row["userId"],
            row["week"] ?? row["day"],
            Number(row["overSeconds"]) / 3600,
            Number(row["doubleSeconds"]) / 3600
          ]))

      assert.deepStrictEqual(yield* of("user,week"), [[1, "2026-03-09", 10, 0], [2, "2026-03-09", 4, 1]])
      assert.deepStrictEqual(
        (yield* of("user,day")).filter(([, , one, other]) =>
          one !== 0 || other !== 0
        ),
        [
          [1, "2026-03-09", 1, 0],
          [1, "2026-03-10", 1, 0],
          [1, "2026-03-11", 1, 0],
          [1, "2026-03-12", 1, 0],
          [1, "2026-03-13", 1, 0],
          [1, "2026-03-15", 5, 0],
          [2, "2026-03-10", 4, 1]
        ]
      )
      assert.deepStrictEqual(yield* of("week"), [[undefined, "2026-03-09", 14, 1]])
    })))

  it.effect("are those of the job in which each hour was worked, and add up to those of the person", () =>
    inFake(Effect.gen(function*() {
      const flags = [...thresholds, "--zone-file", yield* zonesFile]
      const of = (by: string, ...more: ReadonlyArray<string>) =>
        Effect.map(
          cli(["summary", "--week", "2026-03-09", ...flags, "--by", by, "--json", ...more]),
          ({ stdout }) =>
            rowsOf(stdout).map((row) =>
              [row["userId"], row["locationId"]].concat(
                ["regularSeconds", "overSeconds", "doubleSeconds"].map((name) => Number(row[name]) / 3600)
              )
            )
        )

      // Seven hours in New York, then six in Honolulu: the first of them is the eighth of the day.
      assert.deepStrictEqual(yield* of("user,location"), [
        [1, 301, 40, 10, 0],
        [2, 301, 7.25, 0, 0],
        [2, 303, 1, 4, 1]
      ])
      assert.deepStrictEqual(yield* of("location"), [[undefined, 301, 47.25, 10, 0], [undefined, 303, 1, 4, 1]])
      assert.deepStrictEqual(yield* of("department"), [[undefined, undefined, 48.25, 14, 1]])
    })))

  it.effect("have no regular hour on the seventh day of a workweek, whose other days a period may cut off", () =>
    inFakeOf(
      Array.from(
        { length: 8 },
        (_, at) => shift(at + 1, 1, `2026-03-${String(8 + at).padStart(2, "0")}T15:00:00Z`, 6, at % 2 === 0 ? 303 : 301)
      )
    )(Effect.gen(function*() {
      const zones = yield* zonesFile
      const of = (...flags: ReadonlyArray<string>) =>
        Effect.map(
          cli(["summary", "--zone-file", zones, "--by", "user", "--json", ...flags]),
          ({ stdout }) =>
            rowsOf(stdout).map((row) =>
              ["regularSeconds", "overSeconds", "doubleSeconds"].map((name) => Number(row[name]) / 3600)
            )
        )
      const last = ["--from", "2026-03-15", "--to", "2026-03-15"]

      assert.deepStrictEqual(yield* of(...last, "--seventh-day"), [[0, 6, 0]])
      assert.deepStrictEqual(yield* of(...last, "--seventh-day=5h"), [[0, 5, 1]])
      assert.deepStrictEqual(yield* of("--from", "2026-03-08", "--to", "2026-03-15", "--seventh-day=5h"), [[42, 5, 1]])
      // The week ends on Saturday: its days are 8 to 14.
      assert.deepStrictEqual(yield* of(...last, "--seventh-day", "--week-starts", "sunday"), [[6, 0, 0]])
      assert.deepStrictEqual(
        yield* of("--from", "2026-03-14", "--to", "2026-03-15", "--seventh-day=0h", "--week-starts", "sunday"),
        [[6, 0, 6]]
      )
      const { stderr } = yield* cli(["summary", "--zone-file", zones, "--seventh-day"])
      assert.match(stderr, /^--seventh-day: a week that the listed punches cover in part/)
    })))

  it.effect("request every page once", () =>
    inFake(Effect.gen(function*() {
      yield* cli([...week, ...thresholds, "--zone", "UTC", "--page-size", "3"])

      assert.strictEqual((yield* queries).length, 3)
    })))

  it.effect.each(
    [
      ["--seventh-day --by user,role", /--seventh-day has no zone: .*\n {2}Add --zone/],
      ["--seventh-day=8 --zone UTC", /--seventh-day: "8".*hours up to 99999\.99h/],
      ["--seventh-day 8h --zone UTC", /8h/],
      ["--weekly-threshold 40h --by user", /--weekly-threshold has no zone: .*\n {2}Add --zone/],
      [
        "--weekly-threshold 40 --by user --zone UTC",
        /--weekly-threshold: "40".*hours up to 99999\.99h or minutes up to 9999999m, such as 40h, 37\.5h or 450m/
      ],
      ["--weekly-threshold 1d --by user --zone UTC", /--weekly-threshold: "1d"/],
      ["--weekly-threshold 0.01h --by user --zone UTC", /--weekly-threshold: "0.01h"/],
      ["--daily-threshold=-8h --by user --zone UTC", /--daily-threshold/],
      [
        "--daily-threshold 12h --double-threshold 8h --by user --zone UTC",
        /--double-threshold is lower than --daily-threshold/
      ]
    ] as const
  )("are refused: %s", ([flags, message]) =>
    inFake(Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["summary", ...flags.split(" ")])

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, message)
      assert.deepStrictEqual(yield* queries, [])
    })))

  it.effect("fail where a page fails, without a figure", () =>
    inFake(Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject({ _tag: "Status", status: 403, options: {} }, { requests: 3 })
      const { code, stdout } = yield* cli([...week, ...thresholds, "--zone", "UTC", "--page-size", "3"])

      assert.deepStrictEqual([code, stdout], [5, ""])
    })))
})
