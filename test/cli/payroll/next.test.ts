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

describe("time-punches payroll close --next", () => {
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
