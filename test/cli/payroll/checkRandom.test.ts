/** `time-punches payroll check` of random punches, against the model. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { FakeService, type StoredPunch } from "../../../src/testing/index.ts"
import { cli, temporaryFolder } from "../support.ts"
import { found } from "./checkModel.ts"
import { isoOf, issuesIn, punch, rest, writeZones, zones } from "./checkSupport.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const quarter = 15 * 60_000

/** Where it is worth to clock in: about the first and the last day of the period, and where the clocks change. */
const places = [0, 7 * 96, 6 * 96 + 24]

/** Times in quarters of an hour from a place, the length in hours. Few users, so that most of their punches overlap. */
const Parts = Schema.Struct({
  user: Schema.Literals([1, 1, 1, 2, 2, 2, 3, 4, 5, 6]),
  location: Schema.Literals([301, 302, 303]),
  role: Schema.Literals([11, 12]),
  department: Schema.NullOr(Schema.Literals([21, 22])),
  place: int(0, 2),
  start: int(-80, 80),
  length: Schema.NullOr(int(-1, 17)),
  wage: Schema.Literals([0, 1000, 1000, 1500, 10_000, 10_001, 12_501, 15_000, 15_001]),
  status: Schema.Literals(["pending", "approved", "disputed"]),
  approved: Schema.Boolean,
  auto: Schema.Literals([true, false, false]),
  deleted: Schema.Literals([true, false, false, false]),
  breaks: Schema.Array(
    Schema.Struct({
      in: int(-3, 60),
      length: Schema.NullOr(int(-1, 70)),
      deleted: Schema.NullOr(Schema.Boolean)
    })
  ).check(Schema.isMaxLength(3))
})

const Parted = Arbitrary.array(Arbitrary.schema(Parts), { minLength: 12, maxLength: 24 }).pipe(
  Arbitrary.map((all) => all.map((part) => ({ ...part, start: part.start + (places[part.place] ?? 0) })))
)

/** On the last day of each the clocks change, in New York twice and then in Berlin. */
const weeks = [["2026-03-02", "2026-03-08"], ["2026-10-26", "2026-11-01"], ["2026-10-19", "2026-10-25"]] as const

const punchesOf = (parts: ReadonlyArray<typeof Parts.Type>, first: string): ReadonlyArray<StoredPunch> => {
  const at = (quarters: number) => isoOf(Date.parse(`${first}T00:00:00Z`) + quarters * quarter)
  return parts.map((part, index) =>
    punch(index + 1, at(part.start), part.length, {
      user_id: part.user,
      location_id: part.location,
      role_id: part.role,
      department_id: part.department,
      hourly_wage: part.wage,
      approved: part.approved,
      auto_clocked_out: part.auto,
      deleted: part.deleted,
      employeeApprovalStatus: part.status,
      breaks: part.breaks.map((each) =>
        rest(at(part.start + each.in), each.length === null ? null : at(part.start + each.in + each.length), {
          deleted: each.deleted
        })
      )
    })
  )
}

/** Flags that select punches, and which. */
const selections: ReadonlyArray<readonly [flags: ReadonlyArray<string>, isChecked: (punch: StoredPunch) => boolean]> = [
  [[], () => true],
  [["--user-id", "2"], (punch) => punch.user_id === 2],
  [["--location-id", "302"], (punch) => punch.location_id === 302],
  [["--role-id", "12"], (punch) => punch.role_id === 12],
  [
    ["--department-id", "21", "--location-id", "301"],
    (punch) => punch.department_id === 21 && punch.location_id === 301
  ]
]

describe("time-punches payroll check", () => {
  it.effect.prop(
    "prints what the definitions find, in any week, by one zone or by that of each location",
    {
      parts: Parted,
      week: Schema.Literals([0, 1, 2]),
      byLocation: Schema.Boolean,
      asOf: Schema.NullOr(int(-50, 800)),
      maxWage: Schema.NullOr(Schema.Literals([1000, 12_501])),
      longest: Schema.Literals([1, 8, 16]),
      selection: Schema.Literals([0, 0, 1, 2, 3, 4]),
      pageSize: Schema.Literals([7, 200])
    },
    ({ asOf, byLocation, longest, maxWage, pageSize, parts, selection, week }) =>
      Effect.gen(function*() {
        const [first, last] = weeks[week]
        const punches = punchesOf(parts, first)
        const instant = asOf === null ? null : isoOf(Date.parse(`${first}T00:00:00Z`) + asOf * quarter)
        const [flags, isChecked] = selections[selection] ?? [[], () => false]
        const expected = found(punches, {
          zoneOf: (locationId) => byLocation ? zones[locationId] ?? "" : "America/New_York",
          read: byLocation
            // A punch of any zone of the world is read, so that no location is missing in the file in silence, and of three
            // hours more, by which clocks are set back at most.
            ? [...Object.values(zones).map((zone) => [zone, longest] as const), ["Etc/GMT-14", 3], ["Etc/GMT+12", 3]]
            : [["America/New_York", longest]],
          first,
          last,
          longestHours: longest,
          asOf: instant,
          disputed: new Set(punches.filter((each) => each.employeeApprovalStatus === "disputed").map(({ id }) => id)),
          isChecked,
          user: flags[0] === "--user-id" ? 2 : undefined,
          maxWage
        })
        const zone = byLocation ? ["--zone-file", writeZones(yield* temporaryFolder)] : ["--zone", "America/New_York"]
        const asOfFlags = instant === null ? [] : ["--as-of", instant]
        const maxWageFlags = maxWage === null ? [] : ["--max-wage", `${maxWage / 100}`]
        const common = [
          "payroll",
          "check",
          "--json",
          "--week",
          first,
          "--max-shift",
          `${longest}h`,
          "--page-size",
          `${pageSize}`
        ]
        const { code, stderr, stdout } = yield* Effect.provide(
          cli([...common, "--accept", "empty", ...zone, ...asOfFlags, ...maxWageFlags, ...flags]),
          FakeService.layer({ punches })
        )

        assert.deepStrictEqual(issuesIn(stdout), expected, stderr)
        assert.strictEqual(code, expected.length === 0 ? 0 : 9)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 80 }, timeout: 60_000 }
  )
})
