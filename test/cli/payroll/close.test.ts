/** The verbs of `time-punches payroll` that read and write a record, over a copy of the fake service in a real file. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { commandFailureOf } from "../../../src/cli/describe.ts"
import { CloseChanged } from "../../../src/close/index.ts"
import { CompanyId } from "../../../src/Ids.ts"
import { PunchCopy } from "../../../src/sql/index.ts"
import { NodeSqlite } from "../../../src/sql/node/index.ts"
import { defaultCompany, FakeService, type StoredPunch } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { commandOf } from "../child.ts"
import { cli, companyOnly, execute, inFakeOf, onCopy, temporaryFolder } from "../support.ts"
import { shift } from "./checkSupport.ts"

const punch = (id: number, given: Partial<StoredPunch> = {}) => shift(id, `2026-03-0${2 + (id % 5)}`, given)

const punches = [1, 2, 3, 4, 5].map((id) => punch(id))

const week = ["--week", "2026-03-02", "--zone", "America/New_York"]

const inFake = inFakeOf(punches)

const sync = (file: string) =>
  Effect.map(cli(["sync", "--database", file, "--history"]), ({ code, stderr }) => {
    assert.strictEqual(code, 0, stderr)
  })

const copy = Effect.gen(function*() {
  const file = `${yield* temporaryFolder}/punches.db`
  yield* sync(file)
  return file
})

interface Printed {
  readonly revision: string
  readonly previous: string | null
  readonly voids: string | null
}

/** The name of each revision, the one that it follows, and the one that it voids. */
const closes = (stdout: string) => {
  const printed: ReadonlyArray<Printed> = JSON.parse(stdout)
  return printed.map(({ previous, revision, voids }) => [revision, previous, voids])
}

