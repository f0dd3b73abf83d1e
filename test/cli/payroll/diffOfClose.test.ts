/** `time-punches payroll diff --close`: the punches behind the next correction, by the record of the close. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { FakeService, type StoredPunch } from "../../../src/testing/index.ts"
import { cli, companyOnly, execute, inFolder, onCopy, temporaryFolder } from "../support.ts"
import { shift } from "./checkSupport.ts"

const punch = (id: number, given: Partial<StoredPunch> = {}) => shift(id, `2026-03-0${3 + id}`, given)

/** Two days before the period, which cuts the week of Monday, 2 March; then two days of it. */
const punches = [
  punch(1, { user_id: 501, clocked_in: "2026-03-03T14:00:00Z", clocked_out: "2026-03-04T02:00:00Z" }),
  punch(2, { user_id: 501 }),
  punch(3)
]

const period = ["--from", "2026-03-05", "--to", "2026-03-11", "--zone", "America/New_York"]

const inCopy = <A, E, R>(
  use: (copy: {
    readonly file: string
    readonly run: (...args: ReadonlyArray<string>) => ReturnType<typeof cli>
    readonly sync: ReturnType<typeof cli>
  }) => Effect.Effect<A, E, R>
) =>
  inFolder(punches, (folder) => {
    const file = `${folder}/punches.db`
    const sync = cli(["sync", "--database", file, "--history"])
    return Effect.andThen(sync, use({ file, sync, run: onCopy(file) }))
  })

interface Changed {
  readonly punches: ReadonlyArray<{ readonly id: number; readonly kind: string }>
  readonly people: ReadonlyArray<{ readonly userId: number; readonly netSeconds: number }>
}

const read = (stdout: string) => {
  const { people, punches }: Changed = JSON.parse(stdout)
  return {
    punches: punches.map(({ id, kind }) => [id, kind]),
    people: people.map(({ netSeconds, userId }) => [userId, netSeconds])
  }
}

