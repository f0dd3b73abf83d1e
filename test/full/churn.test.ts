/** Two terminals: a sandbox whose punches change, and a sync that is killed and started at random. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { prng } from "../../src/testing/base/prng.ts"
import { ended, started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { hasPostgres, noPostgres } from "../support/postgres.ts"
import { type Database, inFile, inPostgres, rowsOf, until } from "./kills.ts"

/** What the company that is copied has, deleted ones not counted. */
const punches = 3000
const churnSeconds = 10

const Environment = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))

/** A sandbox that changes its punches for a while: its variables, and whether they still change. */
const sandbox = Effect.gen(function*() {
  const running = yield* started(
    ["sandbox", "--json", "--port", "0", "--punches", `${punches}`, `--churn=${churnSeconds}s`],
    { PATH: process.env["PATH"] ?? "" }
  )
  let log = ""
  running.child.stderr.on("data", (text: string) => (log += text))
  const printed = yield* Effect.promise(() => running.printed("\n"))
  const environment = yield* Effect.orDie(Schema.decodeUnknownEffect(Environment)(printed))
  return {
    environment: { ...environment, PATH: process.env["PATH"] ?? "" },
    isChanging: () => !log.includes("Punches no longer change.")
  }
})

type Sandbox = Effect.Success<typeof sandbox>

/** Kills the sync and starts it again for as long as punches change; returns how many processes there were. */
const disturbed = ({ environment, isChanging }: Sandbox, { url }: Database, seed: number) =>
  Effect.gen(function*() {
    const random = prng(seed)
    let kills = 0
    for (; isChanging(); kills++) {
      const { code, signal, stderr } = yield* Effect.scoped(Effect.gen(function*() {
        const running = yield* started(["sync", "--database", url, "--every", "2s"], environment)
        yield* Effect.sleep(random.between(200, 2500))
        running.child.kill("SIGKILL")
        return yield* ended(running)
      }))
      assert.deepStrictEqual([code, signal], [null, "SIGKILL"], stderr)
      yield* Effect.sleep(random.between(0, 500))
    }
    return kills
  })

/** Two whole passes after the last change, then the comparison of every row. */
const compared = ({ environment }: Sandbox, { url }: Database) =>
  Effect.gen(function*() {
    let lines = ""
    const running = yield* started(["sync", "--database", url, "--every", "2s"], environment)
    running.child.stdout.on("data", (text: string) => (lines += text))
    yield* until(Effect.sync(() => (lines.match(/^increment: .*\n/gm) ?? []).length >= 2), "50 millis")
    running.child.kill("SIGTERM")
    assert.strictEqual((yield* ended(running)).code, 130)
    return yield* ended(yield* started(["doctor", "--database", url, "--full"], environment))
  }).pipe(Effect.scoped)

describe("time-punches sync --every 2s beside time-punches sandbox --churn=10s", () => {
  it.live("has every row as it is, killed and started at random, once the punches no longer change", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.scoped(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const databases = [inFile(folder, "punches"), yield* inPostgres]
      const began = yield* Clock.currentTimeMillis
      const service = yield* sandbox
      const kills = yield* Effect.forEach(databases, (each, at) => disturbed(service, each, at + 1), {
        concurrency: "unbounded"
      })
      for (const each of databases) {
        const doctor = yield* compared(service, each)
        const rows = yield* rowsOf(each)

        assert.strictEqual(doctor.code, 0, doctor.stdout)
        assert.match(doctor.stdout, /copy: service .* compared, all are equal/)
        assert.isAbove(rows.length, punches)
        // Punches were added meanwhile: the copy heard of changes.
        assert.isAbove(rows.filter(({ clockedIn }) => clockedIn.epochMilliseconds >= began).length, 0)
      }
      assert.isAtLeast(Math.min(...kills), 3)
    }))
  })
})
