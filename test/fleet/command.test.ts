import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { hostname, userInfo } from "node:os"
import { DatabaseSync } from "node:sqlite"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { commandOf, environmentOf, start } from "../cli/child.ts"
import { cli, linesOf, temporaryFolder, without } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { emptyDatabase, hasPostgres, noPostgres } from "../support/postgres.ts"
import { servicePunch } from "../support/wire.ts"

/** As the command names who pauses. */
const person = `${userInfo().username}@${hostname()}`

const guid = "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60"

const hasScript = ChildProcess.spawnSync("script", ["--version"]).status === 0

/** The company whose week is closed, and its punches: 8 hours each for 15.00, with 5.00 of tips. */
const paid = defaultCompany.id
const paidPunches = [1, 2].map((id) =>
  servicePunch({
    id,
    user_id: 500 + id,
    hourly_wage: 1500,
    tips: 500,
    breaks: [],
    approved: true,
    clocked_in: `2026-03-0${2 + id}T14:00:00Z`,
    clocked_out: `2026-03-0${2 + id}T22:00:00Z`
  })
)

/** A command over a separate file. */
const inFile = Effect.map(temporaryFolder, (folder) => {
  const database = `${folder}/punches.db`
  return {
    database,
    fleet: (args: string, options: Parameters<typeof cli>[1] = {}) =>
      cli(["fleet", ...args.split(" "), "--database", database], options),
    sql: <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
      Effect.orDie(Effect.provide(Effect.flatMap(SqlClient.SqlClient, use), NodeSqlite.layer({ filename: database })))
  }
})

const test = <E>(title: string, body: Effect.Effect<void, E, FakeService | Scope.Scope>) =>
  it.live(title, () => body.pipe(Effect.provide(FakeService.layer())))