describe("time-punches payroll close", () => {
  it.live("names the record by the company of the flag, since the environment may have another one", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const other = { TIME_PUNCHES_COMPANY_ID: "4999" }
      const flag = ["--company", `${defaultCompany.id}`, "--database", file]

      const closed = yield* cli(["payroll", "close", ...week, ...flag], { env: other })

      assert.strictEqual(closed.code, 0, closed.stderr)
      assert.include(
        closed.stderr,
        `time-punches payroll show 1 --json --company ${defaultCompany.id} --database '${file}'`
      )
    })))

  it.live("warns of thresholds, a rounding or weeks that the close before it does not have", () =>
    inFake(Effect.gen(function*() {
      const run = onCopy(yield* copy)
      const weekOf = (date: string, ...flags: ReadonlyArray<string>) =>
        run("payroll", "close", "--week", date, "--zone", "America/New_York", "--accept", "empty", ...flags)
      const warning = "in a week that both have, hours may be over a threshold twice or never"
      const first = yield* weekOf("2026-03-02", "--weekly-threshold", "40h")
      const same = yield* weekOf("2026-03-09", "--weekly-threshold", "40h")
      const other = yield* weekOf("2026-03-16", "--double-threshold", "12h", "--rounding", "down")

      assert.deepStrictEqual([first, same, other].map(({ code }) => code), [0, 0, 0], other.stderr)
      assert.notInclude(first.stderr + same.stderr, warning)
      for (
        const difference of [
          "the weekly threshold is none, and close 2 has 40:00",
          "the second daily threshold is 12:00, and close 2 has none",
          "the rounding is down, and close 2 has halfUp"
        ]
      ) assert.include(other.stderr, `${difference}: ${warning}\n`)
    })))

  it.live("closes, corrects and voids a week, and pays each difference once", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      const closed = yield* run("payroll", "close", ...week, "--weekly-threshold", "7h", "--note", "signed")
      assert.strictEqual(closed.code, 0, closed.stderr)
      assert.match(
        closed.stdout,
        /^1\.1: 2026-03-02 to 2026-03-08, as of .*\n.*user_id.*over.*\n.*501 .*8:00 +1:00 +120\.00/
      )

      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* sync(file)
      const due = yield* run("payroll", "due", "--json")
      assert.deepStrictEqual(JSON.parse(due.stdout), [{
        after: "1.1",
        rows: [{
          userId: 501,
          locationId: punches[0]?.location_id,
          departmentId: null,
          roleId: punches[0]?.role_id,
          punches: 0,
          incomplete: 0,
          netSeconds: 3600,
          costCents: 1500,
          tipsCents: 0,
          hourlyWageCents: 1500,
          overSeconds: 3600,
          doubleSeconds: null
        }]
      }])
      const corrected = yield* run("payroll", "correct", "--json")
      assert.deepStrictEqual(closes(corrected.stdout), [["1.2", "1.1", null]])
      const nothing = yield* run("payroll", "correct")
      assert.deepStrictEqual([nothing.code, nothing.stdout], [0, ""])
      assert.match(nothing.stderr, /^copy in .*\nnothing to correct\n/)

      const voided = yield* run("payroll", "void", "1.2", "--note", "not sent", "--json")
      assert.strictEqual(voided.code, 0, voided.stderr)
      const twice = yield* run("payroll", "void", "1.2", "--note", "not sent")
      assert.deepStrictEqual([twice.code, twice.stdout], [2, ""])
      assert.match(twice.stderr, /1\.2: it was voided already, by 1\.3/)
      yield* run("payroll", "correct")
      const all = yield* run("payroll", "list", "--json")
      assert.deepStrictEqual(closes(all.stdout), [
        ["1.1", null, null],
        ["1.2", "1.1", null],
        ["1.3", null, "1.2"],
        ["1.4", "1.1", null]
      ])
      assert.deepStrictEqual(
        JSON.parse(all.stdout).map(({ active }: { readonly active: boolean }) => active),
        [true, false, false, true]
      )
      const one = JSON.parse((yield* run("payroll", "show", "1", "--json")).stdout)
      assert.deepInclude(one.terms, {
        first: "2026-03-02",
        last: "2026-03-08",
        rounding: "halfUp",
        weeklyThreshold: 25_200
      })
      assert.deepStrictEqual(JSON.parse(voided.stdout), [JSON.parse(all.stdout)[2]])
      for (const [at, each] of JSON.parse(all.stdout).entries()) {
        assert.deepInclude(one.revisions[at], each)
        const alone = yield* run("payroll", "show", each.revision, "--json")
        assert.deepStrictEqual(JSON.parse(alone.stdout), [each])
      }
      assert.strictEqual(one.revisions.length, 4)
      const table = yield* run("payroll", "list")
      assert.match(table.stdout, /^revision +kind .*\n1\.1 +close .*600\.00 +600\.00.*signed\n1\.2 +correct +1\.1 /)
      // Nothing is due with what was not paid.
      assert.match(table.stdout, /\n1\.2 +correct +1\.1 +no +2026\S* +2026\S* +2026\S* +\d+ +[\d:]+ +[\d.]+ +[a-z]/)
      const narrow = yield* cli(["payroll", "list", "--database", file], {
        env: companyOnly,
        terminal: true,
        columns: 48
      })
      for (const line of narrow.stdout.split("\n")) assert.isAtMost(line.length, 48, line)
      assert.match(narrow.stdout, /cost due\n1\.1 .* 600\.00\n/)
      const verified = yield* run("payroll", "verify")
      assert.deepStrictEqual([verified.code, verified.stdout], [0, "3 revisions verified\n"])
      assert.strictEqual((yield* run("payroll", "void", "1.4", "--note", "not sent")).stderr, "")
      const over = yield* run("payroll", "void", "1.1", "--note", "not sent")
      assert.deepStrictEqual([over.code, over.stderr], [
        0,
        "close 2026-03-02 to 2026-03-08 again: no close has its amounts now\n"
      ])
    })))

  it.live("correct --dry-run writes nothing, and prints what due prints", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      yield* run("payroll", "close", ...week)
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* sync(file)
      const before = Fs.readFileSync(file)

      for (const flags of [[], ["--json"], ["1"]]) {
        const due = yield* run("payroll", "due", ...flags)
        const rehearsed = yield* run("payroll", "correct", "--dry-run", ...flags)
        assert.deepStrictEqual(rehearsed, due)
        assert.strictEqual(due.code, 0, due.stderr)
        assert.include(due.stdout, "501")
      }
      assert.deepStrictEqual(Fs.readFileSync(file), before)
      assert.deepStrictEqual(closes((yield* run("payroll", "list", "--json")).stdout), [["1.1", null, null]])
      yield* run("payroll", "correct")
      const nothing = yield* run("payroll", "correct", "--dry-run")
      assert.deepStrictEqual([nothing.code, nothing.stdout], [0, ""])
      assert.match(nothing.stderr, /^copy in .*\nnothing is due\n$/)
    })))

  it.live("due says that a correction would record a location without a sum, and who would lose all hours", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      const zones = `${file}.zones.csv`
      Fs.writeFileSync(zones, `location_id,zone\n${punch(1).location_id},America/New_York\n`)
      yield* run("payroll", "close", "--week", "2026-03-02", "--zone-file", zones)
      // Right after the week, at a location that its record lacks: it has no sum.
      yield* service.seed([
        punch(6, { location_id: 303, clocked_in: "2026-03-09T14:00:00Z", clocked_out: "2026-03-09T22:00:00Z" })
      ])
      yield* service.edit([6], { notes: "seen" })
      yield* sync(file)
      Fs.appendFileSync(zones, "303,America/New_York\n")
      const added = yield* run("payroll", "due", "--zone-file", zones)

      assert.deepStrictEqual([added.code, added.stdout], [0, ""], added.stderr)
      assert.match(
        added.stderr,
        /\nnothing is due\nafter 1\.1 a revision without a sum: it records the added locations\n$/
      )
      assert.lengthOf(closes((yield* run("payroll", "list", "--json")).stdout), 1)
      yield* service.edit([2], { deleted: true })
      yield* sync(file)
      const losing = yield* run("payroll", "due", "--zone-file", zones)
      assert.match(losing.stderr, /close 1: user 502 lost all hours: 1 punch deleted/)
      const corrected = yield* run("payroll", "correct", "--zone-file", zones, "--json")
      assert.deepStrictEqual(closes(corrected.stdout), [["1.2", "1.1", null]])
    })))

  it.live("takes the number behind a flag that is on or off for a close", () =>
    inFake(Effect.gen(function*() {
      const run = onCopy(yield* copy)
      yield* run("payroll", "close", ...week)
      const [one, other] = [
        yield* run("payroll", "due", "--json", "2"),
        yield* run("payroll", "correct", "--dry-run", "0")
      ]

      assert.deepStrictEqual([one.code, other.code], [2, 2])
      assert.match(one.stderr, /2: there is no such close/)
      assert.match(other.stderr, /must be a whole number from 1|a whole number from 1/)
      assert.strictEqual((yield* run("payroll", "show", "--json", "1")).code, 0)
    })))

  it.live("shows the people of a revision, and of a close its revisions alone", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      const names = `${file}.names.csv`
      Fs.writeFileSync(names, "kind,id,name\nuser,501,Dana Levi\n")
      yield* run("payroll", "close", ...week)
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* sync(file)
      yield* run("payroll", "correct")
      const revision = yield* run("payroll", "show", "1.2", "--names", names)
      const close = yield* run("payroll", "show", "1", "--names", names)

      const people = /^user_id +user +punches +net +cost +tips\n +501 +Dana Levi +1 +\+?9:00 +135\.00 /m
      assert.match(revision.stdout, people, revision.stderr)
      assert.notInclude(revision.stdout, "1.1  close")
      assert.notInclude(close.stdout, "Dana Levi")
      assert.match(close.stdout, /\n1\.1 +close .*\n1\.2 +correct +1\.1 /)
      const unknown = yield* run("payroll", "show", "1.9")
      assert.deepStrictEqual([unknown.code, unknown.stdout], [2, ""])
      assert.match(unknown.stderr, /1\.9: there is no such revision/)
    })))

  it.live("warns of a week that a void left in no close, until it is closed again", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      const weekOf = (date: string) => ["--week", date, "--zone", "America/New_York"]
      for (const date of ["2026-03-02", "2026-03-09", "2026-03-16"]) {
        const { code, stderr } = yield* run("payroll", "close", ...weekOf(date), "--accept", "empty")
        assert.strictEqual(code, 0, stderr)
        assert.notInclude(stderr, "no close has")
      }
      const hole = "no close has 2026-03-09 to 2026-03-15: close it with " +
        "payroll close --next, or let it through with --accept gap at the next close\n"
      const voided = yield* run("payroll", "void", "2.1", "--note", "wrong week")
      assert.strictEqual(voided.stdout, "2.2: 2.1 was not paid, and close 2 is over\n")
      assert.strictEqual(
        voided.stderr,
        `close 2026-03-09 to 2026-03-15 again with payroll close --next: no close has its amounts now\n${hole}`
      )
      for (const args of [["list"], ["list", "--json"], ["due"], ["correct"], ["correct", "--dry-run"]]) {
        const { code, stderr } = yield* run("payroll", ...args)
        assert.strictEqual(code, 0, stderr)
        assert.include(stderr, hole, args.join(" "))
      }
      const again = yield* run(
        "payroll",
        "close",
        "--from",
        "2026-03-09",
        "--to",
        "2026-03-15",
        "--zone",
        "America/New_York",
        "--accept",
        "empty"
      )
      assert.strictEqual(again.code, 0, again.stderr)
      assert.notInclude(again.stderr, "no close has")
      assert.strictEqual((yield* run("payroll", "list")).stderr, "")
    })))

  it.live("due names a location that the record lacks, which --zone-file adds", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      const zones = `${file}.zones.csv`
      const location = punch(1).location_id
      Fs.writeFileSync(zones, `location_id,zone\n${location},America/New_York\n`)
      const closed = yield* run("payroll", "close", "--week", "2026-03-02", "--zone-file", zones)
      assert.strictEqual(closed.code, 0, closed.stderr)
      yield* service.seed([punch(6, { location_id: 303 })])
      yield* service.edit([6], { notes: "seen" })
      yield* sync(file)
      const missing = yield* run("payroll", "due")
      assert.deepStrictEqual([missing.code, missing.stdout], [2, ""])
      assert.match(missing.stderr, /location 303 has no zone/)
      Fs.writeFileSync(zones, `location_id,zone\n${location},America/New_York\n303,America/New_York\n`)
      const added = yield* run("payroll", "due", "--zone-file", zones)
      for (const verb of ["due", "correct"]) {
        const alone = yield* run("payroll", verb, "--day-starts", "04:00")
        assert.deepStrictEqual([alone.code, alone.stdout], [2, ""])
        assert.include(alone.stderr, "--day-starts goes with --zone-file")
      }

      assert.strictEqual(added.code, 0, added.stderr)
      assert.match(added.stdout, /^due after 1\.1\n.*\n +506 +1 +\+?8:00 +120\.00 /)
    })))

  it.live("says of a correction, not of a close, that a gap holds it up", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      const location = punch(1).location_id
      const zonesWith = (zone: string) => {
        const zones = `${file}.${zone.slice(0, 3)}.csv`
        Fs.writeFileSync(zones, `location_id,zone\n${location},America/New_York\n${zone}`)
        return ["--zone-file", zones]
      }
      yield* run("payroll", "close", "--week", "2026-03-02", ...zonesWith(""))
      const next = ["--week", "2026-03-09", "--accept", "empty", ...zonesWith("303,America/New_York\n")]
      assert.strictEqual((yield* run("payroll", "close", ...next)).code, 0)
      yield* service.seed([punch(6, { location_id: 303 })])
      yield* service.edit([6], { notes: "seen" })
      yield* sync(file)
      // As Berlin in the first and New York in the second, five hours are in no close.
      for (const verb of ["correct", "due"]) {
        const refused = yield* run("payroll", verb, "1", ...zonesWith("303,Europe/Berlin\n"))
        assert.deepStrictEqual([refused.code, refused.stdout], [9, ""], refused.stderr)
        assert.match(
          refused.stderr,
          /\nnot corrected: gap 1\nno close has .* at location 303\n--accept gap corrects all the same\.\n$/
        )
      }
      const accepted = yield* run("payroll", "due", "1", ...zonesWith("303,Europe/Berlin\n"), "--accept", "gap")
      assert.strictEqual(accepted.code, 0, accepted.stderr)
      assert.match(accepted.stdout, /^due after 1\.1\n.*\n +506 /)
      assert.lengthOf(closes((yield* run("payroll", "list", "--json")).stdout), 2)
    })))

  it.live("is not ready while check finds something, and records what is accepted", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      yield* service.edit([2], { approved: false })
      yield* sync(file)

      const refused = yield* run("payroll", "close", ...week)
      assert.strictEqual(refused.code, 9)
      assert.match(refused.stdout, /unapproved/)
      assert.match(refused.stderr, /^copy in .* as of \S+Z, \d+s old\n/)
      assert.match(refused.stderr, /not closed: unapproved 1\n--accept unapproved closes all the same/)
      assert.deepStrictEqual(closes((yield* run("payroll", "list", "--json")).stdout), [])
      const accepted = yield* run("payroll", "close", ...week, "--accept", "unapproved", "--json")
      assert.deepStrictEqual(JSON.parse(accepted.stdout)[0].accepted, { unapproved: 1 })
      const again = yield* run("payroll", "close", ...week, "--accept", "unapproved")
      assert.deepStrictEqual([again.code, again.stdout], [2, ""])
      assert.match(again.stderr, /close 1 has 2026-03-02 to 2026-03-08; both have 2026-03-02 to 2026-03-08 \[/)
      const empty = yield* run("payroll", "close", "--week", "2026-02-23", "--zone", "America/New_York")
      assert.deepStrictEqual([empty.code, /empty 1/.test(empty.stderr)], [9, true])
      const disputed = yield* run("payroll", "close", ...week, "--accept", "unapproved,disputed")
      assert.strictEqual(disputed.code, 2)
      assert.include(
        disputed.stderr,
        "some of open, unapproved, overlap, tooLong, anomaly, zeroWage, gap, stale, empty"
      )
    })))

  it.live("says which people a history that was edited by hand concerns, with exit code 7", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      yield* run("payroll", "close", ...week)
      yield* service.edit([3], { clocked_out: "2026-03-05T23:00:00Z" })
      yield* sync(file)
      execute(file, "UPDATE time_punches_history SET hourly_wage = hourly_wage + 100")

      for (const verb of ["verify", "correct", "due"]) {
        const { code, stderr, stdout } = yield* run("payroll", verb)
        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.match(stderr, /1\.1: its history was edited, users 503/)
      }
    })))

  it.live("says that a pruned history reaches no revision, with exit code 7", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      yield* run("payroll", "close", ...week)
      yield* sync(file)
      // As a pruning leaves it.
      execute(file, "UPDATE time_punches_sync SET known_since = history_last, history_since = history_last")
      const { code, stderr, stdout } = yield* run("payroll", "verify")

      assert.deepStrictEqual([code, stdout], [7, ""])
      assert.match(
        stderr,
        /the history reaches no revision: none was compared.*\n {2}The history was pruned, or begins/
      )
      assert.notInclude(stderr, "these people")
    })))

  it.live("due and correct say how old the copy is, and end with 10 if it is older than --max-age", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      yield* run("payroll", "close", ...week)
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      // The sync that would bring the edit died.
      yield* Effect.sleep("1200 millis")
      for (const args of [["due"], ["correct", "--dry-run"], ["correct"]]) {
        const old = yield* run("payroll", ...args, "--max-age", "1s")
        assert.deepStrictEqual([old.code, old.stdout], [10, ""], old.stderr)
        assert.match(old.stderr, /ended \d+s ago, and --max-age is 1s/)
        const { code, stderr } = yield* run("payroll", ...args, "--max-age", "1h")
        assert.strictEqual(code, 0, stderr)
        assert.match(stderr, /^copy in .* as of \S+Z, \ds old\n/)
      }
    })))

  it.live("reads a file that it may not write", (context) => {
    needs(context, process.getuid?.() === 0, "only root can be another user, to whom the mode of a file applies")
    return inFake(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      const closed = yield* run("payroll", "close", ...week)
      assert.strictEqual(closed.code, 0, closed.stderr)
      const mapping = `${file}.json`
      const columns = [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }]
      Fs.writeFileSync(mapping, JSON.stringify({ v: 1, by: ["user"], hours: "decimal:2", rounding: "halfUp", columns }))
      Fs.chmodSync(file, 0o444)
      Fs.chmodSync(Path.dirname(file), 0o555)
      const asNobody = (...args: ReadonlyArray<string>) =>
        ChildProcess.spawnSync(process.execPath, commandOf(["payroll", ...args, "--database", file]), {
          uid: 65534,
          gid: 65534,
          cwd: "/",
          env: { ...companyOnly, HOME: "/" },
          encoding: "utf8"
        })
      const read = [["list"], ["show", "1"], ["due"], ["correct", "--dry-run"], ["verify"], [
        "file",
        "1.1",
        "--mapping",
        mapping
      ]]
      for (const args of read) {
        const { status, stderr } = asNobody(...args)
        assert.strictEqual(status, 0, stderr)
      }
      const voided = asNobody("void", "1.1", "--note", "x")
      assert.strictEqual(voided.status, 8, voided.stderr)
    }))
  })

  it.live("writes nothing to the tables of a later release, with exit code 7, and reads their punches", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      yield* run("payroll", "close", ...week)
      execute(file, "INSERT INTO time_punches_migrations (migration_id, name) VALUES (99, 'later')")
      const before = Fs.readFileSync(file)
      const refused = [
        ["payroll", "close", "--week", "2026-03-09", "--zone", "America/New_York", "--accept", "empty"],
        ["payroll", "correct"],
        ["payroll", "void", "1.1", "--note", "x"],
        ["payroll", "list"],
        ["payroll", "due"]
      ]
      const ran = [
        ...(yield* Effect.forEach(refused, (args) => run(...args))),
        yield* cli(["sync", "--database", file])
      ]
      for (const { code, stderr, stdout } of ran) {
        assert.deepStrictEqual([code, stdout], [7, ""], stderr)
        assert.match(stderr, /have schema 99, and this release needs \d+\n  A later release changed them: use that/)
      }
      assert.deepStrictEqual(Fs.readFileSync(file), before)
      for (const verb of [["payroll", "check"], ["summary"]]) {
        const { code, stderr } = yield* run(...verb, ...week, ...verb.length === 1 ? ["--rounding", "halfUp"] : [])
        assert.strictEqual(code, 0, stderr)
      }
    })))

  it.live("creates no file for a name that is misspelt", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const missing = yield* onCopy(`${file}.misspelt`)("payroll", "list")
      // A name that is misspelt creates no file.
      assert.strictEqual(missing.code, 8, missing.stderr)
      assert.isFalse(Fs.existsSync(`${file}.misspelt`))
    })))

  it.live("ends with 8 if another process wrote meanwhile, or the copy was erased", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      yield* run("payroll", "close", ...week)
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* sync(file)
      // The first of them to write wins; the others find its revision, or have nothing to correct.
      const ran = yield* Effect.all(Array.from({ length: 4 }, () => run("payroll", "correct")), { concurrency: 4 })
      assert.include(ran.map(({ code }) => code), 0)
      for (const { code, stderr } of ran)
        assert.match(`${code} ${stderr}`, /^(?:0 |8 [^]*another process wrote a revision)/)
      const erased = new CloseChanged({ companyId: CompanyId.make(1), detail: "the copy was erased" })
      assert.deepStrictEqual(commandFailureOf(erased).code, 8)
      assert.lengthOf(closes((yield* run("payroll", "list", "--json")).stdout), 2)
      yield* Effect.provide(PunchCopy.purge(CompanyId.make(defaultCompany.id)), NodeSqlite.layer({ filename: file }))
      const gone = yield* run("payroll", "close", ...week)
      assert.strictEqual(gone.code, 7, gone.stderr)
      assert.match(gone.stderr, /has no history/)
      assert.notInclude(gone.stderr, "--since")
    })))

  it.live("ends with 8 and writes nothing if the history of what was summed is gone when correct writes", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const service = yield* FakeService
      const run = onCopy(file)
      yield* run("payroll", "close", ...week)
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* sync(file)
      // As if the history had been pruned after the snapshot was read.
      execute(
        file,
        `UPDATE time_punches_sync SET known_since = history_last + 1 WHERE company_id = ${defaultCompany.id}`
      )
      const { code, stderr, stdout } = yield* run("payroll", "correct")
      assert.deepStrictEqual([code, stdout], [8, ""], stderr)
      assert.match(stderr, /the history of the instant that was summed is gone/)
      assert.lengthOf(closes((yield* run("payroll", "list", "--json")).stdout), 1)
    })))

  it.live("refuses what it cannot mean", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      const why = (...args: ReadonlyArray<string>) =>
        Effect.map(run(...args), ({ code, stderr, stdout }) => {
          assert.deepStrictEqual([code, stdout], [2, ""], stderr)
          return stderr
        })

      assert.match(yield* why("payroll", "close", "--last", "7d", "--zone", "UTC"), /close takes no --last/)
      assert.match(yield* why("payroll", "close"), /close needs a period\n.*\n {2}Or --next: /)
      assert.match(yield* why("payroll", "void", "1.1"), /Missing required flag: --note/)
      assert.match(yield* why("payroll", "void", "1", "--note", "x"), /such as 7\.2/)
      assert.match(yield* why("payroll", "correct", "7"), /7: there is no such close/)
      assert.match(yield* why("payroll", "show", "7"), /7: there is no such close/)
      assert.match(yield* why("payroll", "due", "7"), /7: there is no such close/)
      assert.match(yield* why("payroll", "due", "7.1"), /a whole number/)
      assert.match(yield* why("payroll", "verify", "7.1"), /a whole number/)
      assert.match(yield* why("payroll", "show"), /ID/)
      assert.match(yield* why("payroll", "show", "7.1", "--verify"), /--verify is not a flag/)
    })))
})
