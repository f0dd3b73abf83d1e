import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { eraseLine } from "../../../src/cli/print/messages.ts"
import { FakeService, Fault, type WirePunch } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { cli, linesOf, queries, temporaryFolder } from "../support.ts"

const punch = (id: number, given: Partial<WirePunch>): WirePunch => servicePunch({ id, ...given })

const rest = {
  id: 1,
  user_id: 1,
  custom_break_id: 0,
  paid: false,
  in: "2026-03-02T12:00:00Z",
  out: "2026-03-02T12:30:00Z"
}

const fake = FakeService.layer({
  punches: [
    // Eight hours less half an hour, at 10.00: 75.00.
    punch(1, { breaks: [rest], tips: 250 }),
    // Two hours, in New York in the evening of the day before: 40.00.
    punch(2, {
      user_id: 2,
      location_id: 302,
      department_id: 21,
      hourly_wage: 2000,
      clocked_in: "2026-03-03T01:00:00Z",
      clocked_out: "2026-03-03T03:00:00Z",
      tips: -100
    }),
    // Still open.
    punch(3, { user_id: 2, location_id: 302, clocked_in: "2026-03-03T09:00:00Z", clocked_out: null })
  ]
})

const tableOf = (...flags: ReadonlyArray<string>) =>
  Effect.map(cli(["summary", ...flags]), ({ stdout }) => linesOf(stdout).map((line) => line.trim().split(/ {2,}/)))

