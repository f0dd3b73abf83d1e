/** Kills syncs of the bundled command with SIGKILL, ends their database under them, and compares the copies. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { bundle } from "../cli/bundle.ts"
import { environmentOf } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPostgres, hasPrograms, noPostgres } from "../support/postgres.ts"
import {
  assertSettled,
  at,
  inFile,
  inPostgres,
  inService,
  killAfter,
  killed,
  rowsOf,
  sync,
  whenAsked
} from "./kills.ts"
import { changeSome } from "./syncService.ts"

/** The exit code of a shell command. */
const spawned = (command: string, env: Record<string, string>) =>
  new Promise<number | null>((resolve) => {
    spawn("sh", ["-c", command], { env, stdio: "ignore" }).on("close", resolve)
  })

describe("time-punches sync", () => {
  it.live(
    "has the copy of an undisturbed run in SQLite, whenever it is killed",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* killed(inFile(folder, "killed"), inFile(folder, "undisturbed"), 40, 1)
      })),
    600_000
  )

  it.live("has the copy of an undisturbed run in PostgreSQL, whenever it is killed", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inService(Effect.gen(function*() {
      yield* killed(yield* inPostgres, yield* inPostgres, 40, 2)
    }))
  }, 600_000)

  it.live(
    "[Y59] ends with 130 on SIGTERM and on Ctrl-C in the middle of a pass, with whole pages, and resumes",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const database = inFile(folder, "ended")
        for (const signal of ["SIGTERM", "SIGINT"] as const) {
          yield* (yield* FakeService).clearRequests
          const { code } = yield* sync(
            database,
            [],
            (running) => Effect.andThen(whenAsked(5), killAfter(0, signal)(running))
          )
          const { length } = yield* rowsOf(database)

          assert.strictEqual(code, 130)
          assert.deepStrictEqual([length > 0, length < 3000, length % 200], [true, true, 0])
        }
        yield* assertSettled(database, inFile(folder, "undisturbed"))
      }))
  )

  it.live("continues after PostgreSQL was restarted under it", (context) => {
    needs(context, hasPrograms, noPostgres)
    return inService(Effect.gen(function*() {
      const server = yield* cluster()
      const database = at(server.url())
      const folder = yield* temporaryFolder
      for (const [signal, millis] of [["SIGINT", 500], ["SIGQUIT", 700], ["SIGQUIT", 900]] as const) {
        const restart = Effect.promise(() => server.stop(signal).then(server.start))
        const ended = yield* sync(
          database,
          [],
          () => Effect.andThen(Effect.sleep(millis), Effect.uninterruptible(restart))
        )
        assert.include([0, 8], ended.code, ended.stderr)
        yield* changeSome(prng(millis))
      }
      yield* assertSettled(database, inFile(folder, "undisturbed"))
    }))
  })

  it.live("continues after the disk was full", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const database = inFile(folder, "full")
      const { url: service } = yield* FakeServer
      // A limit on the size of its files is what a process sees of a full disk.
      const limited = `ulimit -f 300; exec "${process.execPath}" "${bundle}" sync`
      const environment = { ...environmentOf(service), TIME_PUNCHES_DATABASE_URL: database.url }
      const ended = yield* Effect.promise(() => spawned(limited, environment))
      const before = yield* rowsOf(database)

      assert.notStrictEqual(ended, 0)
      assert.isBelow(before.length, 2000)
      yield* assertSettled(database, inFile(folder, "undisturbed"))
    })))
})
