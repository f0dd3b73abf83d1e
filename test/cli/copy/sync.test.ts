import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { vi } from "vitest"
import { Patience } from "../../../src/internal/sql/transaction.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { letTimePass } from "../../support/time.ts"
import {
  cli,
  type Environment,
  environment,
  execute,
  inCopyOf,
  linesOf,
  queries,
  temporaryFolder,
  without
} from "../support.ts"

const punches = generatePunches({ seed: 6, count: 450, companyId: defaultCompany.id })

const deleted = punches.filter((punch) => punch.deleted === true).length

const withCopy = inCopyOf(punches)

const sync = (file: string, ...args: ReadonlyArray<string>) => cli(["sync", "--database", file, ...args])

const status = (file: string, ...args: ReadonlyArray<string>) => cli(["copy", "status", "--database", file, ...args])

const ids = punches.map(({ id }) => id)

const rowsIn = (file: string, table = "time_punches") => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]
  } finally {
    database.close()
  }
}

/** A run that repeats, and time that passes until it shows a text so many times. */
const repeating = Effect.fnUntraced(function*(database: string, ...args: ReadonlyArray<string>) {
  const screen: Array<string> = []
  const stderr: Array<string> = []
  const flags = args.length > 0 ? args : ["--every", "15m"]
  const running = yield* Effect.forkChild(cli(["sync", "--database", database, ...flags], { screen, stderr }))
  const shows = Effect.fnUntraced(function*(text: RegExp | string, count = 1) {
    while (screen.join("").split(text).length <= count) {
      yield* TestClock.adjust("1 second")
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
    }
  })
  return { running, shows, stderr }
})

