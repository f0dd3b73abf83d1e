/** `time-punches payroll close --next`: the period and the terms of the record, over a copy in a real file. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { type StoredPunch } from "../../../src/testing/index.ts"
import { cli, companyOnly, type Environment, inFolder } from "../support.ts"
import { shift } from "./checkSupport.ts"

const punch = (id: number, date: string, given: Partial<StoredPunch> = {}) =>
  shift(id, date, { user_id: 501, ...given })

/** A day of each of four weeks. */
const weekly = ["2026-03-03", "2026-03-10", "2026-03-17", "2026-03-24"].map((day, index) => punch(index + 1, day))

const newYork = ["--zone", "America/New_York"]

type Run = (...args: ReadonlyArray<string>) => ReturnType<typeof cli>

/** A copy of these punches in a folder, and `payroll` on it. A profile of the folder is used by `env`. */
const inCopy = <A, E, R>(
  punches: ReadonlyArray<StoredPunch>,
  use: (copy: { readonly run: Run; readonly folder: string }) => Effect.Effect<
    A,
    E,
    R
  >,
  more: Environment = {}
) =>
  inFolder(punches, (folder) => {
    const file = `${folder}/punches.db`
    const env = { ...companyOnly, XDG_CONFIG_HOME: folder, ...more }
    const run: Run = (...args) => cli(["payroll", ...args, "--database", file], { env })
    return Effect.andThen(cli(["sync", "--database", file, "--history"]), use({ folder, run }))
  })

/** Closes, and gives the new revision with its dates, such as `2.1: 2026-03-09 to 2026-03-15`. */
const closed = (run: Run, ...flags: ReadonlyArray<string>) =>
  Effect.map(run("close", ...flags), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, 0, stderr)
    return stdout.split(", as of ")[0]
  })

const refused = (run: Run, ...flags: ReadonlyArray<string>) =>
  Effect.map(run("close", "--next", ...flags), ({ code, stderr, stdout }) => {
    assert.deepStrictEqual([code, stdout], [2, ""], stderr)
    return stderr.split("\n").find((line) => line.startsWith("time-punches: "))
  })

