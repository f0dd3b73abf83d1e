import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as Fs from "node:fs"
import { defaultCompany, FakeService, Fault, type StoredPunch } from "../../../src/testing/index.ts"
import { cli, companyOnly, execute, inFakeOf, inFolder, linesOf, onCopy, queries, temporaryFolder } from "../support.ts"
import { shift } from "./checkSupport.ts"

const punch = (id: number, given: Partial<StoredPunch> = {}) =>
  shift(id, `2026-03-0${2 + (id % 5)}`, { hourly_wage: 1000, ...given })

const punches = [1, 2, 3, 4, 5].map((id) => punch(id))

const week = ["--week", "2026-03-02", "--zone", "America/New_York"]

/** A closed week: the file of the copy, and the instant at which it was closed. */
interface Closed {
  readonly file: string
  readonly at: string
}

const inFake = inFakeOf(punches)

/** The instants of a history are those of its database, so these tests run by the clock of this machine. */
const closed = Effect.gen(function*() {
  const file = `${yield* temporaryFolder}/punches.db`
  yield* sync(file)
  yield* Effect.sleep("5 millis")
  const at = DateTime.formatIso(yield* DateTime.now)
  yield* Effect.sleep("5 millis")
  return { file, at } satisfies Closed
})

const sync = (file: string, ...flags: ReadonlyArray<string>) =>
  Effect.map(cli(["sync", "--database", file, "--history", ...flags]), ({ code, stderr }) => {
    assert.strictEqual(code, 0, stderr)
  })

const changes = ({ at, file }: Closed, ...flags: ReadonlyArray<string>) =>
  onCopy(file)("payroll", "diff", ...week, "--since", at, ...flags)

/** A name that a terminal or a spreadsheet would run. */
const bad = "=1+1\u001b[2J"

const namesIn = (file: string) => {
  const path = `${file}.names.csv`
  Fs.writeFileSync(path, `kind,id,name\nuser,501,"${bad}"\nuser,502,Анна 東京\n`)
  return path
}

/** Two punches of the week edited, one deleted. */
const corrected = Effect.gen(function*() {
  const week = yield* closed
  const service = yield* FakeService
  yield* service.edit([1], { clocked_out: "2026-03-03T23:30:00Z", tips: 250, notes: "+\u001b[2J" })
  yield* service.edit([2], { hourly_wage: 1200 })
  yield* service.edit([3], { deleted: true })
  yield* sync(week.file)
  return week
})

