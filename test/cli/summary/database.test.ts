/** `time-punches summary --database`: the sums of a copy are those of the service, byte for byte, and never of a part. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Schema, Tracer } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import type { PunchFilter } from "../../../src/index.ts"
import { prng } from "../../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches, type StoredPunch } from "../../../src/testing/index.ts"
import { randomFilter } from "../../support/listing.ts"
import { needs } from "../../support/needs.ts"
import { emptyDatabase, hasPostgres, noPostgres } from "../../support/postgres.ts"
import { writeZones } from "../payroll/checkSupport.ts"
import { cli, execute, inCopyOf, inFakeOf, linesOf, queries, temporaryFolder, without } from "../support.ts"

const generated = (seed: number, count: number) =>
  generatePunches({ seed, count, companyId: defaultCompany.id, deletedShare: 0.2, openShare: 0.1, users: 8 })

const punches = generated(6, 450)

const withCopy = inCopyOf(punches)

const sync = (file: string, ...args: ReadonlyArray<string>) => cli(["sync", "--database", file, ...args])

/** The limits that a copy takes in whole seconds only. */
const wholeSeconds = ["clocked-in-lte", "clocked-out-lte", "modified-since"]

/** A filter that a copy knows, as flags. */
const flagsOf = ({ clockedIn, clockedOut, ...filter }: PunchFilter): ReadonlyArray<string> =>
  Object.entries({
    "location-id": filter.locationId,
    "department-id": filter.departmentId,
    "role-id": filter.roleId,
    "user-id": filter.userId,
    approved: filter.approved,
    deleted: filter.deleted,
    "modified-since": filter.modifiedSince,
    "clocked-in-gte": clockedIn?.gte,
    "clocked-in-lte": clockedIn?.lte,
    "clocked-in-lt": clockedIn?.lt,
    "clocked-out-gte": clockedOut?.gte,
    "clocked-out-lte": clockedOut?.lte,
    "clocked-out-lt": clockedOut?.lt
  }).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`--${name}`, typeof value === "object" ? instantOf(name, value.epochMilliseconds) : `${value}`]
  )

/** Rounded up: rounded down, an upper limit could be before the lower one, which a command refuses. */
const instantOf = (name: string, epochMillis: number): string =>
  new Date(wholeSeconds.includes(name) ? Math.ceil(epochMillis / 1000) * 1000 : epochMillis).toISOString()

const groupings = ["location", "user", "role", "department", "day"] as const

/** Runs the same command on the service and on a copy, and compares what they print. */
const assertSame = Effect.fnUntraced(function*(database: string, args: ReadonlyArray<string>) {
  const served = yield* cli(["summary", ...args])
  const copied = yield* cli(["summary", ...args, "--database", database])
  const notes = linesOf(copied.stderr).filter((line) => !line.startsWith("copy in "))

  assert.deepStrictEqual([copied.code, copied.stdout], [served.code, served.stdout], args.join(" "))
  assert.deepStrictEqual(notes, linesOf(served.stderr))
  assert.lengthOf(linesOf(copied.stderr), notes.length + 1)
  assert.strictEqual(served.code, 0)
})

/** Arguments of a summary, from a seed; `zones` is a file of the zones of all locations. */
const argumentsOf = (random: ReturnType<typeof prng>, served: ReadonlyArray<StoredPunch>, zones: string) => [
  ...random.pick([
    flagsOf(randomFilter(random, served)),
    ["--by", random.pick(groupings), ...flagsOf(randomFilter(random, served))],
    ["--by", random.pick(groupings), "--zone", "America/New_York", "--as-of", "2026-04-20T00:00:00Z"],
    [
      "--by",
      "user",
      "--week",
      "2026-03-11",
      "--zone-file",
      zones,
      "--weekly-threshold",
      "40h",
      "--daily-threshold",
      "8h"
    ]
  ]),
  "--format",
  random.pick(["table", "csv", "json"])
]

