/** Kills the follower of a feed while a sync writes, and replays what it has printed: nothing is omitted. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import { join } from "node:path"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { ended, environmentOf, type Running, started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPostgres, hasPrograms, noPostgres } from "../support/postgres.ts"
import { at, type Database, inFile, inPostgres, inService, rowsOf, sync, until } from "./kills.ts"
import { changeSome } from "./syncService.ts"

interface Line {
  readonly position: string
  readonly at: string
  readonly kind: string
  readonly punchId: number
  readonly after: { readonly notes: string; readonly deleted: boolean } | null
}

/**
 * Kills of each database: one in five between a line that is written and the keeping of its position, the others at random moments, half
 * of them while the lines are read.
 */
const kills = 50

/** The first rename of a run takes the file over; the second one keeps the position of its first lines. */
const beforeKept = {
  NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${join(import.meta.dirname, "killBefore.ts")}`,
  KILL_BEFORE_RENAME: "2"
}

/** Writes into a copy with a history until it is ended: a sync with sweeps, or a process of a fleet. */
type Writer = (env: Record<string, string>) => Effect.Effect<Running, never, Scope.Scope>

const bySync: Writer = (env) =>
  started(["sync", "--history", "--every", "1s", "--sweep", "all", "--allow-missing"], env)

const byFleet: Writer = Effect.fnUntraced(function*(env) {
  const company = `${env["TIME_PUNCHES_COMPANY_ID"]}=${env["TIME_PUNCHES_COMPANY_GUID"]}`
  for (const args of [["fleet", "migrate"], ["fleet", "add", "--every", "1s", company]]) {
    const { code, stderr } = yield* ended(yield* started(args, env))
    assert.strictEqual(code, 0, stderr)
  }
  return yield* started(["fleet", "run", "--history"], env)
})

const followed = Effect.fnUntraced(function*(database: Database, folder: string, seed: number, write: Writer) {
  const random = prng(seed)
  const { url } = yield* FakeServer
  const env = { ...environmentOf(url), TIME_PUNCHES_DATABASE_URL: database.url }
  const state = `${folder}/${seed}.json`
  const follow = (more: ReadonlyArray<string> = [], variables = {}) =>
    started(["copy", "feed", "--state", state, ...more], { ...env, ...variables })
  const first = yield* sync(database, ["--history"])
  assert.strictEqual(first.code, 0, first.stderr)

  const writer = yield* write(env)
  const printed: Array<Line> = []
  let repeated = 0
  let between = 0
  const seen = new Set<string>()
  /** A run that is killed may leave a line without its end, which the next one prints again. */
  const take = (stdout: string) => {
    for (const text of stdout.split("\n").slice(0, -1)) {
      const line: Line = JSON.parse(text)
      if (seen.has(line.position)) repeated++
      else printed.push(line)
      seen.add(line.position)
    }
  }
  for (let done = 0; done < kills; done++) {
    yield* changeSome(random)
    const running = yield* Effect.scoped(Effect.gen(function*() {
      if (done % 5 === 4) {
        const running = yield* follow(["--follow=1s"], beforeKept)
        const own = yield* Effect.timeoutOption(ended(running), "20 seconds")
        if (Option.isSome(own)) between++
        running.child.kill("SIGKILL")
        return yield* ended(running)
      }
      const running = yield* follow(["--follow=1s"])
      // Who does not read keeps the process in the middle of a line, with a position that it must not have kept yet.
      const isRead = done % 2 === 0
      if (!isRead) running.child.stdout.pause()
      yield* Effect.sleep(random.between(150, 1200))
      running.child.kill("SIGKILL")
      running.child.stdout.resume()
      return yield* ended(running)
    }))
    assert.strictEqual(running.signal, "SIGKILL", running.stderr)
    take(running.stdout)
  }
  writer.child.kill("SIGTERM")
  yield* ended(writer)
  yield* Effect.scoped(Effect.gen(function*() {
    const last = yield* ended(yield* follow())
    assert.strictEqual(last.code, 0, last.stderr)
    take(last.stdout)
  }))

  // A run that was killed before it kept its first position begins again, with the state of that time.
  const begun = printed.findLast(({ kind }) => kind === "present")?.at ?? ""
  const told = printed.slice(printed.findIndex(({ at, kind }) => kind === "present" && at === begun))
  const replayed = new Map<number, Line["after"]>()
  for (const { after, punchId: id } of told) {
    if (after === null) replayed.delete(id)
    else replayed.set(id, after)
  }
  const shownOf = (id: number, { deleted, notes }: { readonly deleted: boolean; readonly notes: string }) => ({
    id,
    deleted,
    notes
  })
  assert.deepStrictEqual(
    [...replayed].toSorted(([one], [other]) => one - other).flatMap(([id, after]) =>
      after === null ? [] : [shownOf(id, after)]
    ),
    (yield* rowsOf(database)).map((punch) => shownOf(Number(punch.id), punch))
  )
  // Each version that began after the state is one line, and each row of the state too.
  const changes = told.filter(({ kind }) => kind !== "present").length
  const [found] = yield* Effect.provide(
    Effect.flatMap(SqlClient.SqlClient, (sql) => {
      const at = sql.onDialectOrElse({ pg: () => `'${begun}'`, orElse: () => `${Date.parse(begun)}` })
      const later = (table: string) => `(SELECT count(*) FROM ${table} WHERE valid_from > ${at})`
      return sql.unsafe<{ readonly count: unknown }>(
        `SELECT ${later("time_punches")} + ${later("time_punches_history")} AS count`
      )
    }),
    database.client
  )
  assert.strictEqual(changes, Number(found?.count))
  assert.isAbove(changes, 10_000)
  assert.isAbove(repeated, 0)
  assert.strictEqual(between, kills / 5)
  assert.deepStrictEqual(Fs.readdirSync(folder).filter((name) => name.endsWith(".tmp")), [])
})

describe("time-punches copy feed", () => {
  it.live(
    "omits no change of a sync in SQLite, whenever its process is killed",
    () =>
      inService(Effect.flatMap(temporaryFolder, (folder) => followed(inFile(folder, "followed"), folder, 11, bySync)))
  )

  it.live("omits no change of a fleet in PostgreSQL, whenever its process is killed", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inService(Effect.gen(function*() {
      yield* followed(yield* inPostgres, yield* temporaryFolder, 12, byFleet)
    }))
  })

  it.live("waits for a PostgreSQL that is away, says so, and omits nothing of what is committed then", (context) => {
    needs(context, hasPrograms, noPostgres)
    return inService(Effect.gen(function*() {
      const server = yield* cluster()
      const database = at(server.url())
      const { url } = yield* FakeServer
      const env = { ...environmentOf(url), TIME_PUNCHES_DATABASE_URL: database.url }
      const begun = yield* sync(database, ["--history"])
      assert.strictEqual(begun.code, 0, begun.stderr)
      const running = yield* started(["copy", "feed", "--after", "now", "--follow=1s", "--kind", "edited,deleted"], env)
      let said = ""
      running.child.stderr.on("data", (text) => (said += text))
      // It prints nothing when it has begun.
      yield* Effect.sleep("5 seconds")
      yield* Effect.promise(() => server.stop("SIGQUIT"))
      yield* until(Effect.sync(() => said.includes("waits for its database")), "50 millis")
      yield* Effect.promise(() => server.start())
      const service = yield* FakeService
      const [one = 0] = (yield* rowsOf(database)).map(({ id }) => Number(id))
      yield* service.edit([one], { notes: "after the crash" })
      yield* sync(database, ["--history"])
      const printed = yield* Effect.promise(() => running.printed("after the crash"))
      running.child.kill("SIGINT")
      const { code, stderr } = yield* ended(running)

      assert.match(printed, new RegExp(`"kind":"edited","companyId":\\d+,"punchId":${one},`))
      assert.include(stderr, "waits for its database")
      assert.match(stderr, /To continue: time-punches copy feed --after \S+ --follow=1s --kind edited,deleted\n/)
      assert.strictEqual(code, 130)
    }))
  })
})