describe("time-punches sync", () => {
  it.effect("loads everything, then what has changed", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const first = yield* sync(file)
      const service = yield* FakeService
      yield* TestClock.adjust("1 hour")
      yield* service.edit(ids.slice(0, 3), { notes: "corrected" })
      yield* service.add(generatePunches({ seed: 7, count: 1, companyId: defaultCompany.id, firstId: 900_000 }))
      const second = yield* sync(file)

      assert.deepStrictEqual([first.code, second.code], [0, 0])
      assert.match(first.stdout, /^first load: 450 punches, 3 pages, 450 written, 0 unchanged, watermark 2026-07-01T/)
      assert.match(second.stdout, /^increment: 4 punches, 1 page, 4 written, 0 unchanged, watermark 2026-07-01T13/)
    })))

  it.effect("reads the checkpoint for the age of the copy only if a variable names a collector", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const { all } = StatementSync.prototype
      const readsOf = (env: Environment) => {
        let reads = 0
        const read = vi.spyOn(StatementSync.prototype, "all").mockImplementation(
          function(this: StatementSync, ...parameters: ReadonlyArray<unknown>) {
            if (this.sourceSQL.startsWith("SELECT checkpoint")) reads++
            return Reflect.apply(all, this, parameters)
          }
        )
        return cli(["sync", "--database", file], { env }).pipe(
          Effect.map(({ code }) => ({ code, reads })),
          Effect.ensuring(Effect.sync(() => read.mockRestore()))
        )
      }
      yield* sync(file)
      const [none, one] = [
        yield* readsOf(environment),
        yield* readsOf({ ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" })
      ]

      assert.isAbove(none.reads, 0)
      assert.deepStrictEqual([none.code, one], [0, { code: 0, reads: none.reads + 1 }])
    })))

  it.effect("leaves the checkpoint of a newer release as it is, and advises neither to reset nor to load again", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      for (
        const newer of [`replace(checkpoint, '"v":1', '"v":1,"later":"x"')`, `replace(checkpoint, '"v":1', '"v":2')`]
      ) {
        execute(file, `UPDATE time_punches_sync SET checkpoint = ${newer}`)
        const asked = (yield* queries).length
        const ends = [yield* sync(file), yield* status(file)]
        assert.lengthOf(yield* queries, asked)
        ends.push(yield* cli(["doctor", "--database", file]))

        assert.deepStrictEqual(ends.map(({ code }) => code), [7, 7, 7])
        for (const { stderr, stdout } of ends) {
          assert.include(stdout + stderr, "it was written by a newer release")
          assert.include(stdout + stderr, "Use that release.")
          assert.notMatch((stdout + stderr).replace("deleted=null", ""), /edited|NULL|again|restore/i)
        }
      }
    })))

  it.effect("prints each pass as one JSON object, with what the history no longer has", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const first = yield* sync(file, "--json")
      yield* TestClock.adjust("1 hour")
      const second = yield* sync(file, "--json", "--history", "--keep-history", "30d")
      const [one, other, ...more] = linesOf(first.stdout + second.stdout).map((line) => JSON.parse(line))

      assert.deepStrictEqual([first.code, second.code, more], [0, 0, []])
      assert.deepStrictEqual({ ...one, watermark: one.watermark.slice(0, 11) }, {
        company: defaultCompany.id,
        kind: "first",
        resumed: false,
        complete: true,
        punches: 450,
        pages: 3,
        written: 450,
        unchanged: 0,
        missing: 0,
        restarts: 0,
        latenessSeconds: null,
        watermark: "2026-07-01T",
        removed: null
      })
      assert.deepStrictEqual([other.kind, other.removed], ["increment", 0])
    })))

  it.effect("[S12] creates a copy that its owner alone can read", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)

      assert.strictEqual((Fs.statSync(file).mode & 0o777).toString(8), "600")
    })))

  it.live("gives up when its patience ends if another process has locked the file", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      yield* sync(file)
      const other = new DatabaseSync(file)
      other.exec("BEGIN IMMEDIATE")
      const [took, locked] = yield* Effect.timed(sync(file)).pipe(
        Effect.provideService(Patience, Duration.millis(800))
      )
      other.close()

      assert.strictEqual(locked.code, 8)
      assert.match(locked.stderr, /database is locked/)
      assert.isAbove(Duration.toSeconds(took), 0.7)
      assert.isBelow(Duration.toSeconds(took), 4.5)
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches }))))

  it.effect("shows the fields that it does not know, without their values", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      // The second page.
      yield* service.inject(Fault.badRow(1, { kiosk: "secret" }), { requests: 2 })
      yield* service.inject(Fault.badRow(3, { overtime_kind: "secret", "\u001b[2J": 5 }))
      yield* sync(file)
      const table = yield* status(file)
      const json = yield* status(file, "--json")
      const doctor = yield* cli(["doctor", "--database", file])
      yield* service.clearFaults
      const later = yield* cli(["doctor", "--database", file])
      yield* TestClock.adjust("1 hour")
      yield* sync(file)
      const kept = yield* status(file, "--json")

      const paths = ["data[].overtime_kind", "data[].\\u001b[2J", "data[].kiosk"]
      assert.include(table.stdout, `\nfields that this release does not know: ${paths.join(", ")}\n`)
      assert.deepStrictEqual(JSON.parse(json.stdout).unknown, paths)
      assert.deepStrictEqual(JSON.parse(kept.stdout).unknown, paths)
      assert.include(
        doctor.stdout,
        `warn  unknown fields                      this release does not know 2: ${paths[0]}`
      )
      assert.include(doctor.stdout, `warn  copy: unknown fields`)
      assert.notInclude(later.stdout, "warn  unknown fields")
      assert.include(later.stdout, "warn  copy: unknown fields")
      assert.notInclude([table, json, doctor, later].map(({ stdout }) => stdout).join(""), "secret")
    })))

  it.effect("says how old the copy is, without a request", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      yield* TestClock.adjust("125 minutes")
      const requests = (yield* queries).length
      const table = yield* cli(["copy", "status", "--database", file], {
        env: without("TIME_PUNCHES_BASE_URL", "TIME_PUNCHES_CLIENT_ID")
      })
      const json = yield* status(file, "--json")

      assert.deepStrictEqual(linesOf(table.stdout), [
        "company  watermark                   age  rows  deleted  missing  running  history since",
        `4021     2026-07-01T12:00:00.000Z  2h 5m   450       ${deleted}        0  -        none`
      ])
      assert.deepStrictEqual(JSON.parse(json.stdout), {
        company: defaultCompany.id,
        watermark: "2026-07-01T12:00:00.000Z",
        completedAt: "2026-07-01T12:00:00.000Z",
        ageSeconds: 7500,
        rows: 450,
        deleted,
        missing: 0,
        running: null,
        history: null,
        lastError: null,
        deletions: { requestedWith: "deleted=null", lookedAt: "2026-07-01T12:00:00.000Z", missed: null },
        version: { oldest: "2026-06-01", asked: "2026-06-01" },
        unknown: []
      })
      assert.strictEqual((yield* queries).length, requests)
    })))

  it.effect("resumes a pass that failed, and adds a pass of today", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      yield* service.inject(Fault.status(403), { requests: [3] })
      const failed = yield* sync(file)
      const between = yield* status(file, "--json")
      const resumed = yield* sync(file)
      const after = yield* status(file, "--json")

      assert.deepStrictEqual([failed.code, resumed.code], [5, 0])
      assert.deepInclude(JSON.parse(between.stdout), { rows: 400, running: "first", ageSeconds: null })
      assert.deepInclude(JSON.parse(between.stdout).lastError, { tag: "Forbidden", at: "2026-07-01T12:00:00.000Z" })
      assert.match(linesOf(resumed.stdout)[0] ?? "", /^first load, resumed: 50 punches/)
      assert.match(linesOf(resumed.stdout)[1] ?? "", /^increment: /)
      assert.deepInclude(JSON.parse(after.stdout), { rows: 450, running: null, lastError: null })
    })))

  it.effect("adds a pass of today to a sweep that it resumes", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const service = yield* FakeService
      yield* service.edit(ids.slice(0, 250), { notes: "two pages of the confirm" })
      yield* service.inject(Fault.status(403), { requests: [10] })
      const failed = yield* sync(file, "--sweep", "all")
      yield* TestClock.adjust("1 hour")
      yield* service.edit(ids.slice(0, 1), { notes: "after the horizon of the confirm" })
      const resumed = yield* sync(file, "--sweep", "all")

      assert.deepStrictEqual([failed.code, resumed.code], [5, 0])
      assert.match(linesOf(resumed.stdout)[0] ?? "", /^sweep, resumed: /)
      assert.match(linesOf(resumed.stdout)[1] ?? "", /^increment: .* 1 written, .* watermark 2026-07-01T13/)
    })))

  /** A second at each turn of the loop. */
  const passing = Effect.forever(
    Effect.andThen(TestClock.adjust("1 second"), Effect.promise(() => new Promise(setImmediate)))
  )

  it.effect("stops after --stop-after at a page, ends with 0, and the same command continues there", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      yield* service.inject(Fault.slow("2 seconds"))
      const ran: Array<string> = []
      for (const _ of [1, 2, 3]) {
        const { code, stdout } = yield* Effect.raceFirst(sync(file, "--stop-after", "1s"), passing)
        ran.push(`${code} ${linesOf(stdout).map((line) => line.split(" written")[0]).join("; ")}`)
      }

      assert.deepStrictEqual(ran, [
        "0 first load, not complete: 200 punches, 1 page, 200",
        "0 first load, resumed, not complete: 200 punches, 1 page, 200",
        "0 first load, resumed: 50 punches, 1 page, 50; increment: 0 punches, 1 page, 0"
      ])
      assert.strictEqual(rowsIn(file), 450)
    })))

  it.effect("prints nothing with --quiet, except JSON that is requested, and what failed", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const runs = [yield* sync(file, "--quiet"), yield* sync(file, "--quiet"), yield* sync(file, "--quiet", "--json")]
      const together = yield* sync(file, "--stop-after", "1s", "--every", "1m")
      const service = yield* FakeService
      yield* service.inject(Fault.status(403))
      const failed = yield* sync(file, "--quiet")

      assert.deepStrictEqual(runs.map(({ stderr }) => stderr), ["", "", ""])
      assert.deepStrictEqual(runs.slice(0, 2).map(({ stdout }) => stdout), ["", ""])
      assert.strictEqual(JSON.parse(runs[2]?.stdout ?? "").complete, true)
      assert.strictEqual(together.code, 2)
      assert.include(together.stderr, "--stop-after and --every exclude each other")
      assert.strictEqual(failed.code, 5)
      assert.include(failed.stderr, "403")
    })))

  it.effect("marks what a sweep does not see, but not too much of it unasked", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const service = yield* FakeService
      yield* service.remove(ids.slice(0, 5))
      const few = yield* sync(file, "--sweep", "all")
      yield* service.remove(ids.slice(5, 300))
      const many = yield* sync(file, "--sweep", "all")
      const accepted = yield* sync(file, "--sweep", "all", "--allow-missing")

      assert.match(few.stdout, /^sweep: 445 punches, 4 pages, 0 written, 445 unchanged, 5 missing, /)
      assert.strictEqual(many.code, 7)
      assert.include(many.stderr, "the sweep did not see 295 of 445 rows of its window")
      assert.include(many.stderr, "--allow-missing")
      assert.include(accepted.stdout, "295 missing")
    })))

  it.effect("reads passes and sweeps in the order of ids with --sort-by-id, and in no order without", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      // Without the look for deleted punches.
      const passes = Effect.map(
        queries,
        (all) => all.filter((query) => query["limit"] === "200" && !("clocked_in[gte]" in query))
      )
      yield* sync(file, "--sort-by-id")
      yield* sync(file, "--sort-by-id", "--sweep", "all")
      const sorted = (yield* passes).length
      yield* sync(file)
      const orders = (yield* passes).map((query) => query["sort_by"])

      assert.deepStrictEqual(new Set(orders.slice(0, sorted)), new Set(["id.asc"]))
      assert.deepStrictEqual(orders.slice(sorted), [undefined])
    })))

  it.effect("sweeps only the window that it is given", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const requests = (yield* queries).length
      const { stdout } = yield* sync(file, "--sweep", "5d")
      const [swept = {}] = (yield* queries).slice(requests)

      assert.strictEqual(swept["clocked_in[gte]"], "2026-06-26T11:59:59Z")
      assert.notProperty(swept, "clocked_in[lte]")
      assert.match(stdout, /^sweep: /)
    })))

  it.effect("repeats, prints what may pass, and ends with what cannot", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      const { running, shows } = yield* repeating(file)
      yield* shows("first load: ")
      yield* TestClock.adjust("15 minutes")
      yield* shows("increment: ")
      yield* service.inject(Fault.status(503))
      yield* TestClock.adjust("15 minutes")
      yield* shows("503 ")
      yield* service.clearFaults
      yield* TestClock.adjust("15 minutes")
      yield* shows("increment: ", 2)
      yield* service.inject(Fault.status(403))
      yield* TestClock.adjust("15 minutes")
      yield* shows("403 ")
      const { code, stdout } = yield* Fiber.join(running)

      assert.strictEqual(code, 5)
      assert.lengthOf(linesOf(stdout), 3)
    })))

  it.effect("sends nothing before the wait that the service asks for is over", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      yield* service.inject(Fault.retryAfter("3600", 503), { times: 1 })
      const { running, shows } = yield* repeating(file)
      yield* shows(/503 .*retry after 1h/)
      const sent = (yield* queries).length
      for (let quarter = 0; quarter < 3; quarter++) {
        yield* TestClock.adjust("15 minutes")
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
        assert.strictEqual((yield* queries).length, sent, "a request before the hour is over")
      }
      yield* TestClock.adjust("15 minutes")
      yield* shows("first load: ")
      yield* Fiber.interrupt(running)
    })))

  it.effect("waits for a database that is locked or away when it starts, and says so", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const away = yield* repeating("postgres://postgres@127.0.0.1:1/x")
      yield* away.shows("sync waits for its database: the database failed: connect ECONNREFUSED")
      yield* Fiber.interrupt(away.running)

      const writer = new DatabaseSync(file)
      writer.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
      const locked = yield* repeating(file)
      yield* locked.shows("sync waits for its database")
      writer.close()
      yield* locked.shows("first load: ")
      yield* Fiber.interrupt(locked.running)

      // To open a file that is not in WAL mode needs the file for itself.
      const other = `${yield* temporaryFolder}/other.db`
      const owner = new DatabaseSync(other)
      owner.exec("CREATE TABLE t (a); BEGIN EXCLUSIVE")
      const unopened = yield* repeating(other)
      yield* unopened.shows(`sync waits for its database: the database failed: ${other}: database is locked`)
      owner.close()
      yield* unopened.shows("first load: ")
      yield* Fiber.interrupt(unopened.running)

      const { code } = yield* sync(`${file}/folder/punches.db`, "--every", "15m")
      assert.strictEqual(code, 8)
    })))

  it.effect("stops repeating once another file has the name of its copy", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const { running, shows } = yield* repeating(file)
      yield* shows("first load: ")
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      Fs.writeFileSync(`${file}.backup`, "")
      Fs.renameSync(`${file}.backup`, file)
      const { code, stderr } = yield* letTimePass(Fiber.join(running))

      assert.strictEqual(code, 8)
      assert.include(stderr, "another file is now named")
      assert.include(stderr, "end every process that has it open")
    })))

  it.effect("says what is stored when a pass is interrupted, and continues there", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      yield* service.inject(Fault.stallBeforeHeaders, { requests: 3 })
      const stderr: Array<string> = []
      const running = yield* Effect.forkChild(cli(["sync", "--database", file], { stderr }))
      yield* Effect.promise(() => vi.waitFor(() => assert.strictEqual(rowsIn(file), 400), { timeout: 60_000 }))
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      yield* Fiber.interrupt(running)
      yield* service.clearFaults
      const resumed = yield* sync(file)

      assert.deepStrictEqual(stderr, [
        "interrupted: 400 punches, 2 pages stored; the same command continues there\n"
      ])
      assert.match(resumed.stdout, /^first load, resumed: 50 punches, 1 page, /)
    })))

  it.effect("says that no pass was running if it is interrupted between two", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const { running, shows, stderr } = yield* repeating(file)
      yield* shows("first load: ")
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      yield* Fiber.interrupt(running)

      assert.deepStrictEqual(stderr, ["interrupted: no sync run was in progress\n"])
    })))

  it.effect("sends nothing where the checkpoint cannot be read, and says so", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const requests = (yield* queries).length
      execute(file, "UPDATE time_punches_sync SET checkpoint = '{\"v\":0}'")
      const { code, stderr } = yield* sync(file)

      assert.strictEqual(code, 3)
      assert.include(stderr, "it has version 0; this release reads version 1")
      assert.strictEqual((yield* queries).length, requests)
    })))

  it.effect.each<readonly [ReadonlyArray<string>, number, string]>([
    [["sync"], 2, "give --database FILE or set TIME_PUNCHES_DATABASE_URL"],
    [["sync", "--database", "mysql://localhost/a"], 2, "must be the name of a file, or a URL of PostgreSQL"],
    [["sync", "--database", "a.db", "--every", "0s"], 2, "a time from 1s to 366d, such as 15m"],
    [["sync", "--database", "a.db", "--sweep", "everything"], 2, "a time from 1s to 366d, such as 35d, or all"],
    [["sync", "--database", "a.db", "--keep-history", "30d"], 2, "--keep-history goes with --history"],
    [
      ["sync", "--database", "a.db", "--history", "--keep-history", "0d"],
      2,
      "a number of days from 1d to 36525d, such as 400d"
    ],
    [
      ["sync", "--database", "a.db", "--history", "--keep-history", "30"],
      2,
      "a number of days from 1d to 36525d, such as 400d"
    ],
    [["sync", "--database", "a.db", "--company", "4021 4022"], 2, "the id of a company"],
    [["sync", "--database", "/nowhere/a.db"], 8, "the database failed"]
  ])("ends %j with %d", ([args, code, text]) =>
    Effect.gen(function*() {
      const ran = yield* cli(args)

      assert.strictEqual(ran.code, code, ran.stderr)
      assert.include(ran.stderr, text)
      assert.deepStrictEqual(yield* queries, [])
    }).pipe(Effect.provide(FakeService.layer())))

  it.live("says why a server cannot be reached", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["sync", "--database", "postgres://me@127.0.0.1:1/a"]).pipe(
        Effect.provideService(Patience, Duration.millis(100))
      )

      assert.strictEqual(code, 8)
      assert.match(stderr, /^time-punches: the database failed: connect ECONNREFUSED 127\.0\.0\.1:1\n/)
    }).pipe(Effect.provide(FakeService.layer())))

  it.live("reads the database from the environment, without a word of its password", () =>
    Effect.gen(function*() {
      const env = { ...environment, TIME_PUNCHES_DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/a" }
      const { code, stderr, stdout } = yield* cli(["copy", "status"], { env }).pipe(
        Effect.provideService(Patience, Duration.millis(100))
      )

      assert.strictEqual(code, 8)
      assert.notInclude(stderr + stdout, "hunter2")
    }).pipe(Effect.provide(FakeService.layer())))
})