/** A file of the zones of all generated locations. */
const zoneFile = Effect.map(temporaryFolder, (folder) => {
  const places = ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "America/Los_Angeles", "UTC", "Pacific/Honolulu"]
  return writeZones(folder, places.map((zone, at) => [`${301 + at}`, zone]))
})

describe("time-punches summary --database", () => {
  it.effect.prop(
    "prints what it prints of the service, in every form",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))],
    ([seed]) => {
      const random = prng(seed)
      const served = generated(seed, random.pick([1, 30, 300]))
      return inCopyOf(served)(Effect.fnUntraced(function*(file) {
        yield* sync(file)
        const zones = yield* zoneFile
        for (let each = 0; each < 5; each++) yield* assertSame(file, argumentsOf(random, served, zones))
      }))
    },
    { arbitrary: { runs: 8 } }
  )

  it.live("prints it of a copy in PostgreSQL too", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inFakeOf(punches)(Effect.gen(function*() {
      const random = prng(3)
      const url = yield* emptyDatabase
      assert.strictEqual((yield* sync(url)).code, 0)
      const zones = yield* zoneFile
      for (let each = 0; each < 5; each++) yield* assertSame(url, argumentsOf(random, punches, zones))
    }))
  })

  it.effect("opens the copy once: one check of its schema, one connection beside that of its snapshot", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      const texts: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          const attribute = span.attribute.bind(span)
          span.attribute = (key, value) => {
            if (key === "db.query.text") texts.push(String(value))
            attribute(key, value)
          }
          return span
        }
      })
      const closed = vi.spyOn(DatabaseSync.prototype, "close")
      const { code } = yield* Effect.withTracer(cli(["summary", "--json", "--database", file]), tracer)
      const connections = closed.mock.calls.length
      closed.mockRestore()

      assert.strictEqual(code, 0)
      assert.strictEqual(connections, 2)
      assert.lengthOf(texts.filter((text) => text.includes("max(migration_id)")), 1)
      assert.lengthOf(texts.filter((text) => text.includes("sqlite_master")), 1)
      assert.lengthOf(texts.filter((text) => text.includes("ORDER BY t.clocked_in")), 1)
    })))

  it.effect("needs no credential, sends nothing, writes nothing, and says how old the copy is", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      yield* TestClock.adjust("125 minutes")
      const requests = (yield* queries).length
      const before = Fs.readFileSync(file)
      const { code, stderr, stdout } = yield* cli(["summary", "--json", "--database", file], {
        env: without("TIME_PUNCHES_BASE_URL", "TIME_PUNCHES_CLIENT_ID", "TIME_PUNCHES_CLIENT_SECRET")
      })

      assert.strictEqual(code, 0)
      assert.isAbove(JSON.parse(stdout).length, 0)
      assert.strictEqual(
        linesOf(stderr)[0],
        `copy in ${file} as of 2026-07-01T12:00:00.000Z, 2h 5m old`
      )
      assert.strictEqual((yield* queries).length, requests)
      assert.isTrue(before.equals(Fs.readFileSync(file)))
    })))

  it.effect("says that a later pass failed", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      yield* FakeService.use((service) => service.inject(Fault.status(403)))
      yield* sync(file)

      assert.match(
        (yield* cli(["summary", "--database", file])).stderr,
        / old; a later sync run failed with Forbidden\n/
      )
    })))

  it.effect("refuses a copy whose first load did not end, and one of another company", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* FakeService.use((service) => service.inject(Fault.status(403), { requests: [3] }))
      yield* sync(file)
      const partial = yield* cli(["summary", "--database", file])
      const other = yield* cli(["summary", "--database", file, "--company", "77"])

      assert.deepStrictEqual([partial.code, partial.stdout], [7, ""])
      assert.include(partial.stderr, `the copy of company 4021 in ${file} is not complete: its first load did not end`)
      assert.deepStrictEqual([other.code, other.stdout], [7, ""])
      assert.include(other.stderr, `${file} has no copy of company 77`)
      assert.include(
        other.stderr,
        `Check the company and the database; for a new copy, run time-punches sync --history --company 77 --database '${file}'`
      )
    })))

  it.effect("refuses a database without a copy, and names the command that helps", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      execute(file, "DROP TABLE time_punches_migrations")
      const { code, stderr, stdout } = yield* cli(["summary", "--database", file])

      assert.deepStrictEqual([code, stdout], [7, ""])
      assert.include(
        stderr,
        "time-punches: the database has no copy\n  Run time-punches sync with this database first."
      )
    })))

  it.effect.each([
    "summary",
    "sync",
    "sync --history",
    "copy status",
    "copy feed",
    "copy erase --yes",
    "doctor",
    "report --output report.html --week 2026-03-02 --zone America/New_York",
    "payroll check --week 2026-03-02 --zone America/New_York",
    "payroll diff --week 2026-03-02 --zone America/New_York --since 2026-03-16T00:00:00Z",
    "payroll list",
    "payroll correct"
  ])("refuses a copy of before the first publication: %s", (command) =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      execute(file, "UPDATE time_punches_migrations SET migration_id = 8")
      const before = Fs.readFileSync(file)
      const { code, stderr, stdout } = yield* cli([...command.split(" "), "--database", file])

      assert.strictEqual(code, 7, stderr)
      assert.include(
        stdout + stderr,
        `"time_punches" has schema 8, made before the first publication: sync into a new file or database`
      )
      assert.deepStrictEqual(Fs.readFileSync(file), before)
    })))

  it.effect("does not create a file that is not there", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      for (const command of ["summary", "copy status", "doctor"]) {
        const { code, stderr, stdout } = yield* cli([...command.split(" "), "--database", file])

        assert.strictEqual(code, 8, command)
        assert.include(stderr + stdout, `there is no file ${file}`)
        assert.isFalse(Fs.existsSync(file))
      }
    })))

  it.effect("fails at a row that is no punch, and prints no sum of the others", () =>
    withCopy(Effect.fnUntraced(function*(file) {
      yield* sync(file)
      execute(
        file,
        "UPDATE time_punches SET hourly_wage = -1 WHERE id = (SELECT max(id) FROM time_punches WHERE NOT deleted)"
      )
      const { code, stderr, stdout } = yield* cli(["summary", "--database", file])

      assert.deepStrictEqual([code, stdout], [7, ""])
      assert.match(stderr, /row \d+ is not a valid punch at hourly_wage/)
      assert.include(stderr, "doctor --database … --full")
    })))

  it.effect.each<readonly [ReadonlyArray<string>, string]>([
    [["--flags", "late"], "--flags cannot go with a copy"],
    [["--employee-approval-statuses", "disputed"], "--employee-approval-statuses cannot go with a copy"],
    [["--localize-search-time"], "--localize-search-time cannot go with a copy"],
    [["--business-date-start", "2026-03-02"], "--business-date-start and -end cannot go with a copy"],
    [["--sort-by", "id.asc"], "--sort-by cannot go with a copy"],
    [["--page-size", "20"], "--page-size sets the size of requests"],
    [["--database", "mysql://localhost/a"], "must be the name of a file, or a URL of PostgreSQL"],
    [["--database", "postgres://me:hunter2@localhost/a"], "has a password"]
  ])("refuses %j by name", ([args, text]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli([
        "summary",
        ...args,
        ...(args.includes("--database") ? [] : ["--database", "/nowhere/a.db"])
      ])

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, text)
      if (text.includes("a copy")) assert.include(stderr, "read the service: --source service.")
      assert.notInclude(stderr, "hunter2")
      assert.deepStrictEqual(yield* queries, [])
    }).pipe(Effect.provide(FakeService.layer())))
})
