/** `time-punches copy erase`: what goes is shown first, a person is asked, and a payroll record goes only by name. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { DatabaseSync } from "node:sqlite"
import { defaultCompany, type FakeService } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { cli, inFolder, onCopy } from "../support.ts"

const paid = servicePunch({
  id: 1,
  approved: true,
  breaks: [],
  clocked_in: "2026-03-03T14:00:00Z",
  clocked_out: "2026-03-03T22:00:00Z"
})

const rowsIn = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const count = (table: string) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]
  const counts = ["time_punches", "time_punches_sync", "time_punches_close"].map(count)
  database.close()
  return counts
}

const inCopy = <A, E>(
  use: (file: string, run: (args: string) => ReturnType<typeof cli>) => Effect.Effect<A, E, FakeService>
) =>
  inFolder([paid], (folder) => {
    const file = `${folder}/punches.db`
    const run = (args: string) => onCopy(file)(...args.split(" "))
    return Effect.andThen(cli(["sync", "--history", "--database", file]), use(file, run))
  })

describe("time-punches copy erase", () => {
  it.live("asks, and outside a terminal prints the call that does not", () =>
    inCopy((file, run) =>
      Effect.gen(function*() {
        const unasked = yield* run("copy erase")

        assert.deepStrictEqual([unasked.code, unasked.stdout], [2, ""])
        assert.include(unasked.stderr, `company ${defaultCompany.id}: 1 punch, 0 older versions, 0 closes`)
        const call = /To erase this: time-punches (.*)\n/.exec(unasked.stderr)?.[1] ?? ""
        assert.strictEqual(call, `copy erase --company ${defaultCompany.id} --yes --database '${file}'`)
        assert.deepStrictEqual(rowsIn(file), [1, 1, 0])

        const erased = yield* run("copy erase --yes")
        assert.deepStrictEqual([erased.code, erased.stderr], [0, ""])
        assert.strictEqual(
          erased.stdout,
          `the copy of company ${defaultCompany.id} is erased, with its checkpoint and history\n`
        )
        assert.deepStrictEqual(rowsIn(file), [0, 0, 0])
      })
    ))

  it.live("refuses a company that has closes, names how to keep each, and --closes-too erases them", () =>
    inCopy((file, run) =>
      Effect.gen(function*() {
        const closed = yield* run("payroll close --week 2026-03-02 --zone America/New_York")
        assert.strictEqual(closed.code, 0, closed.stderr)
        const refused = yield* run("copy erase --yes")

        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
        assert.include(refused.stderr, `company ${defaultCompany.id} has closes: 1`)
        const keep = `time-punches payroll show 1 --json --company ${defaultCompany.id} --database '${file}'`
        assert.include(refused.stderr, keep)
        assert.deepStrictEqual(rowsIn(file), [1, 1, 1])

        const erased = yield* run("copy erase --yes --closes-too")
        assert.deepStrictEqual([erased.code, erased.stderr], [0, ""])
        assert.match(erased.stdout, /is erased, with its checkpoint and history, and its closes\n$/)
        assert.deepStrictEqual(rowsIn(file), [0, 0, 0])
      })
    ))

  it.live("says that there is no copy of a company that is misspelt", () =>
    inCopy((file, run) =>
      Effect.gen(function*() {
        const none = yield* run("copy erase --company 4099 --yes")

        assert.deepStrictEqual([none.code, none.stdout], [0, "there is no copy of company 4099: nothing was erased\n"])
        assert.deepStrictEqual(rowsIn(file), [1, 1, 0])
      })
    ))

  it.live("creates no file whose name is misspelt", () =>
    inCopy((file, run) =>
      Effect.gen(function*() {
        const missing = yield* onCopy(`${file}.misspelt`)("copy", "erase", "--yes")

        assert.strictEqual(missing.code, 8, missing.stderr)
        assert.strictEqual((yield* run("copy status")).code, 0)
      })
    ))
})
