/** The verbs of `time-punches payroll` over a copy that others touch. What they print of a plain one stands in `test/stories/verbs.txt`. */
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
import { issuesIn, rest, shift } from "./checkSupport.ts"

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

/** A copy with a closed week, and an edit in the service that no sync has brought. */
const closedAndEdited = Effect.gen(function*() {
  const file = yield* copy
  const run = onCopy(file)
  const { code, stderr } = yield* run("payroll", "close", ...week)
  assert.strictEqual(code, 0, stderr)
  yield* FakeService.use((service) => service.edit([3], { clocked_out: "2026-03-05T23:00:00Z" }))
  return { file, run }
})

/** The same, and a sync has brought the edit. */
const closedAndDue = Effect.tap(closedAndEdited, ({ file }) => sync(file))

const countRevisions = (file: string) =>
  Effect.map(
    onCopy(file)("payroll", "list", "--json"),
    ({ stdout }): number => JSON.parse(stdout).length
  )

describe("time-punches payroll void", () => {
  it.live("says of a mistake who wrote its file out and when, and lets go of a wrong year that was voided as not paid", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      const folder = Path.dirname(file)
      const mapping = { v: 1, by: ["user"], hours: "minutes", rounding: "halfUp", columns: ["userId", "hours"] }
      Fs.writeFileSync(
        `${folder}/mapping.json`,
        JSON.stringify({ ...mapping, columns: mapping.columns.map((value) => ({ header: value, value })) })
      )
      const written = (revision: string) =>
        Effect.map(
          run(
            "payroll",
            "file",
            revision,
            "--mapping",
            `${folder}/mapping.json`,
            "--output",
            `${folder}/pay.csv`,
            "--force"
          ),
          ({ code, stderr }) => assert.strictEqual(code, 0, stderr)
        )
      const wrongYear = ["--week", "2027-03-01", "--zone", "America/New_York", "--accept", "empty,gap,stale"]
      yield* run("payroll", "close", ...week)
      yield* written("1.1")
      yield* run("payroll", "close", ...wrongYear)

      const voided = yield* run("payroll", "void", "2.1", "--note", "a wrong year")
      const due = yield* run("payroll", "due")
      const gone = yield* run("payroll", "void", "2.1", "--mistake", "--note", "a wrong year")
      const again = yield* run("payroll", "void", "2.1", "--mistake", "--note", "a wrong year")
      const quiet = yield* run("payroll", "due")
      const next = yield* run("payroll", "close", "--next", "--accept", "empty,stale")
      const paid = yield* run("payroll", "void", "1.1", "--mistake", "--note", "wrong dates")

      const way = "close it with payroll close --next; if close 2 should never have been written, " +
        "payroll void 2.1 --mistake lets it go"
      for (const { stderr } of [voided, due]) assert.include(stderr, `no close has 2027-03-01 to 2027-03-07: ${way}`)
      assert.strictEqual(gone.code, 0, gone.stderr)
      assert.include(gone.stdout, "2.3: 2.1 was a mistake, and close 2 is over")
      assert.notInclude(gone.stderr, "was written out")
      assert.notStrictEqual(again.code, 0)
      assert.include(again.stderr, "2.1: it was voided already, by 2.2")
      assert.notInclude(quiet.stderr, "no close has")
      assert.include(next.stdout, "2026-03-09")
      assert.include(paid.stdout, "1.2: 1.1 was a mistake, and close 1 is over")
      assert.match(
        paid.stderr,
        /a file of 1\.1 was written out 20\d\d-\d\d-\d\dT\d\d:\d\dZ by \S+@\S+: if it was sent, that was paid, and no close has it/
      )
    })))
})

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

  it.live("refuses hours that the service made up, a wage that is none and a shift that is paid nothing, until each is accepted", () =>
    Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      const kinds = [["anomaly", "1"], ["autoClockedOut", "1"], ["wageFar", "1"]]
      const check = yield* run("payroll", "check", ...week, "--json")
      const refused = yield* run("payroll", "close", ...week)
      const half = yield* run("payroll", "close", ...week, "--accept", "autoClockedOut,anomaly", "--max-wage", "15")
      const closed = yield* run("payroll", "close", ...week, "--accept", "autoClockedOut,anomaly,wageFar", "--json")

      assert.deepStrictEqual(
        issuesIn(check.stdout).map(({ kind, punchId }) => [punchId, kind]),
        [[1, "autoClockedOut"], [2, "anomaly"], [3, "wageFar"]]
      )
      assert.deepStrictEqual([check.code, refused.code, half.code, closed.code], [9, 9, 9, 0], closed.stderr)
      for (const [kind = "", count] of kinds) assert.match(refused.stderr, new RegExp(`\\b${kind} ${count}\\b`))
      assert.match(
        refused.stdout + refused.stderr,
        /The service clocked it out at 2026-03-03 23:59, in the last minute of a day\./
      )
      assert.match(half.stderr, /\bwageFar 1\b/)
      assert.include(closed.stdout, `"accepted":{"autoClockedOut":1,"anomaly":1,"wageFar":1}`)
    }).pipe(
      Effect.scoped,
      Effect.provide(FakeService.layer({
        punches: [
          punch(1, { auto_clocked_out: true, clocked_out: "2026-03-04T04:59:59Z" }),
          punch(2, { breaks: [rest("2026-03-04T14:00:00Z", "2026-03-04T22:00:00Z")] }),
          punch(3, { hourly_wage: 115_400 }),
          punch(4),
          punch(5)
        ]
      }))
    ))

  it.live("says which people a history that was edited by hand concerns, with exit code 7", () =>
    inFake(Effect.gen(function*() {
      const { file, run } = yield* closedAndDue
      execute(file, "UPDATE time_punches_history SET hourly_wage = hourly_wage + 100")

      for (const verb of ["verify", "correct", "due"]) {
        const { code, stderr, stdout } = yield* run("payroll", verb)
        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.match(stderr, /1\.1: its history was edited, users 503/)
      }
    })))

  it.live("says that a pruned history reaches no revision, with exit code 7", () =>
    inFake(Effect.gen(function*() {
      const { file, run } = yield* closedAndDue
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
      const { run } = yield* closedAndEdited
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

  it.live("due and correct say how far back the copy was swept: an increment sees no wage without a new modified", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      assert.strictEqual((yield* run("payroll", "close", ...week)).code, 0)
      const unseen = { hourly_wage: 2150, modified: "2026-03-03T22:00:00Z" }
      yield* FakeService.use((service) => service.edit([3], unseen))
      const said: Array<ReadonlyArray<string>> = []
      for (const sweep of [[], ["--sweep", "1d"], [], ["--sweep", "all"]]) {
        assert.strictEqual((yield* cli(["sync", "--database", file, ...sweep])).code, 0)
        const { stderr, stdout } = yield* run("payroll", "due", "--quiet")
        said.push([
          ...stderr.replaceAll(/\d{4}-\d\d-\d\d/g, "DATE").split(/:.*\n|\n/).slice(0, -1),
          stdout.slice(0, 13)
        ])
      }
      const { stderr } = yield* run("payroll", "correct", "--quiet")

      assert.deepStrictEqual(said, [
        ["not swept since the first load", "nothing is due", ""],
        ["swept back to DATE on DATE", "nothing is due", ""],
        ["swept back to DATE on DATE", "nothing is due", ""],
        ["swept whole on DATE", "due after 1.1"]
      ])
      assert.match(stderr, /^swept whole on \d{4}-\d\d-\d\d: a wage or a break/)
    })))

  it.live.each(
    [
      ["a higher wage", 1650, ["503,15.00,-8.00,-120.00", "503,16.50,8.00,132.00"]],
      ["a lower wage", 1400, ["503,14.00,8.00,112.00", "503,15.00,-8.00,-120.00"]],
      ["no wage", 0, ["503,0.00,8.00,0.00", "503,15.00,-8.00,-120.00"]]
    ] as const
  )(
    "pays the difference of %s for the past once, when a sweep has seen it",
    ([_, wage, rows]) =>
      inFake(Effect.gen(function*() {
        const file = yield* copy
        const run = onCopy(file)
        const mapping = `${file}.json`
        const columns = [
          { header: "User", value: "userId" },
          { header: "Rate", value: "rate" },
          { header: "Hours", value: "hours" },
          { header: "Cost", value: "cost" }
        ]
        Fs.writeFileSync(
          mapping,
          JSON.stringify({ v: 1, by: ["user"], hours: "decimal:2", rounding: "halfUp", columns })
        )
        assert.strictEqual((yield* run("payroll", "close", ...week)).code, 0)
        const service = yield* FakeService
        const modified = "2026-03-03T22:00:00Z"
        yield* service.edit([3], { hourly_wage: wage, modified })
        assert.strictEqual((yield* cli(["sync", "--database", file, "--sweep", "all"])).code, 0)
        assert.strictEqual((yield* run("payroll", "correct")).code, 0)
        const { stdout } = yield* run("payroll", "file", "1.2", "--mapping", mapping)
        const again = yield* run("payroll", "due")

        assert.deepStrictEqual(stdout.trimEnd().split(/\r?\n/).slice(1), [...rows])
        assert.include(again.stderr, "nothing is due")
        // Put back, it is due the other way round.
        yield* service.edit([3], { hourly_wage: 1500, modified })
        assert.strictEqual((yield* cli(["sync", "--database", file, "--sweep", "all"])).code, 0)
        assert.match((yield* run("payroll", "due")).stdout, /^due after 1\.2/)
      }))
  )

  it.live("write one text of a duration in every table, so that rows add up to what stands below them", () =>
    inFakeOf(
      [1, 2, 3].map((id) =>
        punch(id, {
          user_id: 500 + id,
          clocked_in: "2026-03-02T14:00:00Z",
          clocked_out: "2026-03-02T21:59:40Z",
          breaks: []
        })
      )
    )(Effect.gen(function*() {
      const file = yield* copy
      const run = onCopy(file)
      const report = `${file}.html`
      const tables = [
        yield* run("payroll", "close", ...week),
        yield* run("payroll", "show", "1.1"),
        yield* run("list"),
        yield* run("summary", "--by", "user"),
        yield* run("report", ...week, "--output", report).pipe(
          Effect.map((ran) => ({ ...ran, stdout: Fs.readFileSync(report, "utf8") }))
        )
      ]

      for (const { code, stderr, stdout } of tables) {
        assert.strictEqual(code, 0, stderr)
        assert.isAtLeast(stdout.match(/7:59:40/g)?.length ?? 0, 3)
        assert.notMatch(stdout, /\b7:59\b(?!:)/)
      }
      assert.match((yield* run("payroll", "list")).stdout, / 23:59 /)
    })))

  it.live("reads a file that it may not write", (context) => {
    needs(context, process.getuid?.() === 0, "only root can be another user, to whom the mode of a file applies")
    return inFake(Effect.gen(function*() {
      const { file } = yield* closedAndDue
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
      for (
        const words of ["list", "show 1", "due", "correct --dry-run", "verify", `file 1.1 --mapping ${mapping}`]
      ) {
        const { status, stderr } = asNobody(...words.split(" "))
        assert.strictEqual(status, 0, stderr)
      }
      const voided = asNobody("void", "1.1", "--note", "x")
      assert.strictEqual(voided.status, 8, voided.stderr)
    }))
  })

  it.live("writes nothing to the tables of a later release, with exit code 7, and reads their punches", () =>
    inFake(Effect.gen(function*() {
      const { file, run } = yield* closedAndDue
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

  it.live("lists revisions in a narrow terminal, with what is due of each", () =>
    inFake(Effect.gen(function*() {
      const { file } = yield* closedAndDue
      const options = { env: companyOnly, terminal: true, columns: 48 }
      const { stdout } = yield* cli(["payroll", "list", "--database", file], options)
      for (const line of stdout.split("\n")) assert.isAtMost(line.length, 48, line)
      assert.match(stdout, /cost due\n1\.1 .* 600\.00\n/)
    })))

  it.live("creates no file for a name that is misspelt", () =>
    inFake(Effect.gen(function*() {
      const file = yield* copy
      const missing = yield* onCopy(`${file}.misspelt`)("payroll", "list")
      assert.strictEqual(missing.code, 8, missing.stderr)
      assert.isFalse(Fs.existsSync(`${file}.misspelt`))
    })))

  it.live("ends with 8 if another process wrote meanwhile, or the copy was erased", () =>
    inFake(Effect.gen(function*() {
      const { file, run } = yield* closedAndDue
      // The first of them to write wins; the others find its revision, or have nothing to correct.
      const ran = yield* Effect.all(Array.from({ length: 4 }, () => run("payroll", "correct")), { concurrency: 4 })
      assert.include(ran.map(({ code }) => code), 0)
      for (const { code, stderr } of ran)
        assert.match(`${code} ${stderr}`, /^(?:0 |8 [^]*another process wrote a revision)/)
      const erased = new CloseChanged({ companyId: CompanyId.make(1), detail: "the copy was erased" })
      assert.deepStrictEqual(commandFailureOf(erased).code, 8)
      assert.strictEqual(yield* countRevisions(file), 2)
      yield* Effect.provide(PunchCopy.purge(CompanyId.make(defaultCompany.id)), NodeSqlite.layer({ filename: file }))
      const gone = yield* run("payroll", "close", ...week)
      assert.strictEqual(gone.code, 7, gone.stderr)
      assert.match(gone.stderr, /has no history/)
      assert.notInclude(gone.stderr, "--since")
    })))

  it.live("ends with 8 and writes nothing if the history of what was summed is gone when correct writes", () =>
    inFake(Effect.gen(function*() {
      const { file, run } = yield* closedAndDue
      // As if the history had been pruned after the snapshot was read.
      execute(
        file,
        `UPDATE time_punches_sync SET known_since = history_last + 1 WHERE company_id = ${defaultCompany.id}`
      )
      const { code, stderr, stdout } = yield* run("payroll", "correct")
      assert.deepStrictEqual([code, stdout], [8, ""], stderr)
      assert.match(stderr, /the history of the instant that was summed is gone/)
      assert.strictEqual(yield* countRevisions(file), 1)
    })))
})
