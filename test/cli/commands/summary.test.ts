import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { defaultCompany, FakeService, type WirePunch } from "../../../src/testing/index.ts"
import { cli, linesOf } from "../support.ts"

const punch = (id: number, given: Partial<WirePunch>): WirePunch => ({
  id,
  shift_id: 0,
  user_id: 1,
  editable_punch: true,
  role_id: 11,
  company_id: defaultCompany.id,
  location_id: 301,
  department_id: null,
  hourly_wage: 1000,
  approved: true,
  clocked_in: "2026-03-02T08:00:00Z",
  clocked_out: "2026-03-02T16:00:00Z",
  notes: "",
  auto_clocked_out: false,
  clocked_in_offline: false,
  clocked_out_offline: false,
  tips: 0,
  pos_type: "web",
  breaks: [],
  created: "2026-03-02T08:00:00Z",
  modified: "2026-03-02T16:00:00Z",
  deleted: false,
  ...given
})

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
      assert.match(stderr, /^The time of 1 punch is unknown.*--as-of/)
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

  it.effect("rounds as --rounding says", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.clear
      yield* service.seed([punch(1, { hourly_wage: 1, clocked_out: "2026-03-02T08:30:00Z" })])
      const costs = yield* Effect.forEach(["half-up", "half-even", "down", "up"], (rounding) =>
        Effect.map(tableOf("--rounding", rounding), ([, row]) => row?.at(-2)))

      assert.deepStrictEqual(costs, ["0.01", "0.00", "0.00", "0.01"])
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      ["tips", { tips: 5e15 }],
      ["cost", { hourly_wage: 9e15, clocked_out: "2026-03-02T08:36:00Z" }]
    ] as const
  )(
    "fails where the total of %s is no safe integer, although that of each group is one",
    ([name, given]) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* service.clear
        yield* service.seed([punch(1, { ...given, location_id: 301 }), punch(2, { ...given, location_id: 302 })])
        const { code, stderr, stdout } = yield* cli(["summary"])

        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.include(stderr, `the sum of ${name} over all groups is no safe integer`)
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
})