describe("time-punches payroll diff --close", () => {
  it.live("has the punches behind the next correction, and those that move the excess of a cut week", () =>
    inCopy(({ file, run, sync }) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const closed = yield* run("payroll", "close", ...period, "--weekly-threshold", "10h", "--rounding", "down")
        assert.strictEqual(closed.code, 0, closed.stderr)
        yield* service.edit([1], { clocked_out: "2026-03-04T04:00:00Z" })
        yield* service.edit([3], { clocked_out: "2026-03-06T23:00:00Z" })
        yield* service.seed([punch(4, { clocked_in: "2026-03-12T14:00:00Z", clocked_out: "2026-03-12T15:00:00Z" })])
        yield* service.edit([4], { tips: 5 })
        yield* sync
        const before = Fs.readFileSync(file)
        const changes = yield* run("payroll", "diff", "--close", "1", "--json")

        assert.strictEqual(changes.code, 0, changes.stderr)
        assert.deepStrictEqual(read(changes.stdout), {
          punches: [[1, "edited"], [3, "edited"]],
          // The hours of punch 1 are of the period before: it only moves what is over the threshold.
          people: [[503, 3600]]
        })
        assert.match(changes.stderr, /^revision 1\.1: 2026-03-05 to 2026-03-11, as of 20\d\d-/m)
        assert.deepStrictEqual(Fs.readFileSync(file), before)

        yield* run("payroll", "correct")
        const nothing = yield* run("payroll", "diff", "--close", "1", "--format", "csv", "--rows", "punches")
        assert.strictEqual(nothing.stdout.split("\r\n").length, 2)
        assert.match(nothing.stderr, /nothing has changed since/)

        yield* run("payroll", "void", "1.2", "--note", "not sent")
        assert.deepStrictEqual(read((yield* run("payroll", "diff", "--close", "1", "--json")).stdout).people, [[
          503,
          3600
        ]])
      })
    ))

  it.live("leaves out the days before the period if the close has no threshold", () =>
    inCopy(({ run, sync }) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* run("payroll", "close", ...period)
        yield* service.edit([1], { clocked_out: "2026-03-04T04:00:00Z" })
        yield* sync

        assert.deepStrictEqual(read((yield* run("payroll", "diff", "--close", "1", "--json")).stdout), {
          punches: [],
          people: []
        })
      })
    ))

  it.live("moves a punch between the days before the period and the period", () =>
    inCopy(({ run, sync }) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* run("payroll", "close", ...period, "--weekly-threshold", "10h")
        yield* service.edit([1], { clocked_in: "2026-03-05T14:00:00Z", clocked_out: "2026-03-05T15:00:00Z" })
        yield* service.edit([2], { clocked_in: "2026-03-04T14:00:00Z", clocked_out: "2026-03-04T15:00:00Z" })
        yield* sync

        assert.deepStrictEqual(read((yield* run("payroll", "diff", "--close", "1", "--json")).stdout), {
          punches: [[1, "movedIn"], [2, "movedOut"]],
          people: [[501, -7 * 3600]]
        })
      })
    ))

  it.live("refuses each flag whose value the record has", () =>
    inCopy(({ file, run }) =>
      Effect.gen(function*() {
        yield* run(
          "payroll",
          "close",
          ...period,
          "--week-starts",
          "sunday",
          "--rounding",
          "up",
          "--day-starts",
          "04:00"
        )
        const zones = `${file}.zones.csv`
        Fs.writeFileSync(zones, "location_id,zone,day_starts\n301,Europe/Berlin,04:00\n")
        const recorded: ReadonlyArray<ReadonlyArray<string>> = [
          ["--since", "2026-03-20T00:00:00Z"],
          ["--from", "2026-03-05", "--to", "2026-03-12"],
          ["--week", "2026-03-02"],
          ["--month", "current"],
          ["--pay-period", "2026-03-05", "--calendar", "14d:2026-03-05"],
          ["--last", "7d"],
          ["--zone", "Europe/Berlin"],
          ["--day-starts", "05:00"],
          ["--week-starts", "monday"],
          ["--rounding", "halfUp"],
          ["--as-of", "2026-03-20T00:00:00Z"]
        ]
        for (const flags of recorded) {
          const { code, stderr, stdout } = yield* run("payroll", "diff", "--close", "1", ...flags)
          assert.deepStrictEqual([code, stdout], [2, ""], flags.join(" "))
          assert.include(stderr, `--close goes without ${flags[0]}`, stderr)
        }
        for (const flags of [["--zone-file", zones], ["--zone-file", zones, "--day-starts", "05:00"]]) {
          const { code, stderr, stdout } = yield* run("payroll", "diff", "--close", "1", ...flags)
          assert.deepStrictEqual([code, stdout], [2, ""], flags.join(" "))
          assert.include(stderr, "--zone-file contradicts close 1: location 301 has another clock there", stderr)
        }
        const unknown = yield* run("payroll", "diff", "--close", "2")
        assert.deepStrictEqual([unknown.code, unknown.stdout], [2, ""])
        assert.match(unknown.stderr, /2: there is no such close/)
        yield* run("payroll", "void", "1.1", "--note", "not paid")
        const over = yield* run("payroll", "diff", "--close", "1")
        assert.deepStrictEqual([over.code, over.stdout], [2, ""])
        assert.match(over.stderr, /1: the close is over/)
      })
    ))

  it.live("names a location that the record lacks, which --zone-file adds", () =>
    inCopy(({ file, run, sync }) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const zones = `${file}.zones.csv`
        Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n")
        yield* run("payroll", "close", "--from", "2026-03-05", "--to", "2026-03-11", "--zone-file", zones)
        yield* service.seed([punch(5, { location_id: 303 })])
        yield* service.edit([5], { tips: 5 })
        yield* sync
        const missing = yield* run("payroll", "diff", "--close", "1", "--json")
        assert.strictEqual(missing.code, 2)
        assert.match(missing.stderr, /location 303 has no zone/)
        Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n303,Europe/Berlin\n")

        const added = yield* run("payroll", "diff", "--close", "1", "--zone-file", zones, "--json")
        assert.deepStrictEqual(read(added.stdout).punches, [[5, "added"]], added.stderr)

        // The file of a profile adds it too, as it does to a correction; the record keeps its own clocks.
        const settings = `${yield* temporaryFolder}/time-punches`
        Fs.mkdirSync(settings)
        Fs.writeFileSync(`${settings}/zones.csv`, "location_id,zone\n301,Asia/Tokyo\n303,Europe/Berlin\n")
        Fs.writeFileSync(`${settings}/config.json`, JSON.stringify({ north: { zoneFile: "zones.csv" } }))
        const north = { ...companyOnly, XDG_CONFIG_HOME: settings.replace(/\/time-punches$/, "") }
        const byProfile = (...args: ReadonlyArray<string>) =>
          cli(["payroll", ...args, "--profile", "north", "--database", file], { env: north })
        const ofProfile = yield* byProfile("diff", "--close", "1", "--json")
        assert.strictEqual(ofProfile.stdout, added.stdout, ofProfile.stderr)
        assert.strictEqual((yield* byProfile("correct")).code, 0)
      })
    ))

  it.live("leaves out a punch right after the close at a location that opened then, once the next close has it", () =>
    inCopy(({ file, run, sync }) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const zones = `${file}.zones.csv`
        Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n")
        yield* run("payroll", "close", "--from", "2026-03-05", "--to", "2026-03-11", "--zone-file", zones)
        yield* service.seed([punch(6, { user_id: 506, location_id: 303, clocked_in: "2026-03-12T13:00:00Z" })])
        yield* service.edit([6], { clocked_out: "2026-03-12T20:00:00Z" })
        yield* service.edit([3], { clocked_out: "2026-03-06T23:00:00Z" })
        yield* sync
        const missing = yield* run("payroll", "diff", "--close", "1", "--json")
        assert.match(missing.stderr, /location 303 has no zone/)
        Fs.appendFileSync(zones, "303,Europe/Berlin\n")
        const next = yield* run("payroll", "close", "--next", "--zone-file", zones)
        assert.strictEqual(next.code, 0, next.stderr)

        const changes = yield* run("payroll", "diff", "--close", "1", "--json")
        assert.strictEqual(changes.code, 0, changes.stderr)
        assert.deepStrictEqual(read(changes.stdout), { punches: [[3, "edited"]], people: [[503, 3600]] })
        yield* run("payroll", "correct")
        const page = yield* run("report", "--close", "1")
        assert.strictEqual(page.code, 0, page.stderr)
        assert.include(page.stdout, "The sums are those of revision 1.2")
      })
    ))

  it.live("says so if the history does not reach the revision", () =>
    inCopy(({ file, run }) =>
      Effect.gen(function*() {
        yield* run("payroll", "close", ...period)
        yield* Effect.sleep("5 millis")
        execute(file, "UPDATE time_punches_sync SET history_last = history_last + 1, known_since = history_last + 1")
        const { code, stderr, stdout } = yield* run("payroll", "diff", "--close", "1")

        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.match(stderr, /the history is known since .*, and revision 1\.1 sums the copy of /)
        assert.match(stderr, /payroll due 1 prints what is due/)
      })
    ))
})
