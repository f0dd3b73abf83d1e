/** Kills syncs of the bundled command with SIGKILL, ends their database under them, and compares the copies. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Result } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { spawn } from "node:child_process"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { readRows } from "../../src/sql/readRows.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { environmentOf, type Running, start } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { clientOf, cluster, emptyDatabase, hasPostgres, noPostgres } from "../support/postgres.ts"
import { changeSome, company, served } from "./syncService.ts"

const bundle = new URL("../../dist/cli/main.js", import.meta.url).pathname

/** A database: the setting of the command, and the client that reads it back. */
interface Database {
  readonly url: string
  readonly client: Layer.Layer<SqlClient.SqlClient, SqlError.SqlError>
}

const file = (folder: string, name: string): Database => {
  const url = `${folder}/${name}.db`
  return { url, client: NodeSqlite.layer({ filename: url }) }
}

const postgres = Effect.map(emptyDatabase, (url): Database => ({ url, client: clientOf(url) }))

/** Runs `sync` into a database. The process ends with this effect. */
const sync = (
  { url }: Database,
  args: ReadonlyArray<string> = [],
  disturb: (running: Running) => void = () => {}
) =>
  Effect.gen(function*() {
    const { url: service } = yield* FakeServer
    const environment = { ...environmentOf(service), TIME_PUNCHES_DATABASE_URL: url }
    const running = yield* Effect.acquireRelease(
      Effect.sync(() => start(["sync", ...args], environment, bundle)),
      ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
    )
    disturb(running)
    return yield* Effect.promise(() => running.ended)
  }).pipe(Effect.scoped)

/** Every row that is not gone, without its stamp, in the order of the ids. */
const rowsOf = ({ client }: Database) =>
  readRows(company, { _tag: "After", id: -1, count: 100_000 }).pipe(
    Effect.map((rows) => rows.filter(({ isGone }) => !isGone).map(({ punch }) => Result.getOrThrow(punch))),
    Effect.provide(client)
  )

const killAfter = (millis: number) => ({ child }: Running) => {
  const timer = setTimeout(() => child.kill("SIGKILL"), millis)
  child.on("close", () => clearTimeout(timer))
}

/** Ends with a copy that is complete and swept, as the service is now. */
const settle = Effect.fnUntraced(function*(database: Database) {
  const swept = yield* sync(database, ["--sweep", "all", "--accept-gone"])
  assert.strictEqual(swept.code, 0, swept.stderr)
})

/** Kills syncs and sweeps while punches change, then compares the copy with one that nothing disturbed. */
const killed = (database: Database, undisturbed: Database, kills: number, seed: number) =>
  Effect.gen(function*() {
    const random = prng(seed)
    const ends = { killed: 0, complete: 0 }
    while (ends.killed < kills) {
      const args = random.chance(0.3) ? ["--sweep", "all", "--accept-gone"] : []
      const { code, signal, stderr } = yield* sync(database, args, killAfter(random.between(120, 900)))
      assert.isTrue(signal === "SIGKILL" || code === 0, stderr)
      if (signal === "SIGKILL") {
        ends.killed += 1
      } else {
        ends.complete += 1
        yield* changeSome(random)
      }
      assert.isBelow(ends.complete, 10 * kills, "hardly any run was killed")
    }
    yield* settle(database)
    yield* settle(undisturbed)
    yield* settle(undisturbed)
    const [copy, expected] = [yield* rowsOf(database), yield* rowsOf(undisturbed)]

    assert.isAbove(expected.length, 1000)
    assert.deepStrictEqual(copy, expected)
    return ends
  })

/** The exit code of a shell command. */
const spawned = (command: string, env: Record<string, string>) =>
  new Promise<number | null>((resolve) => {
    spawn("sh", ["-c", command], { env, stdio: "ignore" }).on("close", resolve)
  })

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

describe("time-punches sync", () => {
  it.live(
    "has the copy of an undisturbed run in SQLite, whenever it is killed",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* killed(file(folder, "killed"), file(folder, "undisturbed"), 40, 1)
      })),
    600_000
  )

  it.live("has the copy of an undisturbed run in PostgreSQL, whenever it is killed", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inService(Effect.gen(function*() {
      yield* killed(yield* postgres, yield* postgres, 40, 2)
    }))
  }, 600_000)

  it.live("ends with 130 on SIGTERM and on Ctrl-C, and resumes", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const [database, undisturbed] = [file(folder, "ended"), file(folder, "undisturbed")]
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        const { code } = yield* sync(database, [], ({ child }) => {
          const timer = setTimeout(() => child.kill(signal), 600)
          child.on("close", () => clearTimeout(timer))
        })
        assert.include([0, 130], code)
      }
      yield* settle(database)
      yield* settle(undisturbed)

      assert.deepStrictEqual(yield* rowsOf(database), yield* rowsOf(undisturbed))
    })), 60_000)

  it.live("continues after PostgreSQL was restarted under it", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inService(Effect.gen(function*() {
      const server = yield* cluster()
      const database: Database = { url: server.url(), client: clientOf(server.url()) }
      const folder = yield* temporaryFolder
      const undisturbed = file(folder, "undisturbed")
      for (const [signal, millis] of [["SIGINT", 500], ["SIGQUIT", 700], ["SIGQUIT", 900]] as const) {
        const ended = yield* sync(database, [], () => {
          setTimeout(() => void server.stop(signal).then(server.start), millis)
        })
        assert.include([0, 8], ended.code, ended.stderr)
        yield* changeSome(prng(millis))
      }
      yield* settle(database)
      yield* settle(undisturbed)

      assert.deepStrictEqual(yield* rowsOf(database), yield* rowsOf(undisturbed))
    }))
  }, 120_000)

  it.live("continues after the disk was full", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const [database, undisturbed] = [file(folder, "full"), file(folder, "undisturbed")]
      const { url: service } = yield* FakeServer
      // A limit on the size of its files is what a process sees of a full disk.
      const limited = `ulimit -f 300; exec "${process.execPath}" "${bundle}" sync`
      const environment = { ...environmentOf(service), TIME_PUNCHES_DATABASE_URL: database.url }
      const ended = yield* Effect.promise(() => spawned(limited, environment))
      const before = yield* rowsOf(database)
      yield* settle(database)
      yield* settle(undisturbed)

      assert.notStrictEqual(ended, 0)
      assert.isBelow(before.length, 2000)
      assert.deepStrictEqual(yield* rowsOf(database), yield* rowsOf(undisturbed))
    })), 120_000)
})
