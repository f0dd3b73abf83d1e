/**
 * A process of a fleet over PostgreSQL, as a test starts it: its name, the database, the service, a file for its commits, and the
 * company that kills it, 0 for none. With `blind` the store does not compare checkpoints;
 * `slow` is how many milliseconds it waits before each commit, and `hours` how far its clock is ahead.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Console, Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { Credentials, TimePunches } from "effect-time-punches"
import { FleetRunner } from "effect-time-punches/fleet/node"
import { NodeTransport } from "effect-time-punches/node"
import { SqlStore } from "effect-time-punches/sql"
import { Checkpoint, SyncStore } from "effect-time-punches/sync"
import { defaultOAuthClient } from "effect-time-punches/testing"
import { SqlClient } from "effect/sql"
import { appendFileSync } from "node:fs"

const [name = "a", url = "", service = "", log = "", poison = "0", blind = "", slow = "0", hours = "0"] = process.argv
  .slice(2)

const database = PgClient.layer({
  url: Redacted.make(url),
  startupParameters: FleetRunner.sessionParameters(),
  maxConnections: 16
})

const textOf = Schema.encodeSync(Checkpoint.text)

/** Notes each commit before it and after it: a process that is killed between the two has written, or has not. */
const logged = Layer.effect(
  SyncStore,
  Effect.gen(function*() {
    const store = yield* SyncStore
    const sql = yield* SqlClient.SqlClient
    const note = (line: object) => appendFileSync(log, `${JSON.stringify(line)}\n`)
    return SyncStore.of({
      ...store,
      commit: (batch, previous) =>
        Effect.gen(function*() {
          const before = Option.getOrNull(Option.map(previous, textOf))
          const link = { company: batch.company, before, after: textOf(batch.checkpoint), rows: batch.punches.length }
          note({ ...link, kind: "intent" })
          // A freeze then finds commits that are about to be made.
          yield* Effect.sleep(Number(slow))
          if (blind !== "") {
            // As if nothing were compared: the stored checkpoint is what this writer takes it for.
            yield* Effect.orDie(
              sql`UPDATE time_punches_sync SET checkpoint = ${before} WHERE company_id = ${batch.company}`
            )
          }
          // A commit whose turn was interrupted is noted too.
          return yield* Effect.uninterruptible(Effect.gen(function*() {
            const result = yield* Effect.result(store.commit(batch, previous))
            const at = yield* Clock.currentTimeMillis
            note({ ...link, kind: result._tag === "Success" ? "done" : result.failure.reason, at })
            return yield* Effect.fromResult(result)
          }))
        })
    })
  })
)

/** The client, which ends its process where it lists one company. */
const deadly = Layer.effect(
  TimePunches,
  Effect.map(TimePunches, (punches) => ({
    ...punches,
    pages: (...args: Parameters<typeof punches.pages>) => {
      const [company] = args
      return `${typeof company === "number" ? company : company.id}` === poison
        ? Stream.unwrap(Effect.sync(() => {
          process.kill(process.pid, "SIGKILL")
          return Stream.never
        }))
        : punches.pages(...args)
    }
  }))
).pipe(
  Layer.provide(TimePunches.layerWith({
    baseUrl: service,
    credentials: Credentials.layerOAuth({
      clientId: defaultOAuthClient.clientId,
      clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
    })
  })),
  Layer.provide(NodeTransport.layer())
)

const fleet = FleetRunner.layer({ name, helpAfter: "3 seconds" }).pipe(
  Layer.provide(logged),
  Layer.provide(SqlStore.layer({ migrate: false })),
  Layer.provide(database),
  Layer.provide(deadly)
)

const signal = Effect.callback<void>((resume) => {
  process.once("SIGTERM", () => resume(Effect.void))
})

const clock = Effect.map(Clock.Clock, (clock): Clock.Clock => {
  const ahead = Number(hours) * 3_600_000
  const millis = () => clock.currentTimeMillisUnsafe() + ahead
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n
  return {
    sleep: (duration) => clock.sleep(duration),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos)
  }
})

const served = Effect.andThen(Layer.build(fleet), Effect.andThen(Console.log("runs"), signal))

await Effect.runPromise(
  Effect.flatMap(clock, (clock) => Effect.provideService(Effect.scoped(served), Clock.Clock, clock))
)
process.exit(0)