describe("time-punches sync --history", () => {
  const historyOf = (file: string) =>
    Effect.map(
      status(file, "--json"),
      ({ stdout }): { since: string; last: string } | null => JSON.parse(stdout).history
    )

  /** The number of versions that are kept. */
  const versions = (file: string) => rowsIn(file, "time_punches_history")

  it.effect("begins a history, to which a pass without the flag adds, and which the status names", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const none = yield* historyOf(file)
      yield* sync(file, "--history")
      const begun = yield* historyOf(file)
      const service = yield* FakeService
      yield* service.edit(ids.slice(0, 3), { notes: "corrected" })
      yield* sync(file)
      const later = yield* historyOf(file)
      const table = yield* status(file)

      assert.isNull(none)
      assert.isTrue(begun !== null && later !== null && begun.since === later.since && begun.last < later.last)
      assert.include(linesOf(table.stdout)[1], `-        ${begun?.since}`)
      assert.strictEqual(versions(file), 3)
    })))

  it.effect("removes what --keep-history no longer keeps, after each pass, and says how much", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      // The clock of the database is that of this machine, whatever the service says.
      yield* TestClock.setTime(Date.now())
      yield* sync(file, "--history")
      const begun = yield* historyOf(file)
      yield* service.edit(ids.slice(0, 3), { notes: "corrected" })
      const kept = yield* sync(file, "--history", "--keep-history", "2d")
      const keptVersions = versions(file)
      yield* TestClock.adjust("3 days")
      yield* service.edit(ids.slice(0, 1), { notes: "late" })
      const without = yield* sync(file, "--history")
      const stays = versions(file)
      const pruned = yield* sync(file, "--history", "--keep-history", "2d", "--sweep", "all")
      const after = yield* historyOf(file)

      assert.deepStrictEqual([keptVersions, stays, versions(file)], [3, 4, 0])
      assert.notInclude(kept.stdout + without.stdout, "removed")
      assert.strictEqual(linesOf(pruned.stdout)[1], "history: 4 versions removed, replaced more than 2 days ago")
      assert.isTrue(begun !== null && after !== null && begun.since < after.since && after.since <= after.last)
    })))

  it.effect("repeats, and removes after each pass", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const service = yield* FakeService
      yield* TestClock.setTime(Date.now())
      const { running, shows } = yield* repeating(file, "--history", "--keep-history", "1d", "--every", "12h")
      yield* shows("first load: ")
      yield* service.edit(ids.slice(0, 3), { notes: "corrected" })
      yield* TestClock.adjust("12 hours")
      yield* shows("increment: ")
      const between = versions(file)
      yield* TestClock.adjust("12 hours")
      yield* shows("increment: ", 2)
      yield* TestClock.adjust("12 hours")
      yield* shows("history: 3 versions removed, replaced more than 1 day ago")
      yield* Fiber.interrupt(running)

      assert.deepStrictEqual([between, versions(file)], [3, 0])
    })))
})

