/** Every command as each of the roles that `docs/examples/roles.sql` makes: what a role may do, and what it may not. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { ended, environmentOf, started } from "../cli/child.ts"
import { subcommands, temporaryFolder } from "../cli/support.ts"
import { root } from "../docs/support/examples.ts"
import { needs } from "../support/needs.ts"
import { clientOf, cluster, hasPrograms, noPostgres } from "../support/postgres.ts"
import { servicePunch } from "../support/wire.ts"

const punches = [1, 2, 3].map((id) =>
  servicePunch({ id, user_id: 500 + id, clocked_in: "2026-03-03T14:00:00Z", clocked_out: "2026-03-03T22:00:00Z" })
)

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

const { guid, id } = defaultCompany
const company = `${id}`
const week = ["--week", "2026-03-02", "--zone", "America/New_York"]
const closing = [...week, "--accept", "stale,unapproved"]

/** What may be granted beside SELECT, which each role has. */
type Role = "reader" | "syncer" | "payroll" | "fleet"

/** A call of a command, and the roles that may do more than read, if it does more. In this order: what erases is last. */
const calls: ReadonlyArray<readonly [call: string, args: ReadonlyArray<string>, only?: ReadonlyArray<Role>]> = [
  ["summary", week],
  ["report", week],
  ["payroll check", week],
  ["copy status", []],
  ["copy feed", []],
  ["doctor", ["--full"]],
  ["mcp", []],
  ["sync", ["--history"], ["syncer", "fleet"]],
  ["copy sync", ["--history", "--sweep", "all", "--keep-history", "400d"], ["syncer", "fleet"]],
  ["payroll close", closing, ["payroll"]],
  ["payroll list", []],
  ["payroll show", ["1"]],
  ["payroll file", ["1.1", "--mapping", "mapping.json"]],
  ["payroll verify", []],
  ["payroll due", []],
  ["payroll diff", ["--close", "1"]],
  ["payroll correct", [], ["payroll"]],
  ["payroll void", ["1.2", "--note", "not sent"], ["payroll"]],
  ["fleet migrate", [], []],
  ["fleet add", [`${company}=${guid}`], ["fleet"]],
  ["fleet list", []],
  ["fleet status", [company]],
  ["fleet runners", []],
  ["fleet run", [], ["fleet"]],
  ["fleet sync", [company], ["fleet"]],
  ["fleet pause", [company], ["fleet"]],
  ["fleet resume", ["--all"], ["fleet"]],
  ["fleet remove", [company, "--purge", "--yes", "--closes-too"], ["fleet"]],
  ["copy erase", ["--company", company, "--yes", "--closes-too"], ["fleet"]]
]

/** Commands that open no database. */
const others = ["list", "export", "config show", "sandbox"]

const mapping = JSON.stringify({
  v: 1,
  by: ["user"],
  hours: "decimal:2",
  rounding: "halfUp",
  columns: ["userId", "hours", "cost", "tips"].map((value) => ({ header: value, value }))
})

const roles: ReadonlyArray<Role> = ["reader", "syncer", "payroll", "fleet"]

describe("the roles of docs/examples/roles.sql", () => {
  it("are those of this test, which calls every command that opens a database", () => {
    const called = calls.map(([call]) => call)

    assert.deepStrictEqual([...called, ...others].toSorted(), subcommands.toSorted())
  })

  it.live("do what the file says, and nothing else", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const service = yield* FakeService
      const { url } = yield* FakeServer
      const database = (yield* cluster()).url()
      const folder = yield* temporaryFolder
      const mappingFile = `${folder}/mapping.json`
      Fs.writeFileSync(mappingFile, mapping)
      const start = (user: string, call: string, args: ReadonlyArray<string>) =>
        started([...call.split(" "), ...args.map((arg) => arg === "mapping.json" ? mappingFile : arg)], {
          ...environmentOf(url),
          TIME_PUNCHES_DATABASE_URL: database.replace("postgres@", `${user}@`)
        })
      const run = (user: string, call: string, args: ReadonlyArray<string>) =>
        Effect.scoped(Effect.flatMap(start(user, call, args), ended))
      const asked = (statement: string) =>
        SqlClient.SqlClient.use((sql) => sql.unsafe(statement)).pipe(Effect.provide(clientOf(database)), Effect.orDie)
      const done = Effect.fnUntraced(function*(user: string, call: string, args: ReadonlyArray<string>) {
        const ran = yield* run(user, call, args)
        assert.strictEqual(ran.code, 0, `${user}: ${call}\n${ran.stderr}`)
        return ran
      })
      /** A fleet runs until it is stopped: here, after a turn. */
      const turned = Effect.fnUntraced(function*(user: string) {
        const running = yield* start(user, "fleet run", [])
        const last = `${user}: fleet run ended, or no turn of it within a minute`
        for (let left = 120;; left -= 1) {
          const { stdout } = yield* done(user, "fleet status", [company, "--json"])
          if (JSON.parse(stdout).turns.some(({ outcome }: { readonly outcome: string }) => outcome === "Complete"))
            break
          assert.isAbove(running.child.exitCode === null ? left : 0, 0, last)
          yield* Effect.sleep("500 millis")
        }
        running.child.kill("SIGTERM")
        return yield* ended(running)
      }, Effect.scoped)

      yield* done("postgres", "fleet migrate", [])
      yield* done("postgres", "sync", ["--history"])
      const made = Fs.readFileSync(`${root}docs/examples/roles.sql`, "utf8")
      assert.lengthOf(made.match(/CREATE ROLE/g) ?? [], roles.length)
      for (const statement of made.split(";").filter((text) => text.trim() !== "")) yield* asked(statement)
      // A table of the same name in a schema that comes first by default: the schema of the role's name.
      yield* asked("CREATE SCHEMA punches_reader")
      yield* asked("CREATE TABLE punches_reader.time_punches (LIKE public.time_punches)")
      yield* asked("GRANT USAGE ON SCHEMA punches_reader TO punches_reader")
      yield* asked("GRANT SELECT ON punches_reader.time_punches TO punches_reader")
      assert.match((yield* done("punches_reader", "summary", week)).stdout, /total +3 /)

      const before: Readonly<Record<string, Effect.Effect<unknown>>> = {
        "payroll correct": Effect.andThen(
          service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" }),
          done("punches_syncer", "sync", ["--history"])
        ),
        "copy erase": done("punches_syncer", "sync", ["--history"])
      }
      for (const [call, args, only] of calls) {
        yield* before[call] ?? Effect.void
        // What each role may do has the rights of the reader alone.
        for (const role of only === undefined ? [] : roles.filter((role) => !only.includes(role))) {
          const { code, stderr } = yield* run(`punches_${role}`, call, args)
          assert.strictEqual(code, 8, `${role}: ${call}\n${stderr}`)
          assert.match(stderr, /permission denied for \w+ \w+/, `${role}: ${call}`)
          assert.include(stderr, "The role of the database may not do this", `${role}: ${call}`)
        }
        for (const role of only ?? ["reader"]) {
          const user = `punches_${role}`
          if (call !== "fleet run") yield* done(user, call, args)
          else assert.strictEqual((yield* turned(user)).code, 0)
        }
      }
    }).pipe(Effect.scoped, Effect.provide(served))
  })
})