describe("time-punches summary", () => {
  it.effect("sums by location, longest first, with bars and a total", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["summary"])

      assert.strictEqual(code, 0)
      assert.deepStrictEqual(linesOf(stdout), [
        "location_id  punches  incomplete   net                              cost   tips",
        "301                1           0  7:30  ████████████████████████   75.00   2.50",
        "302                2           1  2:00  ██████▍                    40.00  -1.00",
        "total              3           1  9:30                            115.00   1.50"
      ])
      assert.match(stderr, /^The time of 1 punch is unknown.*--as-of counts .* for the current day alone\.$/m)
    }).pipe(Effect.provide(fake)))

  it.effect("writes the seconds of a time, so that rows add up to the total", () =>
    Effect.gen(function*() {
      const outs = ["21:59:40", "21:59:40.5", "21:00:00"]
      yield* FakeService.use((service) =>
        service.seed(outs.map((out, at) =>
          punch(at + 1, {
            user_id: at + 1,
            clocked_in: "2026-03-02T14:00:00Z",
            clocked_out: `2026-03-02T${out}Z`,
            breaks: []
          })
        ))
      )
      const summed = yield* tableOf("--by", "user", "--zone", "UTC", "--daily-threshold", "7h")
      const { stdout } = yield* cli(["list"])

      assert.deepStrictEqual(
        summed.slice(1).map((cells) => [cells[0], cells[3], cells.at(-3)]),
        [
          ["2", "7:59:40.5", "0:59:40.5"],
          ["1", "7:59:40", "0:59:40"],
          ["3", "7:00", "0:00"],
          ["total", "22:59:20.5", "1:59:20.5"]
        ]
      )
      assert.match(stdout, / 7:59:40 /)
    }).pipe(Effect.provide(FakeService.layer({ punches: [] }))))

  it.effect("reads the names once: the file may be a pipe", () =>
    Effect.gen(function*() {
      const names = `${yield* temporaryFolder}/names.csv`
      Fs.writeFileSync(names, "kind,id,name\nlocation,301,Harbour\n")
      let reads = 0
      const { stdout } = yield* cli(["summary", "--names", names], {
        files: (fs) => ({
          ...fs,
          stream: (path, options) => {
            reads += path === names ? 1 : 0
            return fs.stream(path, options)
          }
        })
      })

      assert.include(stdout, "Harbour")
      assert.strictEqual(reads, 1)
    }).pipe(Effect.scoped, Effect.provide(fake)))

  it.effect("says that its sums are not complete when it is interrupted", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.stallBeforeHeaders)
      const stderr: Array<string> = []
      const running = yield* Effect.forkChild(cli(["summary"], { stderr }))
      while ((yield* queries).length === 0)
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
      yield* Fiber.interrupt(running)

      assert.deepStrictEqual(stderr, ["interrupted: the sums are not complete, and nothing is stored\n"])
    }).pipe(Effect.provide(fake)))

  it.effect("counts open punches up to an instant", () =>
    Effect.gen(function*() {
      const { stderr, stdout } = yield* cli(["summary", "--as-of", "2026-03-03T19:00:00Z"])

      assert.strictEqual(stderr, "")
      assert.match(stdout, /^302 +2 +0 +12:00 .* 140\.00/m)
    }).pipe(Effect.provide(fake)))

  it.effect("takes the day of the clock-in in the zone", () =>
    Effect.gen(function*() {
      const utc = yield* tableOf("--by", "day")
      const local = yield* tableOf("--by", "day", "--zone", "America/New_York")

      assert.deepStrictEqual(utc.map(([day, punches]) => [day, punches]).slice(1), [
        ["2026-03-02", "1"],
        ["2026-03-03", "2"],
        ["total", "3"]
      ])
      assert.deepStrictEqual(local.map(([day, punches]) => [day, punches]).slice(1), [
        ["2026-03-02", "2"],
        ["2026-03-03", "1"],
        ["total", "3"]
      ])
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      ["user", ["1", "2"]],
      ["role", ["11"]],
      ["department", ["none", "21"]]
    ] as const
  )("sums by %s", ([by, keys]) =>
    Effect.gen(function*() {
      const [head, ...rows] = yield* tableOf("--by", by)

      assert.strictEqual(head?.[0], `${by}_id`)
      assert.deepStrictEqual(rows.map(([key]) => key), [...keys, "total"])
    }).pipe(Effect.provide(fake)))

  it.effect("sums by several keys, in their order, without bars and without repeating what stands above", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.clear
      yield* service.seed([
        punch(1, { user_id: 2, role_id: 12 }),
        punch(2, { user_id: 1, role_id: 12, clocked_in: "2026-03-10T08:00:00Z", clocked_out: "2026-03-10T16:00:00Z" }),
        punch(3, { user_id: 1, role_id: 11 }),
        punch(4, { user_id: 1, role_id: 12 })
      ])
      const names = `${yield* temporaryFolder}/names.csv`
      Fs.writeFileSync(names, "kind,id,name\nuser,1,Ana\nuser,2,Ben\nrole,12,Cook\n")
      const by = ["summary", "--by", "user,role,week", "--zone", "UTC"]
      const table = yield* cli(by)
      const named = yield* cli([...by, "--names", names])
      const csv = yield* cli([...by, "--format", "csv", "--names", names])
      const json = yield* cli([...by, "--json"])

      assert.deepStrictEqual(linesOf(table.stdout).map((line) => line.replace(/ +\d+\.\d\d +\S+$/, "")), [
        "user_id  role_id  week        punches  incomplete    net    cost  tips",
        "1        11       2026-03-02        1           0   8:00",
        "         12       2026-03-02        1           0   8:00",
        "                  2026-03-09        1           0   8:00",
        "2        12       2026-03-02        1           0   8:00",
        "total                               4           0  32:00"
      ])
      assert.deepStrictEqual(linesOf(named.stdout).map((line) => line.slice(0, 38).trimEnd()), [
        "user_id  user  role_id  role  week",
        "1        Ana   11             2026-03-",
        "               12       Cook  2026-03-",
        "                              2026-03-",
        "2        Ben   12       Cook  2026-03-",
        "total"
      ])
      assert.deepStrictEqual(linesOf(csv.stdout).map((line) => line.split(",").slice(0, 6).join()), [
        "user_id,user_name,role_id,role_name,week,punches",
        "1,Ana,11,,2026-03-02,1",
        "1,Ana,12,Cook,2026-03-02,1",
        "1,Ana,12,Cook,2026-03-09,1",
        "2,Ben,12,Cook,2026-03-02,1"
      ])
      const rows: ReadonlyArray<Record<string, unknown>> = JSON.parse(json.stdout)
      assert.deepStrictEqual(rows.map(({ punches, roleId, userId, week }) => [userId, roleId, week, punches]), [
        [1, 11, "2026-03-02", 1],
        [1, 12, "2026-03-02", 1],
        [1, 12, "2026-03-09", 1],
        [2, 12, "2026-03-02", 1]
      ])
    }).pipe(Effect.scoped, Effect.provide(fake)))

  it.effect.each(["user,user", "user,team", "user;role", ""])("refuses --by %s", (by) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["summary", `--by=${by}`])

      assert.strictEqual(code, 2)
      assert.include(stderr, "some of location, user, role, department, day, week, each once, joined by commas")
    }).pipe(Effect.provide(fake)))

  it.effect("begins weeks and days as --week-starts and --day-starts say, and prints what a word means", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.clear
      // Sunday, 8 March, 02:00.
      yield* service.seed([punch(1, { clocked_in: "2026-03-08T02:00:00Z", clocked_out: "2026-03-08T06:00:00Z" })])
      const keyOf = (...flags: ReadonlyArray<string>) =>
        Effect.map(tableOf("--zone", "UTC", ...flags), ([, row]) => row?.[0])

      assert.strictEqual(yield* keyOf("--by", "week", "--week-starts", "sunday"), "2026-03-08")
      assert.strictEqual(yield* keyOf("--by", "week"), "2026-03-02")
      assert.strictEqual(yield* keyOf("--by", "day", "--day-starts", "04:00"), "2026-03-07")
      assert.strictEqual(
        yield* keyOf("--by", "week", "--week-starts", "sunday", "--day-starts", "04:00"),
        "2026-03-01"
      )
      yield* TestClock.setTime(Date.UTC(2026, 2, 9, 12))
      const { stderr } = yield* cli(["summary", "--week", "last", "--zone", "UTC"])
      assert.strictEqual(stderr, "--week last: 2026-03-02 to 2026-03-08\n")
    }).pipe(Effect.provide(fake)))

  it.effect("rounds as --rounding says", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.clear
      yield* service.seed([punch(1, { hourly_wage: 1, clocked_out: "2026-03-02T08:30:00Z" })])
      const costs = yield* Effect.forEach(["halfUp", "halfEven", "down", "up"], (rounding) =>
        Effect.map(tableOf("--rounding", rounding), ([, row]) => row?.at(-2)))

      assert.deepStrictEqual(costs, ["0.01", "0.00", "0.00", "0.01"])
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      ["tips", { tips: 5e15 }],
      ["cost", { hourly_wage: 9e15, clocked_out: "2026-03-02T08:36:00Z" }]
    ] as const
  )(
    "fails if the total of %s exceeds 2^53 although no group does",
    ([name, given]) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* service.clear
        yield* service.seed([punch(1, { ...given, location_id: 301 }), punch(2, { ...given, location_id: 302 })])
        const { code, stderr, stdout } = yield* cli(["summary"])

        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.include(stderr, `the sum of ${name} over all groups exceeds 2^53`)
      }).pipe(Effect.provide(fake))
  )

  it.effect("prints no table without punches, and no incomplete one", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const empty = yield* cli(["summary", "--user-id", "99"])
      yield* service.inject({ _tag: "Status", status: 403, options: {} }, { requests: 3 })
      const failed = yield* cli(["summary", "--page-size", "2"])

      assert.deepStrictEqual([empty.code, empty.stdout, empty.stderr], [0, "", "no punch matches\n"])
      assert.deepStrictEqual([failed.code, failed.stdout], [5, ""])
    }).pipe(Effect.provide(fake)))

  it.effect("erases its progress line before the table, on the terminal that both go to", () =>
    Effect.gen(function*() {
      const screen: Array<string> = []
      const { stdout } = yield* cli(["summary"], { terminal: true, screen })
      const transcript = screen.join("")
      const shown = transcript.split("\n").map((line) => line.split(eraseLine).at(-1))

      assert.include(transcript, `${eraseLine}3 punches`)
      assert.strictEqual(linesOf(stdout).length, 4)
      // What stays of each line on the screen: what was written after it was erased last.
      assert.deepStrictEqual(shown.slice(0, 4), [...linesOf(stdout)])
      assert.match(shown[4] ?? "", /The time of 1 punch is unknown/)
    }).pipe(Effect.provide(fake)))

  const sums301 = [1, 0, 0, 28_800, 0, 1800, 27_000, 7500, 250]
  const sums302 = [2, 1, 1, 7200, 0, 0, 7200, 4000, -100]

  it.effect("is exact in CSV and JSON, a row for each group by its key", () =>
    Effect.gen(function*() {
      const csv = yield* cli(["summary", "--format", "csv"])
      const json = yield* cli(["summary", "--json"])
      const rows: ReadonlyArray<Record<string, unknown>> = JSON.parse(json.stdout)

      assert.deepStrictEqual([csv.code, json.code], [0, 0])
      assert.strictEqual(
        csv.stdout,
        "location_id,punches,incomplete,anomalous,gross_seconds,paid_break_seconds,unpaid_break_seconds,net_seconds," +
          `cost_cents,tips_cents\r\n301,${sums301.join()}\r\n302,${sums302.join()}\r\n`
      )
      assert.strictEqual(
        Object.keys(rows[0] ?? {}).join(),
        "locationId,punches,incomplete,anomalous,grossSeconds,paidBreakSeconds,unpaidBreakSeconds,netSeconds," +
          "costCents,tipsCents"
      )
      assert.deepStrictEqual(rows.map((row) => Object.values(row)), [[301, ...sums301], [302, ...sums302]])
      assert.match(json.stderr, /^The time of 1 punch is unknown/)
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      ["day", ["2026-03-02", "2026-03-03"], "day"],
      ["department", [21, null], "departmentId"]
    ] as const
  )("names the groups by %s in JSON", ([by, keys, field]) =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["summary", "--by", by, "--format", "json"])
      const rows: ReadonlyArray<Record<string, unknown>> = JSON.parse(stdout)

      assert.strictEqual(JSON.stringify(rows.map((row) => row[field])), JSON.stringify(keys))
    }).pipe(Effect.provide(fake)))

  it.effect("has machine forms without punches, and where only the total is no safe integer", () =>
    Effect.gen(function*() {
      const none = yield* cli(["summary", "--json", "--user-id", "99"])
      const header = yield* cli(["summary", "--format", "csv", "--user-id", "99"])
      const service = yield* FakeService
      yield* service.clear
      yield* service.seed([punch(1, { tips: 5e15, location_id: 301 }), punch(2, { tips: 5e15, location_id: 302 })])
      const large = yield* cli(["summary", "--json"])
      const tips: ReadonlyArray<Record<string, unknown>> = JSON.parse(large.stdout)

      assert.deepStrictEqual([none.code, none.stdout, none.stderr], [0, "[]\n", "no punch matches\n"])
      assert.match(header.stdout, /^location_id,.*\r\n$/)
      assert.deepStrictEqual(tips.map((row) => row["tipsCents"]), [5e15, 5e15])
    }).pipe(Effect.provide(fake)))

  it.effect("shows names beside the ids, and has them as a column in machine forms", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/names.csv`
      Fs.writeFileSync(file, "kind,id,name\nlocation,301,\"=cmd|'x', 東京\"\nuser,302,Wrong kind\n")
      const table = yield* tableOf("--names", file)
      const csv = yield* cli(["summary", "--names", file, "--format", "csv"])
      const json = yield* cli(["summary", "--names", file, "--json"])
      const rows: ReadonlyArray<Record<string, unknown>> = JSON.parse(json.stdout)

      assert.deepStrictEqual(table.map((cells) => cells.slice(0, 3)), [
        ["location_id", "location", "punches"],
        ["301", "=cmd|'x', 東京", "1"],
        ["302", "2", "1"],
        ["total", "3", "1"]
      ])
      assert.match(csv.stdout, /^location_id,location_name,punches,/)
      assert.include(csv.stdout, `\r\n301,"'=cmd|'x', 東京",1,0,`)
      assert.include(csv.stdout, "\r\n302,,2,1,")
      assert.deepStrictEqual(rows.map((row) => [row["locationId"], row["locationName"]]), [
        [301, "=cmd|'x', 東京"],
        [302, null]
      ])
    }).pipe(Effect.scoped, Effect.provide(fake)))
})