describe("time-punches doctor --database", () => {
  const doctor = (file: string, ...args: ReadonlyArray<string>) =>
    Effect.map(cli(["doctor", "--database", file, ...args]), ({ code, stdout }) => ({
      code,
      copy: linesOf(stdout).filter((line) => line.includes("copy: ")).map((line) => line.replace(/ {2,}/g, "  ")),
      advice: linesOf(stdout).at(-1)
    }))

  it.effect("finds a copy equal, by a sample and row for row", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const sample = yield* doctor(file)
      const full = yield* doctor(file, "--full")

      assert.strictEqual(sample.code, 0)
      assert.deepStrictEqual(sample.copy, [
        "ok  copy: age  450 rows, the last sync run ended 0s ago",
        "ok  copy: rows  20 rows read, all are punches",
        "ok  copy: service  20 punches compared, all are equal"
      ])
      assert.include(full.copy[2], "450 punches compared, all are equal")
    })))

  it.effect.each([
    ["a row that was changed", "UPDATE time_punches SET notes = 'x' WHERE id = ID", "is not equal"],
    ["a row that was removed", "DELETE FROM time_punches WHERE id = ID", "is not in the copy"],
    ["a row that is marked as missing", "UPDATE time_punches SET missing_at = 1 WHERE id = ID", "is marked as missing"],
    ["a row that the service does not have", "", "is not shown by the service"]
  ])("finds %s", ([what = "", statement = "", how = ""]) =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      yield* TestClock.adjust("1 hour")
      const service = yield* FakeService
      if (what.startsWith("a row that the service")) yield* service.remove([ids[9] ?? 0])
      else execute(file, statement.replace("ID", `${ids[9]}`))
      const { advice, code, copy } = yield* doctor(file, "--full")

      assert.strictEqual(code, 7)
      assert.include(copy[2], `FAIL  copy: service  1 of`)
      assert.include(copy[2], `${ids[9]} ${how}`)
      assert.include(advice, "--sweep all")
    })))

  it.effect("excuses what the next pass brings", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      yield* TestClock.adjust("1 minute")
      yield* (yield* FakeService).edit(ids.slice(0, 40), { notes: "corrected" })
      const { code, copy } = yield* doctor(file, "--full")

      assert.strictEqual(code, 0)
      assert.include(copy[2], "warn  copy: service  40 punches not yet synced")
    })))

  it.effect("names a row that is no punch, and a copy that is not there", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      const none = yield* doctor(file)
      yield* sync(file)
      execute(file, `UPDATE time_punches SET hourly_wage = -5 WHERE id = ${ids[3]}`)
      const wrong = yield* doctor(file, "--full")

      assert.strictEqual(none.code, 8)
      assert.include(wrong.copy.join("\n"), `FAIL  copy: rows  row ${ids[3]} is not a valid punch at hourly_wage`)
    })))

  it.effect("keeps --full for a copy", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["doctor", "--full"])

      assert.deepStrictEqual([code, stderr.includes("--full goes with --database")], [2, true])
    }).pipe(Effect.provide(FakeService.layer())))
})
