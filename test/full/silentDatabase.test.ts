/** A PostgreSQL that falls silent behind a proxy, as a process: how long a verb waits, what it says, and that it connects again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import * as Net from "node:net"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { ended, environmentOf, type Running, started } from "../cli/child.ts"
import { needs } from "../support/needs.ts"
import { clientOf, cluster, hasPrograms, noPostgres } from "../support/postgres.ts"
import { servicePunch } from "../support/wire.ts"

/** What the proxy does: it passes everything, nothing from the first byte or from the end of the handshake on, or nothing at all any more. */
type Mode = "passes" | "mute" | "muteOnceBegun" | "silent"

/** The message of the server that ends a handshake. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5])

const proxyTo = (url: string): Effect.Effect<{ readonly url: string; mode: Mode }, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const { hostname, port } = new URL(url)
        const open = new Set<Net.Socket>()
        const proxy: { url: string; mode: Mode } = { url: "", mode: "passes" }
        const server = Net.createServer((client) => {
          open.add(client)
          client.on("error", () => {}).on("close", () => open.delete(client))
          if (proxy.mode === "mute") return void client.resume()
          const upstream = Net.connect(Number(port), hostname)
          upstream.on("error", () => {})
          client.on("close", () => upstream.destroy())
          let hasBegun = false
          const isMute = () => proxy.mode === "silent" || (proxy.mode === "muteOnceBegun" && hasBegun)
          client.on("data", (bytes) => void (isMute() || upstream.write(bytes)))
          upstream.on("data", (bytes) => {
            if (!isMute()) client.write(bytes)
            hasBegun ||= bytes.includes(ready)
          })
        }).listen(0, "127.0.0.1")
        await once(server, "listening")
        const address = server.address()
        const shown = new URL(url)
        shown.port = typeof address === "object" && address !== null ? `${address.port}` : "0"
        proxy.url = shown.href
        return { proxy, server, open }
      }),
      ({ open, server }) =>
        Effect.sync(() => {
          for (const socket of open) socket.destroy()
          server.close()
        })
    ),
    ({ proxy }) => proxy
  )

const punches = [
  servicePunch({ id: 1, user_id: 501, clocked_in: "2026-03-03T14:00:00Z", clocked_out: "2026-03-03T22:00:00Z" })
]

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

const week = ["--week", "2026-03-02", "--zone", "UTC"]

/** Every kind of verb that opens a database. */
const verbs: ReadonlyArray<ReadonlyArray<string>> = [
  ["sync"],
  ["copy", "status"],
  ["copy", "feed"],
  ["copy", "erase", "--yes"],
  ["summary", "--by", "user", ...week],
  ["list"],
  ["report", ...week],
  ["doctor"],
  ["payroll", "check", ...week],
  ["payroll", "close", ...week],
  ["payroll", "list"],
  ["payroll", "due"],
  ["payroll", "diff", "--close", "1"],
  ["fleet", "migrate"],
  ["fleet", "list"],
  ["fleet", "add", `${defaultCompany.id}=${defaultCompany.guid}`],
  ["fleet", "run"]
]

/** A database that has a copy, and is behind a proxy. */
const opened = Effect.gen(function*() {
  const url = (yield* cluster()).url()
  const proxy = yield* proxyTo(url)
  const { url: service } = yield* FakeServer
  const run = (...args: ReadonlyArray<string>) =>
    started(args, { ...environmentOf(service), TIME_PUNCHES_DATABASE_URL: proxy.url })
  for (const call of [["sync", "--history"], ["fleet", "migrate"]]) {
    const { code, stderr } = yield* ended(yield* run(...call))
    assert.strictEqual(code, 0, stderr)
  }
  return { proxy, run, url }
})

/** What a process has written to standard error once it has `text`. */
const said = (running: Running, text: string | RegExp) =>
  Effect.promise(() =>
    new Promise<string>((resolve) => {
      let all = ""
      const look = (bytes: unknown) => {
        all += String(bytes)
        if (typeof text === "string" ? all.includes(text) : text.test(all)) resolve(all)
      }
      running.child.stderr.on("data", look)
      running.child.on("close", () => resolve(all))
    })
  )

const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

describe.concurrent("a PostgreSQL that is silent", () => {
  it.live.each(["mute", "muteOnceBegun"] as const)(
    "from the start ends every verb with 8 after 30 seconds: %s",
    (mode, context) => {
      needs(context, hasPrograms, noPostgres)
      return inTime(Effect.gen(function*() {
        const { proxy, run } = yield* opened
        proxy.mode = mode
        const ends = yield* Effect.forEach(verbs, (verb) =>
          Effect.gen(function*() {
            const { code, stderr, stdout } = yield* ended(yield* run(...verb))
            const isNamed = /the database is silent: it has not answered for 30 s/.test(stderr + stdout)
            return [verb.join(" "), code, isNamed] as const
          }), { concurrency: 6 })

        assert.deepStrictEqual(ends, verbs.map((verb) => [verb.join(" "), 8, true] as const))
      }))
    }
  )

  it.live("within a run is named, and a repeated sync and a feed that follows connect again", (context) => {
    needs(context, hasPrograms, noPostgres)
    return inTime(Effect.gen(function*() {
      const { proxy, run } = yield* opened
      const sync = yield* run("sync", "--history", "--every", "1s")
      const feed = yield* run("copy", "feed", "--follow=1s", "--format", "table")
      yield* Effect.promise(() => sync.printed("increment: "))
      yield* Effect.promise(() => feed.printed("present"))
      const texts = Effect.all([
        said(sync, "it has not answered for 1 min"),
        said(feed, "it has not answered for 1 min")
      ], {
        concurrency: 2
      })
      proxy.mode = "silent"
      for (const text of yield* texts) {
        assert.match(text, /^the database has not answered for 1\d s\n/m)
        assert.notInclude(text, "waits for a lock")
      }
      proxy.mode = "passes"
      yield* (yield* FakeService).edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      const told = yield* Effect.promise(() => feed.printed("edited"))

      assert.include(told, "edited")
      assert.deepStrictEqual([sync.child.exitCode, feed.child.exitCode], [null, null])
    }))
  })

  it.live("is not a lock, which is waited for", (context) => {
    needs(context, hasPrograms, noPostgres)
    return inTime(Effect.gen(function*() {
      const { run, url } = yield* opened
      const lock = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.withTransaction(Effect.andThen(
          sql.unsafe("LOCK TABLE time_punches_sync IN ACCESS EXCLUSIVE MODE"),
          Effect.gen(function*() {
            const locked = yield* run("copy", "status")
            yield* said(locked, "waits for a lock")
            return locked
          })
        ))).pipe(Effect.provide(clientOf(url)))
      const { code, stderr } = yield* ended(yield* lock)

      assert.strictEqual(code, 0, stderr)
      const [first, second, ...more] = stderr.trim().split("\n")
      assert.match(`${first}`, /^the database has not answered for 1\d s$/)
      assert.match(`${second}`, /^the database has not answered for 1 min \d s; it answers .* waits for a lock/)
      assert.isEmpty(more)
    }))
  })
})
