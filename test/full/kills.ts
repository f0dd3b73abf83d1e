/** Runs of the bundled `sync` that a test disturbs, and the copies that they leave: shared with the soak. */
import { assert } from "@effect/vitest"
import { type Duration, Effect, type Layer, Option, Result, type Scope } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { PunchCopy } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { readRows } from "../../src/sql/read.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { type Ended, ended, environmentOf, type Running, started } from "../cli/child.ts"
import { queries } from "../cli/support.ts"
import { clientOf, emptyDatabase } from "../support/postgres.ts"
import { changeSome, company, served } from "./syncService.ts"

/** A database: the setting of the command, and the client that reads it back. */
export interface Database {
  readonly url: string
  readonly client: Layer.Layer<SqlClient.SqlClient, SqlError.SqlError>
}

export const inFile = (folder: string, name: string): Database => {
  const url = `${folder}/${name}.db`
  return { url, client: NodeSqlite.layer({ filename: url }) }
}

export const at = (url: string): Database => ({ url, client: clientOf(url) })

export const inPostgres: Effect.Effect<Database, never, Scope.Scope> = Effect.map(emptyDatabase, at)

/** What a test does to a process while it runs. */
export type Disturbance = (running: Running) => Effect.Effect<unknown, never, FakeService>

/** Runs `sync` into a database until it has ended. */
export const sync = (
  { url }: Database,
  args: ReadonlyArray<string> = [],
  disturb: Disturbance = () => Effect.void
): Effect.Effect<Ended, never, FakeServer | FakeService> =>
  Effect.gen(function*() {
    const { url: service } = yield* FakeServer
    const running = yield* started(["sync", ...args], { ...environmentOf(service), TIME_PUNCHES_DATABASE_URL: url })
    yield* Effect.forkScoped(disturb(running))
    return yield* ended(running)
  }).pipe(Effect.scoped)

export const killAfter = (millis: number, signal: NodeJS.Signals = "SIGKILL"): Disturbance => ({ child }) =>
  Effect.andThen(Effect.sleep(millis), Effect.sync(() => child.kill(signal)))

/** Waits until something holds. A test that waits in vain ends by its timeout. */
export const until = <E, R>(
  holds: Effect.Effect<boolean, E, R>,
  pause: Duration.Input = "2 millis"
): Effect.Effect<void, E, R> =>
  Effect.gen(function*() {
    while (!(yield* holds)) yield* Effect.sleep(pause)
  })

/** Waits until the service has received so many requests for pages that are of this kind, and has not answered the last. */
export const whenAsked = (count: number, isKind: (query: Readonly<Record<string, string>>) => boolean = () => true) =>
  until(Effect.map(queries, (sent) => sent.filter(isKind).length >= count))

/** Every row that is not missing, without its stamp, in the order of the ids. */
export const rowsOf = ({ client }: Database) =>
  readRows(company, { _tag: "After", id: -1, count: 100_000 }).pipe(
    Effect.map((rows) => rows.filter(({ isMissing }) => !isMissing).map(({ punch }) => Result.getOrThrow(punch))),
    Effect.provide(client)
  )

export const statusOf = ({ client }: Database) => Effect.provide(PunchCopy.status(company), client)

/** What a process was doing when it was killed, by what it left. */
export type Stage = "nothing" | "first" | "increment" | "sweep" | "confirm" | "at rest"

export const stageOf = (database: Database) =>
  statusOf(database).pipe(
    Effect.map(({ checkpoint }): Stage =>
      Option.match(checkpoint, {
        onNone: () => "nothing",
        onSome: ({ running }) => Option.match(running, { onNone: () => "at rest", onSome: ({ kind }) => kind })
      })
    ),
    // It was killed before it had made the tables.
    Effect.catchIf((error) => error._tag === "SyncError" && error.message.includes("no tables"), () =>
      Effect.succeed<Stage>("nothing"))
  )

/** Ends with a copy that is complete and swept, as the service is now. */
export const settle = Effect.fnUntraced(function*(database: Database) {
  for (const args of [[], ["--sweep", "all", "--allow-missing"]]) {
    const { code, stderr } = yield* sync(database, args)
    assert.strictEqual(code, 0, stderr)
  }
})

/** Fails unless a copy is that of a sync which nothing disturbed. */
export const assertSettled = Effect.fnUntraced(function*(database: Database, undisturbed: Database) {
  yield* settle(database)
  yield* settle(undisturbed)
  const [copy, expected] = [yield* rowsOf(database), yield* rowsOf(undisturbed)]

  assert.isAbove(expected.length, 900)
  assert.deepStrictEqual(copy, expected)
})

/** Kills syncs and sweeps at random moments while punches change, then compares the copy. Counts the stages of the kills. */
export const killed = (database: Database, undisturbed: Database, kills: number, seed: number) =>
  Effect.gen(function*() {
    const random = prng(seed)
    const stages = new Map<Stage, number>()
    let complete = 0
    for (let done = 0; done < kills;) {
      const args = random.pick([[], [], ["--every", "1s"], ["--sweep", "all", "--allow-missing"]])
      const { code, signal, stderr } = yield* sync(database, args, killAfter(random.between(120, 900)))
      assert.isTrue(signal === "SIGKILL" || code === 0, stderr)
      if (signal === "SIGKILL") {
        done++
        const stage = yield* stageOf(database)
        stages.set(stage, (stages.get(stage) ?? 0) + 1)
      } else {
        complete++
        yield* changeSome(random)
      }
      assert.isBelow(complete, 10 * kills, "hardly any run was killed")
    }
    yield* assertSettled(database, undisturbed)
    return stages
  })

export const inService = <A, E>(effect: Effect.Effect<A, E, FakeServer | FakeService | Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(served()))
