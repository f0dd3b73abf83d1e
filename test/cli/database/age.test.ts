/** `--max-age`: a copy that is too old, or whose clock was ahead, ends a command with exit code 10. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { cli, copyStart, environment, execute, inCopyOf, queries } from "../support.ts"

const withFile = inCopyOf(generatePunches({ seed: 6, count: 450, companyId: defaultCompany.id }))

const week = ["--week", "2026-03-02", "--zone", "America/New_York"]

/** Each command that reads a copy, and the code of a copy that is new enough. */
const readers: ReadonlyArray<readonly [args: ReadonlyArray<string>, code: number]> = [
  [["copy", "status"], 0],
  [["copy", "status", "--json"], 0],
  [["summary", "--by", "user", ...week], 0],
  [["payroll", "check", ...week], 9],
  [["payroll", "diff", ...week, "--since", "2026-06-15T00:00:00Z"], 0]
]

/** The history has instants of the database's clock, and these tests have another one. */
const begin = (file: string) => {
  const at = Date.parse("2026-06-01T00:00:00Z")
  execute(
    file,
    `UPDATE time_punches_sync SET history_since = ${at}, known_since = ${at}, history_last = ${at}`,
    "UPDATE time_punches SET valid_from = NULL"
  )
}

describe("--max-age", () => {
  it.effect.each(readers)(
    "takes a copy of this age, and none that is older: %j",
    ([args, code]) =>
      withFile(Effect.fnUntraced(function*(file) {
        yield* cli(["sync", "--database", file, "--history"])
        begin(file)
        const run = () => cli([...args, "--database", file, "--max-age", "30m"])
        const sent = (yield* queries).length
        yield* TestClock.adjust("30 minutes")
        const fresh = yield* run()
        yield* TestClock.adjust("1 second")
        const old = yield* run()

        assert.strictEqual(fresh.code, code, fresh.stderr)
        assert.strictEqual(old.code, 10, old.stderr)
        assert.include(
          old.stderr,
          `time-punches: the last complete sync run of the copy in ${file} ended 30m 1s ago, and --max-age is 30m\n` +
            `  Run time-punches sync --company ${defaultCompany.id} --database '${file}', then try again.\n`
        )
        // A status is printed all the same; nothing is summed.
        if (args[0] === "copy") assert.include(old.stdout, "450")
        else assert.strictEqual(old.stdout, "")
        assert.strictEqual((yield* queries).length, sent)
      }))
  )

  it.effect.each(readers)(
    "refuses a copy whose last sync run ended by a clock that was ahead: %j",
    ([args, code]) =>
      withFile(Effect.fnUntraced(function*(file) {
        yield* cli(["sync", "--database", file, "--history"])
        begin(file)
        yield* TestClock.setTime(copyStart - 30 * 60_000)
        const run = () => cli([...args, "--database", file, "--max-age", "30m"])
        const near = yield* run()
        yield* TestClock.setTime(copyStart - 31 * 60_000)
        const ahead = yield* run()

        assert.strictEqual(near.code, code, near.stderr)
        assert.strictEqual(ahead.code, 10)
        assert.match(ahead.stderr, /ended 31m from now, and --max-age is 30m\n {2}A clock was ahead at that run/)
      }))
  )

  it.effect.each<readonly [args: ReadonlyArray<string>, text: RegExp]>([
    [["copy", "status"], / 31m ahead of this clock /],
    [["copy", "status", "--json"], /"ageSeconds":-1860,/],
    [["summary", "--by", "user", ...week], /, 31m ahead of this clock\n/],
    [["doctor"], /the last sync run ended 31m ahead of this clock/]
  ])(
    "is no age of 0 where the clock of the last run was ahead: %j",
    ([args, text]) =>
      withFile(Effect.fnUntraced(function*(file) {
        yield* cli(["sync", "--database", file])
        yield* TestClock.setTime(copyStart - 31 * 60_000)
        const { stderr, stdout } = yield* cli([...args, "--database", file])

        assert.match(stdout + stderr, text)
      }))
  )

  it.effect("is 10 for a status without a complete sync run, and 7 for a sum", () =>
    withFile(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      yield* service.inject(Fault.status(403), { requests: [3] })
      yield* cli(["sync", "--database", file])
      const status = yield* cli(["copy", "status", "--database", file, "--max-age", "30m"])
      const unlimited = yield* cli(["copy", "status", "--database", file])
      const sum = yield* cli(["summary", ...week, "--database", file, "--max-age", "30m"])

      assert.strictEqual(status.code, 10, status.stderr)
      assert.match(
        status.stderr,
        /no sync run of the copy in .* is complete, and --max-age is 30m\n {2}Run time-punches sync/
      )
      assert.match(status.stdout, /never/)
      assert.strictEqual(unlimited.code, 0)
      assert.strictEqual(sum.code, 7)
    })))

  it.effect.each<readonly [args: ReadonlyArray<string>, why: RegExp]>([
    [["summary", ...week], /--max-age goes with --database/],
    [["payroll", "check", ...week], /--max-age goes with --database/],
    [["sync"], /--max-age is not a flag/]
  ])("is refused where it would be ignored: %j", ([args, why]) =>
    withFile(Effect.fnUntraced(function*(file) {
      const database = args[0] === "sync" ? ["--database", file] : []
      const { code, stderr } = yield* cli([...args, ...database, "--max-age", "30m"], { env: environment })

      assert.strictEqual(code, 2)
      assert.match(stderr, why)
      assert.strictEqual((yield* queries).length, 0)
    })))
})