describe("time-punches fleet", () => {
  test(
    "add creates the file and takes ids, guids and an interval; list shows them",
    Effect.gen(function*() {
      const { fleet } = yield* inFile
      const added = yield* fleet(`add --every 5m 4022 4021=${guid}`)
      const listed = yield* fleet("list")
      const json: unknown = JSON.parse((yield* fleet("list --json")).stdout)

      const again = yield* fleet("add 4021 4022")

      assert.deepStrictEqual([added.code, added.stdout], [0, "2 companies added, 0 changed\n"])
      assert.match(added.stderr, /^fleet run blocks a company without a guid: time-punches .*fleet add 4022=GUID$/m)
      assert.notInclude(again.stderr, "guid")
      assert.deepStrictEqual(linesOf(listed.stdout).map((line) => line.split(/ {2,}/).slice(0, 4)), [
        ["company", "state", "phase", "every"],
        ["4021", "active", "first", "5m"],
        ["4022", "active", "first", "5m"]
      ])
      assert.isTrue(Array.isArray(json))
      assert.deepInclude(Array.isArray(json) ? json[0] : {}, {
        companyId: 4021,
        state: "active",
        phase: "first",
        reason: null,
        everySeconds: 300,
        lastOkAt: null,
        failures: 0,
        lastError: null,
        rows: 0
      })
    })
  )

  test(
    "add reads CSV, and adds nothing where a line is wrong",
    Effect.gen(function*() {
      const { fleet } = yield* inFile
      const wrong = yield* fleet("add", { stdin: `company_id,guid\n1,\nx,${guid}\n` })
      const guidless = yield* fleet("add", { stdin: "company_id,guid\n1,no-uuid\n" })
      const semicolons = yield* fleet("add", { stdin: `company_id;guid;\n;;\nx;${guid};\n` })
      const header = yield* fleet("add", { stdin: "id\n1\n" })
      const terminal = yield* fleet("add")
      const swapped = yield* fleet("add", { stdin: `guid,company_id\n${guid},1\n` })
      const empty = yield* fleet("add", { stdin: "" })
      const zero = yield* fleet("add", { stdin: "company_id,guid\n0,\n" })
      const twice = yield* fleet("add", { stdin: `company_id,guid\n1,${guid}\n1,${guid.replace("3", "4")}\n` })
      const none = yield* fleet("list --json")
      const good = yield* fleet("add", { stdin: `\uFEFF"company_id","guid"\r\n1,\r\n"2","${guid}"\r\n\r\n1,\r\n` })

      assert.deepStrictEqual(
        [wrong, guidless, header, terminal, swapped, empty, zero, twice, none].map(({ code }) => code),
        [2, 2, 2, 2, 2, 2, 2, 2, 0]
      )
      assert.strictEqual(none.stdout, "[]\n")
      assert.include(zero.stderr, "company_id must be a whole number from 1")
      assert.include(twice.stderr, "guid must have one value: company 1 is given twice")
      assert.include(wrong.stderr, "standard input, line 3: company_id must be")
      assert.include(guidless.stderr, "line 2: guid must be")
      assert.include(semicolons.stderr, "standard input, line 3: company_id must be")
      assert.include(terminal.stderr, "standard input")
      assert.strictEqual(good.stdout, "2 companies added, 0 changed\n")
    })
  )

  test(
    "changes those that are known, and ends with 2 where one is not",
    Effect.gen(function*() {
      const { fleet } = yield* inFile
      yield* fleet("add 1 2 3")
      const paused = yield* fleet("pause 1 9")
      const again = yield* fleet("sync 1 2")
      const resumed = yield* fleet("resume --state paused")
      const both = yield* fleet("resume 1 --state paused")
      const removed = yield* fleet("remove 3")
      const late = yield* fleet("list --late --json")

      assert.deepStrictEqual([paused.code, paused.stdout], [2, "1 company paused\n"])
      assert.include(paused.stderr, "not in the fleet: 9")
      assert.deepStrictEqual([again.code, again.stdout], [0, "1 company due now\n"])
      assert.include(again.stderr, "not active: 1")
      assert.strictEqual(resumed.stdout, "1 company resumed\n")
      assert.strictEqual(both.code, 2)
      assert.include(removed.stdout, "1 company removed")
      assert.deepStrictEqual([late.code, late.stdout], [0, "[]\n"])
    })
  )

  test(
    "runners shows which processes live, what they hold and for how long, and why they leave companies to others",
    Effect.gen(function*() {
      const { fleet, sql } = yield* inFile
      yield* fleet("add 1 2 3 4 5")
      const none = yield* fleet("runners")
      const empty = yield* fleet("runners --json")
      const now = Date.now()
      yield* sql((sql) =>
        sql`INSERT INTO fleet_runner VALUES ('a', '0.1.0', ${now - 3_600_000}, ${now}, '{}'),
          ('b', '0.1.0', ${now - 60_000}, ${now}, '{}'), ('c', '0.0.9', ${now - 60_000}, ${now - 20_000}, '{}')`
      )
      yield* sql((sql) =>
        sql`INSERT INTO fleet_trouble VALUES ('b', 'refused', 0, ${now}, 'invalid_client: the secret')`
      )
      yield* sql((sql) =>
        sql`UPDATE fleet_company SET heartbeat_at = ${now}, runner = CASE WHEN company_id < 5 THEN 'a' ELSE 'c' END,
          claimed_at = ${now} - 1000 * CASE company_id WHEN 2 THEN 120 ELSE 5 END WHERE company_id < 6`
      )
      const shown = yield* fleet("runners")
      const json: ReadonlyArray<
        { readonly holds: ReadonlyArray<{ readonly companyId: number; readonly forSeconds: number }> }
      > = JSON.parse((yield* fleet("runners --json")).stdout)

      assert.deepStrictEqual([none.code, linesOf(none.stdout).length, empty.stdout], [0, 1, "[]\n"])
      assert.include(none.stderr, "no process of the fleet was seen")
      const [header, ...rows] = linesOf(shown.stdout).map((line) => line.split(/ {2,}/))
      assert.deepStrictEqual(header?.slice(0, 2), ["runner", "state"])
      assert.deepStrictEqual(rows.slice(0, 3).map(([name, state]) => [name, state]), [
        ["a", "working"],
        ["b", "refused"],
        ["c", "silent"]
      ])
      assert.match(shown.stdout, /2 for 2m, 1 for \ds, 3 for \ds, 1 more/)
      assert.include(shown.stdout, "b is refused: invalid_client: the secret")
      assert.containSubset(json, [
        { runner: "a", state: "working", error: null, release: "0.1.0", inWork: 4 },
        { runner: "b", state: "refused", error: "invalid_client: the secret", inWork: 0, holds: [] },
        { runner: "c", state: "silent", release: "0.0.9", inWork: 1 }
      ])
      assert.approximately(json[0]?.holds[0]?.forSeconds ?? 0, 120, 30)
    })
  )

  test(
    "pause and resume take ids or the whole fleet, and never both or neither",
    Effect.gen(function*() {
      const { fleet, sql } = yield* inFile
      yield* fleet("add 1")
      for (const args of ["pause", "pause 1 --all", "resume", "resume 1 --all", "resume --all --state paused"]) {
        const { code, stderr, stdout } = yield* fleet(args)
        assert.deepStrictEqual([code, stdout], [2, ""], args)
        assert.match(stderr, /takes (ids, or --all|one of: ids, --state, --all)/, args)
      }
      const paused = yield* fleet("pause --all")

      assert.deepStrictEqual([paused.code, paused.stdout], [
        0,
        "The fleet is paused; syncs that are in flight finish.\n"
      ])
      assert.include(paused.stderr, "time-punches fleet resume --all")
      assert.lengthOf(yield* sql((sql) => sql`SELECT 1 FROM fleet_company WHERE state = 'active'`), 1)
    })
  )

  test(
    "sync makes companies due, with --full for a sweep",
    Effect.gen(function*() {
      const { fleet, sql } = yield* inFile
      yield* fleet("add 1 2")
      yield* sql((sql) => sql`UPDATE fleet_company SET next_at = 9e15, sweep_at = 9e15`)
      const plain = yield* fleet("sync 1")
      const full = yield* fleet("sync 2 --full")
      const due = yield* sql((sql) =>
        sql`SELECT company_id AS id, next_at < 9e15 AS syncs, sweep_at < 9e15 AS sweeps FROM fleet_company ORDER BY 1`
      )

      assert.deepStrictEqual([plain.stdout, full.stdout], ["1 company due now\n", "1 company due now for a sweep\n"])
      assert.deepStrictEqual(due.map((row) => Object.values(row).map(Number)), [[1, 1, 0], [2, 1, 1]])
    })
  )

  test(
    "prints JSON alone on standard output with --json, whatever the command",
    Effect.gen(function*() {
      const { fleet } = yield* inFile
      const printed: Array<unknown> = []
      for (
        const args of [
          "migrate",
          "add 1 2 3",
          "sync 1 9",
          "pause 1",
          "pause 1",
          "resume 1",
          "resume --state blocked",
          "pause --all",
          "resume --all",
          "list",
          "remove 3",
          "remove 2 --purge --yes"
        ]
      ) {
        const { code, stdout } = yield* fleet(`${args} --json`)
        assert.strictEqual(code, args === "sync 1 9" ? 2 : 0, args)
        const json: unknown = JSON.parse(stdout)
        printed.push(Array.isArray(json) ? json.length : json)
      }
      const changed = (ids: ReadonlyArray<number>, more = {}) => ({ changed: ids, inactive: [], unknown: [], ...more })

      assert.deepStrictEqual(printed, [
        { migrated: true },
        { added: [1, 2, 3], changed: [] },
        changed([1], { unknown: [9] }),
        changed([1]),
        changed([], { inactive: [1] }),
        changed([1]),
        changed([]),
        { pauses: [{ reason: "operator", until: null, by: person }] },
        { pauses: [] },
        3,
        changed([3]),
        changed([2])
      ])
    })
  )

  test(
    "status shows one company, its last error and its last ten turns",
    Effect.gen(function*() {
      const { fleet, sql } = yield* inFile
      yield* fleet("add 1")
      yield* sql((sql) =>
        sql`UPDATE fleet_company SET state = 'blocked', reason = 'Forbidden', last_error = '{"at":"2026-11-22T10:00:00.000Z","tag":"Forbidden","text":"403 the plan"}'`
      )
      yield* sql((sql) => sql`INSERT INTO fleet_run VALUES (1, 7, 'a', 1000, 3000, 2, 300, 'Complete')`)
      yield* sql((sql) =>
        sql`INSERT INTO fleet_company SELECT 3, guid, state, phase, reason, every_ms, added_at, next_at, sweep_at, full_sweep_at, heartbeat_at, claimed_at, runner, epoch, starts, failures, tag, tag_count, tag_since, probed_at, last_ok_at, last_error, rows FROM fleet_company`
      )
      yield* sql((sql) => sql`INSERT INTO fleet_run VALUES (3, 7, 'a', 9000, 3000, 2, 300, 'Complete')`)
      const back = yield* fleet("status 3")
      const wrong = yield* fleet("status 0")
      const status = yield* fleet("status 1")
      const json: { readonly companyId: number; readonly turns: ReadonlyArray<unknown> } = JSON.parse(
        (yield* fleet("status 1 --json")).stdout
      )
      const unknown = yield* fleet("status 2")

      assert.include(status.stdout, "blocked (Forbidden)")
      assert.include(status.stdout, "last error, 2026-11-22T10:00:00.000Z: Forbidden: 403 the plan")
      assert.match(status.stdout, /2s +a +2 +300 +Complete/)
      assert.match(back.stdout, / 0s +a/, "the clock was set back meanwhile")
      assert.deepStrictEqual([wrong.code, /from 1 to/.test(wrong.stderr)], [2, true], wrong.stderr)
      assert.strictEqual(json.companyId, 1)
      assert.deepStrictEqual(json.turns, [{
        epoch: 7,
        runner: "a",
        beganAt: "1970-01-01T00:00:01.000Z",
        endedAt: "1970-01-01T00:00:03.000Z",
        pages: 2,
        rows: 300,
        outcome: "Complete"
      }])
      yield* sql((sql) =>
        sql`WITH RECURSIVE n (at) AS (SELECT 8 UNION ALL SELECT at + 1 FROM n WHERE at < 20)
          INSERT INTO fleet_run SELECT 1, at, 'a', 1000 * at, 3000 * at, 2, 300, 'Complete' FROM n`
      )
      const many: { readonly turns: ReadonlyArray<{ readonly epoch: number }> } = JSON.parse(
        (yield* fleet("status 1 --json")).stdout
      )
      assert.deepStrictEqual(many.turns.map(({ epoch }) => epoch), [20, 19, 18, 17, 16, 15, 14, 13, 12, 11])
      assert.lengthOf(linesOf((yield* fleet("status 1")).stdout), 2 + 1 + 1 + 10)
      assert.deepStrictEqual([unknown.code, unknown.stdout], [2, ""])
    })
  )

  test(
    "remove --purge erases the copy in the same transaction",
    Effect.gen(function*() {
      const { fleet, sql } = yield* inFile
      yield* fleet("add 1 2")
      // A checkpoint that cannot be read does not keep a copy from being erased.
      yield* sql((sql) => sql`INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (1, 'x'), (2, 'y')`)
      const purged = yield* fleet("remove 1 --purge --yes")
      const left = yield* sql((sql) => sql<{ readonly company_id: number }>`SELECT company_id FROM time_punches_sync`)

      assert.strictEqual(purged.code, 0, purged.stderr)
      assert.strictEqual(purged.stdout, "1 company removed, with all their punches, checkpoints and histories\n")
      assert.deepStrictEqual(left.map(({ company_id }) => company_id), [2])
    })
  )

  test(
    "status shows a company also without the right to read who was removed",
    Effect.gen(function*() {
      const { fleet, sql } = yield* inFile
      yield* fleet("add 1")
      yield* sql((sql) => sql`DROP TABLE fleet_removal`)
      const [there, missing] = [yield* fleet("status 1"), yield* fleet("status 2")]

      assert.deepStrictEqual([there.code, missing.code], [0, 8], there.stderr)
    })
  )

  it.live.each(["SQLite", "PostgreSQL"] as const)(
    "status says who removed a company, and when, also after --purge and a second removal: %s",
    (kind, context) => {
      needs(context, kind === "SQLite" || hasPostgres, noPostgres)
      return Effect.gen(function*() {
        const database = kind === "SQLite" ? `${yield* temporaryFolder}/punches.db` : yield* emptyDatabase
        const run = (args: string) => cli(["fleet", ...args.split(" "), "--database", database])
        const statusOf = Effect.fnUntraced(function*(id: number) {
          const { code, stderr, stdout } = yield* run(`status ${id}`)
          const [, who, at = ""] =
            /^time-punches: not in the fleet: \d+(?:, which (\S+) removed at (\S+Z))?\n/.exec(stderr) ?? []
          return { code, stdout, who, at }
        })
        yield* cli(["sync", "--company", "1", "--database", database])
        yield* run("migrate")
        yield* run("add 1 2 3")
        const before = Date.now()
        assert.strictEqual((yield* run("remove 1 --purge --yes")).code, 0)
        assert.strictEqual((yield* run("remove 2 9")).code, 2)
        const [purged, left, never] = [yield* statusOf(1), yield* statusOf(2), yield* statusOf(9)]
        yield* run("add 2")
        const again = yield* run("status 2")
        yield* run("remove 2")
        const twice = yield* statusOf(2)
        const after = Date.now()

        for (const { at, code, stdout, who } of [purged, left, twice]) {
          assert.deepStrictEqual([code, stdout, who], [2, "", person])
          assert.isTrue(before <= Date.parse(at) && Date.parse(at) <= after, at)
        }
        assert.isBelow(Date.parse(left.at), Date.parse(twice.at))
        assert.deepStrictEqual([never.code, never.who], [2, undefined])
        assert.strictEqual(again.code, 0)
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer()))
    },
    60_000
  )

  test(
    "remove --purge erases nothing outside a terminal, and says what to type",
    Effect.gen(function*() {
      const { database, fleet, sql } = yield* inFile
      yield* fleet("add 1 2")
      yield* sql((sql) => sql`INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (1, 'x')`)
      const piped = yield* fleet("remove 1 2 --purge", { stdin: "y\n", terminal: true })
      const redirected = yield* fleet("remove 1 2 --purge")
      const alone = yield* fleet("remove 1 --yes")
      const closesToo = yield* fleet("remove 1 --closes-too")
      const listed: unknown = JSON.parse((yield* fleet("list --json")).stdout)
      const left = yield* sql((sql) => sql`SELECT 1 FROM time_punches_sync`)

      for (const { code, stderr, stdout } of [piped, redirected]) {
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.include(stderr, "company 1: 0 punches, 0 older versions, 0 closes")
        // The variable may name another database.
        assert.include(stderr, `time-punches fleet remove 1 2 --purge --yes --database '${database}'\n`)
      }
      assert.deepStrictEqual([alone.code, closesToo.code], [2, 2])
      assert.include(alone.stderr, "go with --purge")
      assert.lengthOf(Array.isArray(listed) ? listed : [], 2)
      assert.lengthOf(left, 1)
    })
  )

  it.live.each(["SQLite", "PostgreSQL"] as const)(
    "remove --purge refuses a company that has closes, and --closes-too erases them: %s",
    (kind, context) => {
      needs(context, kind === "SQLite" || hasPostgres, noPostgres)
      return Effect.gen(function*() {
        const database = kind === "SQLite" ? `${yield* temporaryFolder}/punches.db` : yield* emptyDatabase
        const run = (args: string) => cli([...args.split(" "), "--database", database])
        for (
          const args of [
            "sync --history",
            "fleet migrate",
            `fleet add ${paid} 4100`,
            "payroll close --week 2026-03-02 --zone America/New_York"
          ]
        ) {
          const { code, stderr } = yield* run(args)
          assert.strictEqual(code, 0, `${args}: ${stderr}`)
        }
        const corrected = yield* run("payroll void 1.1 --note unpaid")
        assert.strictEqual(corrected.code, 0, corrected.stderr)
        const closes = yield* run("payroll list")

        const refused = yield* run(`fleet remove --purge --yes 4100 ${paid}`)
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
        assert.include(refused.stderr, `company ${paid} has closes: 1`)
        assert.include(
          refused.stderr,
          "close 1, 2026-03-02 to 2026-03-08: 1.1 cost 240.00, tips 10.00; 1.2 void"
        )
        assert.include(refused.stderr, `company ${paid}: 2 punches, 0 older versions, 1 close`)
        assert.include(refused.stderr, "--closes-too")
        assert.deepStrictEqual(yield* run("payroll list"), closes)
        assert.lengthOf(linesOf((yield* run("fleet list")).stdout), 3)

        const unasked = yield* run(`fleet remove --purge --closes-too ${paid}`)
        assert.deepStrictEqual([unasked.code, unasked.stdout], [2, ""])
        assert.include(unasked.stderr, `fleet remove ${paid} --purge --closes-too --yes`)
        assert.deepStrictEqual(yield* run("payroll list"), closes)

        const erased = yield* run(`fleet remove --purge --closes-too --yes ${paid}`)
        assert.deepStrictEqual([erased.code, erased.stderr], [0, ""])
        assert.include((yield* run("payroll list")).stderr, "has no copy of company")
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches: paidPunches })))
    },
    60_000
  )

  it.live.each([
    { answer: "n", code: 130, left: 1 },
    { answer: "\r", code: 130, left: 1 },
    { answer: "\u0003", code: 130, left: 1 },
    { answer: "y", code: 0, left: 0 }
  ])(
    "remove --purge shows in a terminal what goes, and asks: $answer",
    ({ answer, code, left }, context) => {
      needs(context, hasScript, "script of util-linux, which opens a terminal")
      return Effect.gen(function*() {
        const { database, fleet, sql } = yield* inFile
        yield* fleet("add 1")
        yield* sql((sql) => sql`INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (1, 'x')`)
        // Standard output is a file: the question is not in it.
        const command = commandOf(["fleet", "remove", "1", "--purge", "--database", database])
        const words = [process.execPath, ...command].map((word) => `'${word}'`).join(" ")
        const ended = yield* Effect.callback<{ readonly text: string; readonly code: number | null }>((resume) => {
          const child = ChildProcess.spawn("script", ["-qec", `${words} > '${database}.out'`, "/dev/null"], {
            env: { ...environmentOf("http://127.0.0.1:9"), TERM: "xterm" },
            stdio: ["pipe", "pipe", "ignore"]
          })
          let text = ""
          let isAnswered = false
          child.stdout.setEncoding("utf8").on("data", (part: string) => {
            text += part
            if (isAnswered || !text.includes("(y/N)")) return
            isAnswered = true
            child.stdin.write(answer)
          })
          child.on("close", (code) => resume(Effect.succeed({ text, code })))
          return Effect.sync(() => child.kill("SIGHUP"))
        })

        assert.strictEqual(ended.code, code, ended.text)
        assert.include(ended.text, "company 1: 0 punches, 0 older versions, 0 closes")
        assert.lengthOf(yield* sql((sql) => sql`SELECT 1 FROM time_punches_sync`), left)
        assert.lengthOf(yield* sql((sql) => sql`SELECT 1 FROM fleet_company`), left)
        assert.strictEqual(
          Fs.readFileSync(`${database}.out`, "utf8"),
          left === 1 ? "" : "1 company removed, with all their punches, checkpoints and histories\n"
        )
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer()))
    },
    60_000
  )

  test(
    "remove --purge waits for a process that writes the file",
    Effect.gen(function*() {
      const { database, fleet } = yield* inFile
      yield* fleet("add 1 2")
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(database)),
        (other) => Effect.sync(() => other.close())
      )
      other.exec("BEGIN IMMEDIATE")
      const purging = yield* Effect.forkChild(fleet("remove 1 --purge --yes"))
      yield* Effect.sleep("700 millis")
      other.exec("COMMIT")
      const purged = yield* Fiber.join(purging)

      assert.deepStrictEqual([purged.code, purged.stderr], [0, ""])
    })
  )

  test(
    "ends with 7 over older tables, with 8 without the file, and names what to do",
    Effect.gen(function*() {
      const { fleet, sql } = yield* inFile
      const missing = yield* fleet("list")
      yield* sql((sql) => sql`CREATE TABLE other (id INTEGER)`)
      const older = yield* fleet("list")
      const migrated = yield* fleet("migrate")
      const listed = yield* fleet("list")

      assert.deepStrictEqual([missing.code, older.code, migrated.code, listed.code], [8, 7, 0, 0])
      assert.lengthOf(older.stderr.match(/fleet migrate/g) ?? [], 1)
    })
  )

  test(
    "run needs an OAuth client, and names the variable that it cannot use",
    Effect.gen(function*() {
      const { fleet } = yield* inFile
      const none = yield* fleet("run", { env: without("TIME_PUNCHES_CLIENT_ID", "TIME_PUNCHES_CLIENT_SECRET") })
      const token = yield* fleet("run", {
        env: { ...without("TIME_PUNCHES_CLIENT_ID"), TIME_PUNCHES_ACCESS_TOKEN: "a-token" }
      })
      const days = yield* fleet("run --keep-history 3d")
      const name = yield* fleet("run --name a")

      assert.deepStrictEqual([none, token, days, name].map(({ code }) => code), [3, 3, 2, 2])
      assert.include(none.stderr, "TIME_PUNCHES_CLIENT_ID")
      assert.include(token.stderr, "TIME_PUNCHES_ACCESS_TOKEN")
    })
  )

  it.live.each(
    [
      [[], 8],
      [["--credentials", "per-company"], null],
      [["--credentials", "per-company", "--requests-per-second", "3"], 3]
    ] as const
  )("run %j has this limit of requests for all processes: %s", ([flags, limit]) =>
    Effect.gen(function*() {
      const { database, sql } = yield* inFile
      const { TIME_PUNCHES_REQUESTS_PER_SECOND: _, ...env } = environmentOf("http://127.0.0.1:9")
      const { child } = yield* Effect.acquireRelease(
        Effect.sync(() => start(["fleet", "run", "--database", database, ...flags], env)),
        ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
      )
      yield* Effect.callback<void>((resume) => {
        child.stderr.on("data", (text: string) => {
          if (text.includes("the fleet runs")) resume(Effect.void)
        })
      })
      const noted = sql((sql) => sql<{ settings: string }>`SELECT settings FROM fleet_runner`).pipe(
        Effect.repeat({ until: ([row]) => row !== undefined, schedule: Schedule.spaced("100 millis") })
      )
      const [row] = yield* noted
      assert.deepInclude(JSON.parse(row?.settings ?? ""), { requestsPerSecond: limit })
    }), 60_000)

  it.live.each(["lines", "json"] as const)(
    "run --log-format %s writes a line at the start and one at the end, and ends with 0",
    (format) =>
      Effect.gen(function*() {
        const { database } = yield* inFile
        const args = ["fleet", "run", "--database", database, "--log-format", format]
        const { child, ended } = yield* Effect.acquireRelease(
          // Nothing is listed: the fleet has no company.
          Effect.sync(() => start(args, environmentOf("http://127.0.0.1:9"))),
          ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
        )
        child.stderr.on("data", (text: string) => {
          if (text.includes("the fleet runs")) child.kill("SIGTERM")
        })
        const { code, stderr, stdout } = yield* Effect.promise(() => ended)
        const messages = linesOf(stderr).map((line) => {
          if (format === "lines") return line
          const entry: { readonly message: string; readonly level: string } = JSON.parse(line)
          assert.strictEqual(entry.level, "INFO")
          return entry.message
        })

        assert.deepStrictEqual([code, stdout], [0, ""], stderr)
        assert.lengthOf(messages, 2)
        if (format === "lines") assert.throws(() => JSON.parse(messages[0] ?? ""))
        assert.include(messages[0], `the fleet runs: ${database}, 0 companies`)
        assert.include(messages[1], "the fleet ends")
      }),
    60_000
  )
})