describe("time-punches payroll diff", () => {
  it.live("rounds as --rounding says, and counts open punches up to --as-of", () =>
    inFake(Effect.gen(function*() {
      const week = yield* closed
      const service = yield* FakeService
      yield* service.edit([1], { clocked_out: null })
      yield* service.edit([2], { hourly_wage: 1 })
      yield* service.edit([2], { clocked_out: "2026-03-04T14:30:00Z" })
      yield* sync(week.file)
      const people = (...flags: ReadonlyArray<string>) =>
        Effect.map(changes(week, "--format", "csv", ...flags), ({ stdout }) => stdout.trim().split("\r\n").slice(1))

      assert.deepStrictEqual(yield* people(), ["501,-28800,-8000,0", "502,-27000,-7999,0"])
      assert.deepStrictEqual(yield* people("--rounding", "down"), ["501,-28800,-8000,0", "502,-27000,-8000,0"])
      assert.deepStrictEqual(
        yield* people("--as-of", "2026-03-03T23:00:00Z"),
        ["501,3600,1000,0", "502,-27000,-7999,0"]
      )
      const late = yield* changes(week, "--as-of", "2026-03-13T23:00:00Z")
      assert.match(
        late.stderr,
        /--as-of counts 1 open punch for more than 16h: is a clock-out missing\? 1 of user 501$/m
      )
    })))

  it.live("takes each location by its own clock, and names one without", () =>
    inFake(Effect.gen(function*() {
      const service = yield* FakeService
      // In New York still on Sunday, 8 March; in Berlin on Monday.
      const late = { clocked_in: "2026-03-09T01:00:00Z", clocked_out: "2026-03-09T02:00:00Z" }
      yield* service.seed([punch(8, late), punch(9, { ...late, location_id: 303 })])
      const { at, file } = yield* closed
      yield* service.edit([8, 9], { tips: 5 })
      yield* sync(file)
      const zones = `${file}.zones.csv`
      const call = [
        "payroll",
        "diff",
        "--week",
        "2026-03-02",
        "--zone-file",
        zones,
        "--since",
        at,
        "--database",
        file,
        "--json"
      ]
      Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n303,Europe/Berlin\n")
      const both = yield* cli(call, { env: companyOnly })
      Fs.writeFileSync(zones, "location_id,zone\n301,America/New_York\n")
      const one = yield* cli(call, { env: companyOnly })

      assert.deepStrictEqual(JSON.parse(both.stdout).people, [{
        userId: 508,
        netSeconds: 0,
        costCents: 0,
        tipsCents: 5
      }])
      // What was read before is printed already. The array has no end, so no program takes it for all.
      assert.throws(() => JSON.parse(one.stdout))
      assert.notStrictEqual(one.code, 0)
      assert.include(one.stderr, "location 303 has no zone")
    })))

  it.live("refuses an instant that the history does not know, and says since when it does", () =>
    inFake(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const plain = `${folder}/plain.db`
      yield* cli(["sync", "--database", plain])
      const none = yield* changes({ file: plain, at: DateTime.formatIso(yield* DateTime.now) })
      const week = yield* closed
      const status = JSON.parse((yield* cli(["copy", "status", "--json", "--database", week.file])).stdout)
      const early = yield* changes({ ...week, at: "2026-03-09T15:00:00Z" })
      const atStart = yield* changes({ ...week, at: status.history.since })
      const fromLast = yield* changes({ ...week, at: status.history.last })

      assert.deepStrictEqual([none.code, none.stdout, early.code, early.stdout], [7, "", 7, ""])
      assert.match(none.stderr, /no history.*\n.*time-punches sync --history/)
      assert.include(early.stderr, `2026-03-09T15:00:00.000Z`)
      assert.include(early.stderr, `since ${status.history.since}`)
      // A part of a form would look like a whole one.
      for (const form of [["--json"], ["--format", "csv", "--rows", "punches"], ["--format", "csv"]]) {
        const { code, stdout } = yield* changes({ ...week, at: "2026-03-09T15:00:00Z" }, ...form)
        assert.deepStrictEqual([code, stdout], [7, ""])
      }
      assert.deepStrictEqual([atStart.code, fromLast.code], [0, 0])
    })))

  it.live("[Y78] pays no person again since the instant that the status of a first load of three pages names", () =>
    inFolder(Array.from({ length: 600 }, (_, each) => punch(each + 1)), (folder) =>
      Effect.gen(function*() {
        const file = `${folder}/punches.db`
        yield* sync(file)
        const { history } = JSON.parse((yield* cli(["copy", "status", "--json", "--database", file])).stdout)
        const { code, stderr, stdout } = yield* changes({ file, at: history.since })

        assert.deepStrictEqual([code, stdout], [0, ""])
        assert.include(stderr, "nothing has changed since")
      })))

  it.live("takes the last commit for known, also where the clock of the database is ahead", () =>
    inFake(Effect.gen(function*() {
      const week = yield* closed
      const ahead = Date.now() + 3_600_000
      execute(week.file, `UPDATE time_punches_sync SET history_last = ${ahead}`)
      const written = yield* changes({ ...week, at: DateTime.formatIso(DateTime.makeUnsafe(ahead)) })
      const future = yield* changes({ ...week, at: DateTime.formatIso(DateTime.makeUnsafe(ahead + 1)) })

      assert.deepStrictEqual([written.code, future.code], [0, 2])
      assert.include(future.stderr, "is in the future")
    })))

  it.live("names the instant of the copy that it read, as a sum of it does, which the next call may give", () =>
    inFake(Effect.gen(function*() {
      const week = yield* corrected
      const { stderr } = yield* changes(week)
      const summed = yield* onCopy(week.file)("summary")
      const [at = "", other] = [stderr, summed.stderr].map((text) => /^copy in .* as of (\S+),/.exec(text)?.[1])
      assert.strictEqual(other, at)
      yield* (yield* FakeService).edit([4], { tips: 1 })
      yield* sync(week.file)
      const { stdout } = yield* changes({ ...week, at }, "--format", "csv")

      assert.strictEqual(stdout, "user_id,net_seconds,cost_cents,tips_cents\r\n504,0,0,1\r\n")
    })))

  it.live("runs as its help and its page show it", () =>
    inFake(Effect.gen(function*() {
      const week = yield* corrected
      const names = namesIn(week.file)
      const page = Fs.readFileSync(new URL("../../../docs/09-command-line.md", import.meta.url), "utf8")
      const help = yield* cli(["payroll", "diff", "--help"])
      // Calls with --close need a close, and have their own test.
      const calls = linesOf(help.stdout + page).map((line) => line.trim())
        .filter((line) => line.startsWith("time-punches payroll diff --") && !line.includes("--close"))
      const shown = new Map([["--since", week.at], ["--database", week.file], ["--names", names]])

      assert.isAbove(calls.length, 2)
      for (const call of calls) {
        const words = call.replace(/ *[|>].*$/, "").split(" ").slice(1)
        const args = words.map((word, at) => shown.get(words[at - 1] ?? "") ?? word)
        const ran = yield* cli(args, { env: { ...companyOnly, TIME_PUNCHES_DATABASE_URL: week.file } })

        assert.strictEqual(ran.code, 0, `${call}\n${ran.stderr}`)
        assert.include(ran.stdout, "501", call)
      }
    })))

  const since = ["--since", "2026-03-09T15:00:00Z"]
  const database = ["--database", "a.db"]

  it.effect.each<readonly [ReadonlyArray<string>, string]>([
    [[...week, ...since], "payroll diff needs a database: give --database FILE or set TIME_PUNCHES_DATABASE_URL"],
    [[...week, ...database], "payroll diff needs --since INSTANT"],
    [[...week, ...database, "--since", "2026-03-09T15:00:00"], "an RFC 3339 instant with a zone"],
    [[...since, ...database], "payroll diff needs a period"],
    [["--week", "2026-03-02", ...since, ...database], "--week has no zone"],
    [[...week, "--month", "2026-03", ...since, ...database], "--week and --month are two periods"],
    [[...week, ...since, ...database, "--rows", "punches"], "--rows goes with --format csv"],
    [[...week, ...since, ...database, "--json", "--format", "csv"], "--json and --format csv are two forms"],
    [[...week, ...since, "--database", "mysql://localhost/a"], "must be the name of a file, or a URL of PostgreSQL"],
    [[...week, ...since, ...database, "--user-id", "1"], "--user-id"]
  ])("refuses %j", ([args, text]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["payroll", "diff", ...args], { env: companyOnly })

      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
      assert.include(stderr, text)
      assert.deepStrictEqual(yield* queries, [])
      assert.isFalse(Fs.existsSync("a.db"))
    }).pipe(Effect.provide(FakeService.layer())))

  it.effect("needs the company, and nothing else of the environment", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["payroll", "diff", ...week, ...since, ...database], { env: {} })

      assert.strictEqual(code, 2)
      assert.include(stderr, "no company: give --company ID or set TIME_PUNCHES_COMPANY_ID")
    }).pipe(Effect.provide(FakeService.layer())))

  it.live("fails where there is no copy, and names the way to one", () =>
    inFake(Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/a.db`
      const missing = yield* changes({ file, at: "2026-03-09T15:00:00Z" })
      const isCreated = Fs.existsSync(file)
      const service = yield* FakeService
      yield* service.inject(Fault.status(403))
      yield* cli(["sync", "--history", "--database", file])
      const empty = yield* changes({ file, at: "2026-03-09T15:00:00Z" })

      assert.deepStrictEqual([missing.code, isCreated, empty.code, empty.stdout], [8, false, 7, ""])
      assert.include(
        missing.stderr,
        `there is no file ${file}\n  Check its name; for a new copy, run time-punches sync --history --company`
      )
      assert.include(empty.stderr, `${file} has no copy of company ${defaultCompany.id}`)
      assert.include(empty.stderr, "run time-punches sync --history")
    })))
})
