/** `time-punches payroll diff --close`: the punches behind the next correction, by the record of the close. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { FakeService } from "../../../src/testing/index.ts"
import { cli, companyOnly, execute, inFolder, onCopy, temporaryFolder } from "../support.ts"
import { shift } from "./checkSupport.ts"

const inCopy = <A, E, R>(
  use: (copy: {
    readonly file: string
    readonly run: (...args: ReadonlyArray<string>) => ReturnType<typeof cli>
  }) => Effect.Effect<A, E, R>
) =>
  inFolder([shift(1, "2026-03-05")], (folder) => {
    const file = `${folder}/punches.db`
    return Effect.andThen(cli(["sync", "--database", file, "--history"]), use({ file, run: onCopy(file) }))
  })

const period = ["--from", "2026-03-05", "--to", "2026-03-11"]

describe("time-punches payroll diff --close", () => {
  it.live("adds a location of the zone file of a profile, as a correction does; the record keeps its own clocks", () =>
    inCopy(({ file, run }) =>
      Effect.gen(function*() {
        const settings = `${yield* temporaryFolder}/time-punches`
        Fs.mkdirSync(settings)
        const zones = `${settings}/zones.csv`
        Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n")
        yield* run("payroll", "close", ...period, "--zone-file", zones)
        yield* FakeService.use((service) => service.add([shift(5, "2026-03-08", { location_id: 303 })]))
        yield* cli(["sync", "--database", file, "--history"])
        const added = "location_id,zone\n301,America/New_York\n303,Europe/Berlin\n"
        Fs.writeFileSync(zones, added)
        const ofFlag = yield* run("payroll", "diff", "--close", "1", "--zone-file", zones, "--json")
        assert.match(ofFlag.stdout, /"punchId":5,"userId":505,"kind":"added"/)

        Fs.writeFileSync(zones, added.replace("America/New_York", "Asia/Tokyo"))
        Fs.writeFileSync(`${settings}/config.json`, JSON.stringify({ north: { zoneFile: "zones.csv" } }))
        const north = { ...companyOnly, XDG_CONFIG_HOME: settings.replace(/\/time-punches$/, "") }
        const byProfile = (...args: ReadonlyArray<string>) =>
          cli(["payroll", ...args, "--profile", "north", "--database", file], { env: north })
        const ofProfile = yield* byProfile("diff", "--close", "1", "--json")
        assert.strictEqual(ofProfile.stdout, ofFlag.stdout, ofProfile.stderr)
        assert.strictEqual((yield* byProfile("correct")).code, 0)
      })
    ))

  it.live("says so if the history does not reach the revision", () =>
    inCopy(({ file, run }) =>
      Effect.gen(function*() {
        yield* run("payroll", "close", ...period, "--zone", "America/New_York")
        yield* Effect.sleep("5 millis")
        execute(file, "UPDATE time_punches_sync SET history_last = history_last + 1, known_since = history_last + 1")
        const { code, stderr, stdout } = yield* run("payroll", "diff", "--close", "1")

        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.match(stderr, /the history is known since .*, and revision 1\.1 sums the copy of /)
        assert.match(stderr, /payroll due 1 prints what is due/)
      })
    ))
})
