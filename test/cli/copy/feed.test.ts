import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { reference } from "../../../src/cli/help/reference.ts"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { cli, companyOnly, execute, inCopyOf, linesOf, read } from "../support.ts"

const punches = generatePunches({ seed: 6, count: 30, companyId: defaultCompany.id })

const withCopy = inCopyOf(punches)

const sync = (file: string, ...args: ReadonlyArray<string>) =>
  Effect.andThen(
    TestClock.adjust("1 hour"),
    cli(["copy", "sync", "--database", file, "--history", ...args])
  )

const feed = (file: string, ...args: ReadonlyArray<string>) =>
  cli(["copy", "feed", "--database", file, ...args], { env: companyOnly })

const eventsOf = (text: string) => linesOf(text).map((line) => JSON.parse(line))

const told = (text: string) => eventsOf(text).map(({ kind, punchId }) => [punchId, kind])

const [one = 0, two = 0] = punches.filter(({ deleted }) => deleted !== true).map(({ id }) => id)

describe("time-punches copy feed", () => {
  it.effect("prints the state, then with a position what was committed after it", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const state = yield* feed(file)
      const events = eventsOf(state.stdout)
      yield* (yield* FakeService).edit([one], { notes: "corrected", approved: false })
      yield* sync(file)
      const changes = yield* feed(file, "--after", events.at(-1).position)
      const [event, ...more] = eventsOf(changes.stdout)

      assert.deepStrictEqual([state.code, events.length, changes.code, more], [0, punches.length, 0, []])
      assert.isTrue(events.every(({ before, kind }) => kind === "present" && before === null))
      assert.deepStrictEqual(Object.keys(event), [
        "position",
        "at",
        "kind",
        "companyId",
        "punchId",
        "userId",
        "changed",
        "before",
        "after"
      ])
      assert.deepStrictEqual([event.kind, event.punchId, event.after.notes], ["edited", one, "corrected"])
      assert.includeMembers(event.changed, ["notes", "modified"])
      assert.strictEqual((yield* feed(file, "--after", event.position)).stdout, "")
    })))

  it.effect("keeps the position in a file, continues there, and omits no event that no flag asks for", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const state = `${file}.state.json`
      yield* sync(file)
      const nothing = yield* feed(file, "--state", state, "--after", "now")
      const service = yield* FakeService
      yield* service.edit([one], { notes: "corrected" })
      yield* service.edit([two], { deleted: true })
      yield* sync(file)
      const deleted = yield* feed(file, "--state", state, "--kind", "deleted")
      const after = yield* feed(file, "--state", state, "--after", "now")
      yield* service.edit([one], { approved: false })
      yield* service.edit([two], { deleted: false })
      yield* sync(file)
      const kinds = yield* feed(file, "--state", state, "--changed", "deleted,tips")

      assert.deepStrictEqual([nothing, after].map(({ code, stdout }) => [code, stdout]), [[0, ""], [0, ""]])
      assert.deepStrictEqual([told(deleted.stdout), told(kinds.stdout)], [[[two, "deleted"]], [[two, "undeleted"]]])
      assert.strictEqual(Fs.statSync(state).mode & 0o777, 0o600)
      assert.strictEqual(JSON.parse(read(state)).position, eventsOf(kinds.stdout).at(-1).position)
    })))

  it.effect("begins with what changed after an instant, and refuses one before the history or beside a position", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const [{ at }] = eventsOf((yield* feed(file)).stdout)
      yield* (yield* FakeService).edit([one], { approved: false, notes: "corrected" })
      yield* sync(file)
      const changed = yield* feed(file, "--since", at, "--kind", "edited", "--changed", "approved,notes")
      const now = yield* feed(file, "--since", "now")
      const before = yield* feed(file, "--since", "2000-01-01T00:00:00Z")
      const both = yield* feed(file, "--since", at, "--after", "now")
      const later = yield* feed(file, "--since", "2999-01-01T00:00:00Z")
      const date = yield* feed(file, "--since", "2026-03-09")
      const state = `${file}.state.json`
      const kept = yield* feed(file, "--since", at, "--state", state, "--kind", "deleted")

      assert.deepStrictEqual([told(changed.stdout), changed.stderr], [[[one, "edited"]], ""])
      assert.deepStrictEqual([now, before, both, date].map(({ code, stdout }) => [code, stdout]), [
        [0, ""],
        [7, ""],
        [2, ""],
        [2, ""]
      ])
      assert.include(before.stderr, "Give a later time. Without --since it begins")
      assert.include(both.stderr, "--since goes without --after")
      assert.deepStrictEqual([later.code, later.stdout], [2, ""])
      assert.include(later.stderr, "--since 2999-01-01T00:00:00.000Z is in the future: nothing can have changed")
      assert.include(date.stderr, "an RFC 3339 instant with a zone")
      assert.deepStrictEqual([kept.code, kept.stderr], [0, ""])
      assert.include(JSON.parse(read(state)).position, `/${one}`)
    })))

  it.effect("says in one line that no event is of these kinds or fields", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      for (
        const flags of [["--kind", "edited"], ["--changed", "approved"], ["--kind", "present", "--changed", "tips"]]
      ) {
        const { code, stderr, stdout } = yield* feed(file, ...flags)
        assert.deepStrictEqual([code, stdout, linesOf(stderr).length], [0, "", 1])
        assert.include(stderr, `all present: ${flags.join(" ")} selects none of them; --since TIME begins with`)
      }
      for (const flags of [[], ["--kind", "present,edited"]]) {
        assert.strictEqual((yield* feed(file, ...flags)).stderr, "")
      }
      for (const flags of [[], ["--kind", "present"], ["--kind", "added", "--changed", "notes"]]) {
        const { code, stderr } = yield* feed(file, "--after", "now", ...flags)
        assert.deepStrictEqual([code, stderr], [0, "no event matches\n"])
      }
    })))

  it.effect("refuses a file of another database, another company, or another kind", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const state = `${file}.state.json`
      yield* feed(file, "--state", state)
      const kept = read(state)
      Fs.copyFileSync(file, `${file}.other.db`)
      const database = yield* feed(`${file}.other.db`, "--state", state)
      Fs.writeFileSync(state, kept.replace(`"company":${defaultCompany.id}`, `"company":77`))
      const company = yield* feed(file, "--state", state)
      Fs.writeFileSync(state, "{}")
      const other = yield* feed(file, "--state", state)

      assert.deepStrictEqual([database, company, other].map(({ code, stdout }) => [code, stdout]), [
        [2, ""],
        [2, ""],
        [2, ""]
      ])
      assert.include(database.stderr, `is the state of company ${defaultCompany.id} in `)
      assert.include(company.stderr, "is the state of company 77 in ")
      assert.include(other.stderr, "is not the state of a feed")
      assert.strictEqual(read(state), "{}")
    })))

  it.effect("names --state where that file cannot be replaced, and --after where its position is of another company", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const device = yield* feed(file, "--state", "/dev/null")
      const folder = yield* feed(file, "--state", "/tmp/")
      const output = yield* feed(file, "--state", "-")
      const company = yield* feed(file, "--after", "77/2026-03-09T15:00:00.123Z/451")

      assert.deepStrictEqual([device, folder, output, company].map(({ code, stdout }) => [code, stdout]), [
        [2, ""],
        [2, ""],
        [2, ""],
        [2, ""]
      ])
      assert.match(device.stderr, /--state \/dev\/null is not a regular file: /)
      assert.match(folder.stderr, /--state \/tmp\/ is not a file but a folder/)
      assert.match(output.stderr, /--state: "-"\. Expected: the name of a file, not -/)
      assert.notInclude(device.stderr + folder.stderr, "--output")
      assert.match(company.stderr, /--after is a position of company 77/)
    })))

  it.effect("prints a line for people, with escaped texts", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      yield* (yield* FakeService).edit([one], { notes: "late\u001b[2J\nline\u202e" })
      const since = eventsOf((yield* feed(file)).stdout).at(-1).position
      yield* sync(file)
      const { stdout } = yield* feed(file, "--after", since, "--format", "table")

      assert.lengthOf(linesOf(stdout), 1)
      assert.match(stdout, new RegExp(`^\\d{4}-.*Z edited {4}punch ${one}, user \\d+: notes `))
      assert.notMatch(stdout, /[\u001b\u202e]/)
    })))

  it.effect("ends with 7 without a history, and where it was pruned, with what to do", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* cli(["copy", "sync", "--database", file])
      const none = yield* feed(file)
      yield* sync(file)
      const [{ position }] = eventsOf((yield* feed(file)).stdout)
      yield* (yield* FakeService).edit([one], { notes: "corrected" })
      yield* sync(file)
      execute(file, "UPDATE time_punches_sync SET known_since = history_last")
      const pruned = yield* feed(file, "--after", position)
      const foreign = yield* feed(file, "--after", position.replace(/\/state.*$/, "/1").replace(/^(\d+\/)2/, "$19"))

      assert.deepStrictEqual([none, pruned, foreign].map(({ code, stdout }) => [code, stdout]), [[7, ""], [7, ""], [
        7,
        ""
      ]])
      assert.include(none.stderr, `the copy has no history of company ${defaultCompany.id}\n`)
      assert.include(none.stderr, "copy sync --history")
      assert.include(pruned.stderr, "its history is known since")
      Fs.writeFileSync(
        `${file}.json`,
        JSON.stringify({ about: "", form: 1, run: "", company: defaultCompany.id, database: file, position })
      )
      const fromNow = yield* feed(file, "--after", "now", "--state", `${file}.json`)
      assert.include(fromNow.stderr, `Remove ${file}.json, and run without --after: the run begins with the state`)
      assert.include(foreign.stderr, "of another database")
      const [codes] = reference["exit-codes"]
      const named = codes.rows.filter(([, , errors]) => errors?.includes("`HistoryUnavailable`"))
      assert.deepStrictEqual(named.map(([code]) => code), [`${none.code}`])
    })))

  it.effect("refuses positions, kinds, fields and intervals that are none, before it opens the database", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      for (
        const args of [
          ["--after", "yesterday"],
          ["--after", ""],
          ["--kind", "edited,gone"],
          ["--changed", "clockedOut"],
          ["--follow=soon"],
          ["--state", " "],
          ["--format", "csv"]
        ]
      ) {
        const { code, stderr, stdout } = yield* feed(file, ...args)
        assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
        assert.include(stderr, "Expected", args.join(" "))
      }
      const { code, stderr } = yield* feed(file, "--after", "77/2026-03-09T15:00:00Z/1")
      assert.strictEqual(code, 8, stderr)
      yield* sync(file)
      const other = yield* feed(file, "--after", "77/2026-03-09T15:00:00Z/1")
      assert.deepStrictEqual([other.code, other.stderr.includes("is a position of company 77")], [2, true])
    })))
})