describe("time-punches payroll close --next", () => {
  it.live("closes week after week by the terms of the first one, and says which", () =>
    inCopy(weekly, ({ run }) =>
      Effect.gen(function*() {
        const terms = [
          "--weekly-threshold",
          "6h",
          "--daily-threshold",
          "7.5h",
          "--double-threshold",
          "12h",
          "--rounding",
          "down",
          "--day-starts",
          "04:00"
        ]
        yield* closed(run, "--week", "2026-03-01", "--week-starts", "sunday", ...newYork, ...terms)
        const second = yield* run("close", "--next")

        assert.strictEqual(second.code, 0, second.stderr)
        assert.match(second.stdout, /^2\.1: 2026-03-08 to 2026-03-14, .*\n.* over .*\n +501 +1 +8:00 +2:00/)
        assert.include(second.stderr, "--next: 2026-03-08 to 2026-03-14, after close 1\n")
        assert.strictEqual(yield* closed(run, "--next"), "3.1: 2026-03-15 to 2026-03-21")
        // What says the same as the record passes.
        assert.strictEqual(
          yield* closed(run, "--next", ...newYork, ...terms, "--week-starts", "sunday"),
          "4.1: 2026-03-22 to 2026-03-28"
        )
        const { terms: first } = JSON.parse((yield* run("show", "1", "--json")).stdout)
        const { terms: last } = JSON.parse((yield* run("show", "4", "--json")).stdout)
        for (
          const name of ["rounding", "firstDay", "weeklyThreshold", "dailyThreshold", "doubleThreshold", "locations"]
        ) {
          assert.deepStrictEqual(last[name], first[name], name)
        }
        assert.deepStrictEqual([last.clocks[0].zone, last.clocks[0].dayStarts], ["America/New_York", 14_400])
        assert.strictEqual((yield* run("list")).stderr, "")
        // The copy ends before the next week does.
        const early = yield* run("close", "--next")
        assert.strictEqual(early.code, 9, early.stdout)
        assert.match(early.stderr, /not closed: .*empty 1/)
      })))

  it.live("closes the first week again by the terms of the close behind it, and names that close", () =>
    inCopy(weekly, ({ run }) =>
      Effect.gen(function*() {
        yield* closed(run, "--week", "2026-03-02", ...newYork, "--weekly-threshold", "38h")
        yield* closed(run, "--week", "2026-03-09", ...newYork, "--weekly-threshold", "40h")
        yield* run("void", "1.1", "--note", "wrong threshold")

        assert.strictEqual(
          yield* refused(run, "--weekly-threshold", "38h"),
          "time-punches: --weekly-threshold 38h differs from close 2, which has 40h"
        )
        const again = yield* run("close", "--next")
        assert.match(again.stdout, /^3\.1: 2026-03-02 to 2026-03-08,/)
        assert.include(
          again.stderr,
          "--next: 2026-03-02 to 2026-03-08, which fell out of every close, before close 2, with the terms of close 2; " +
            "--accept gap closes the one behind the last close\n"
        )
      })))

  it.live.each(
    [
      ["a month", "--month 2026-01", [
        "2026-02-01 to 2026-02-28",
        "2026-03-01 to 2026-03-31",
        "2026-04-01 to 2026-04-30"
      ]],
      [
        "half a month",
        "--pay-period 2026-01-20 --calendar 1,16",
        ["2026-02-01 to 2026-02-15", "2026-02-16 to 2026-02-28", "2026-03-01 to 2026-03-15"]
      ],
      [
        "a month from the 26th",
        "--pay-period 2026-02-01 --calendar 26",
        ["2026-02-26 to 2026-03-25", "2026-03-26 to 2026-04-25"]
      ],
      ["a fortnight", "--pay-period 2026-01-05 --calendar 14d:2026-01-05", ["2026-01-19 to 2026-02-01"]]
    ] as const
  )("follows the calendar: %s", ([, first, expected]) =>
    inCopy(weekly, ({ run }) =>
      Effect.gen(function*() {
        const accept = ["--accept", "stale,empty"]
        yield* closed(run, ...first.split(" "), ...newYork, ...accept)
        for (const [index, dates] of expected.entries()) {
          assert.strictEqual(yield* closed(run, "--next", ...accept), `${index + 2}.1: ${dates}`)
        }
      })))

  it.live("refuses by name what differs from the record, and the flags of a period", () =>
    inCopy(weekly, ({ folder, run }) =>
      Effect.gen(function*() {
        assert.match(
          (yield* refused(run)) ?? "",
          /next: no close is active, so none says what follows: close the first period by its dates/
        )
        yield* closed(run, "--week", "2026-03-02", ...newYork, "--weekly-threshold", "40h", "--day-starts", "04:00")
        const because = (...flags: ReadonlyArray<string>) => refused(run, ...flags)
        const differs = (flag: string, has: string) => `time-punches: ${flag} differs from close 1, which has ${has}`

        assert.strictEqual(yield* because("--weekly-threshold", "35h"), differs("--weekly-threshold 35h", "40h"))
        assert.strictEqual(yield* because("--daily-threshold", "450m"), differs("--daily-threshold 7.5h", "none"))
        assert.strictEqual(yield* because("--rounding", "halfEven"), differs("--rounding halfEven", "halfUp"))
        assert.strictEqual(yield* because("--week-starts", "sunday"), differs("--week-starts sunday", "monday"))
        assert.strictEqual(yield* because("--zone", "UTC"), differs("--zone UTC", "America/New_York"))
        assert.strictEqual(yield* because("--day-starts=-02:00"), differs("--day-starts -02:00", "04:00"))
        const zones = `${folder}/zones.csv`
        Fs.writeFileSync(zones, "location_id,zone\n301,Europe/Berlin\n")
        assert.strictEqual(
          yield* because("--zone-file", zones),
          differs("--zone-file", "America/New_York,04:00 for location 301")
        )
        for (
          const [flag = "", ...value] of [
            ["--week", "last"],
            ["--month", "2026-03"],
            ["--pay-period", "2026-03-09"],
            ["--calendar", "26"],
            ["--last", "7d"],
            ["--from", "2026-03-09"],
            ["--to", "2026-03-15"]
          ]
        ) {
          assert.strictEqual(
            yield* because(flag, ...value),
            `time-punches: --next goes without ${flag}: the record says which period is next`
          )
        }
        assert.match((yield* run("list")).stdout, /^revision.*\n1\.1 [^\n]*\n$/)
      })))

  it.live("takes a new location of --zone-file, whose days begin as those of the others do", () =>
    inCopy(
      [...weekly, punch(9, "2026-03-10", { user_id: 502, location_id: 304 })],
      ({ folder, run }) =>
        Effect.gen(function*() {
          const zones = `${folder}/zones.csv`
          Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n")
          const first = yield* run("close", "--week", "2026-03-02", "--zone-file", zones, "--day-starts", "04:00")
          assert.strictEqual(first.code, 0, first.stderr)
          assert.match((yield* refused(run)) ?? "", /location 304 has no zone/)
          Fs.appendFileSync(zones, "304,America/Chicago\n")
          assert.strictEqual(yield* closed(run, "--next", "--zone-file", zones), "2.1: 2026-03-09 to 2026-03-15")

          const { terms } = JSON.parse((yield* run("show", "2", "--json")).stdout)
          assert.deepStrictEqual(
            terms.locations.map((location: { readonly locationId: number; readonly clock: number }) => [
              location.locationId,
              terms.clocks[location.clock].zone,
              terms.clocks[location.clock].dayStarts
            ]),
            [[301, "America/New_York", 14_400], [304, "America/Chicago", 14_400]]
          )
          // It is in the record now.
          assert.strictEqual(yield* closed(run, "--next"), "3.1: 2026-03-16 to 2026-03-22")
          assert.strictEqual(
            yield* refused(run, "--zone", "America/New_York"),
            "time-punches: --zone America/New_York differs from close 3, which has a zone for each location"
          )
        })
    ))

  it.live("puts the record before the defaults of the profile, whose file of zones may add locations", () =>
    inCopy(
      [...weekly, punch(9, "2026-03-10", { user_id: 502, location_id: 304 })],
      ({ folder, run }) =>
        Effect.gen(function*() {
          const zones = `${folder}/first.csv`
          Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n")
          Fs.mkdirSync(`${folder}/time-punches`)
          const profile = (north: unknown) =>
            Fs.writeFileSync(`${folder}/time-punches/config.json`, JSON.stringify({ north }))
          profile({})
          yield* closed(run, "--week", "2026-03-02", "--zone-file", zones, "--weekly-threshold", "40h")
          Fs.writeFileSync(
            `${folder}/time-punches/zones.csv`,
            "location_id,zone\n301,Europe/Berlin\n304,America/Chicago\n"
          )
          profile({ zoneFile: "zones.csv", dayStarts: "05:00", weekStarts: "sunday", calendar: "26" })

          assert.strictEqual(yield* closed(run, "--next"), "2.1: 2026-03-09 to 2026-03-15")
          const { terms } = JSON.parse((yield* run("show", "2", "--json")).stdout)
          assert.deepStrictEqual(
            terms.clocks.map((
              { dayStarts, zone }: { readonly dayStarts: number; readonly zone: string }
            ) => [zone, dayStarts]),
            [["America/New_York", 0], ["America/Chicago", 0]]
          )
          assert.strictEqual(terms.firstDay, "monday")
        }),
      { TIME_PUNCHES_PROFILE: "north" }
    ))
})
