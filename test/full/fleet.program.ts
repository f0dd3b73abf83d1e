/**
 * A process of a fleet over PostgreSQL, as a test starts it. It notes each commit of the copy in a file. A test may have it end
 * itself with one company, stop itself before a commit or a statement, compare nothing, wait before each commit, have a wrong
 * clock, or sync one company without the fleet.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Console, Effect, Layer, Metric, Option, Redacted, Schema, Stream } from "effect"
import { type Company, Credentials, RateLimit, TimePunches } from "effect-time-punches"
import { Fleet } from "effect-time-punches/fleet"
import { FleetRunner } from "effect-time-punches/fleet/node"
import { NodeTransport } from "effect-time-punches/node"
import { SqlStore } from "effect-time-punches/sql"
import { Checkpoint, Sync, SyncStore } from "effect-time-punches/sync"
import { defaultOAuthClient } from "effect-time-punches/testing"
import { SqlClient } from "effect/sql"
import { appendFileSync, existsSync } from "node:fs"
import { Socket } from "node:net"

/** What a test has a process do. */
export interface ProgramOptions {
  readonly name: string
  readonly database: string
  readonly service: string
  /** The file for the commits. */
  readonly log: string
  /** The company whose listing ends the process. */
  readonly poison?: number | undefined
  /** The process stops itself, as by SIGSTOP, before this commit of a company: 1 is the claim, 2 the first page. */
  readonly stop?: { readonly company: number; readonly commit: number } | undefined
  /** Whether the store compares no checkpoints. */
  readonly blind?: boolean | undefined
  /** Milliseconds that the store waits before each commit. */
  readonly slow?: number | undefined
  /** A file: the store waits before each commit of rows until it is there. */
  readonly gate?: string | undefined
  /** How far the clock is ahead. */
  readonly hours?: number | undefined
  /** With an hour only the owner of a shard claims its companies. */
  readonly helpAfter?: "1 hour" | undefined
  /** The secret of its client. Default: the right one. */
  readonly secret?: string | undefined
  /** The process stops itself, as by SIGSTOP, before it first sends a statement that contains this text. */
  readonly freeze?: string | undefined
  /** Whether its requests to the service are limited with those of all other processes, in the database. */
  readonly limited?: boolean | undefined
  /** Only syncs this company, as an operator does beside the fleet, and ends. */
  readonly sync?: Company | undefined
}

const read = (text: string): ProgramOptions => JSON.parse(text)
const {
  blind = false,
  database: url,
  freeze,
  gate,
  helpAfter,
  hours = 0,
  limited = false,
  log,
  name,
  poison,
  secret = defaultOAuthClient.clientSecret,
  service,
  slow = 0,
  stop,
  sync
} = read(process.argv[2] ?? "")

const note = (line: object) => appendFileSync(log, `${JSON.stringify({ runner: name, ...line })}\n`)

if (freeze !== undefined) {
  let isDone = false
  const text = Buffer.from(freeze)
  Socket.prototype.write = new Proxy(Socket.prototype.write, {
    apply: (write, socket, args) => {
      const [bytes] = args
      if (!isDone && bytes instanceof Uint8Array && Buffer.from(bytes).includes(text)) {
        isDone = true
        note({ kind: "frozen", at: performance.timeOrigin + performance.now() })
        process.kill(process.pid, "SIGSTOP")
      }
      return Reflect.apply(write, socket, args)
    }
  })
}

const database = PgClient.layer({
  ...FleetRunner.pgClientOptions({ url: Redacted.make(url) }),
  maxConnections: 16
})

const textOf = Schema.encodeSync(Checkpoint.Json)

/** Notes each commit before it and after it: a process that is killed between the two has written, or has not. */
const logged = Layer.effect(
  SyncStore,
  Effect.gen(function*() {
    const store = yield* SyncStore
    const sql = yield* SqlClient.SqlClient
    const commits = new Map<number, number>()
    return SyncStore.of({
      ...store,
      commit: (batch, previous) =>
        Effect.gen(function*() {
          const before = Option.getOrNull(Option.map(previous, textOf))
          const link = { company: batch.companyId, before, after: textOf(batch.checkpoint), rows: batch.punches.length }
          note({ ...link, kind: "intent" })
          const count = (commits.get(batch.companyId) ?? 0) + 1
          commits.set(batch.companyId, count)
          yield* Effect.sleep(slow)
          if (gate !== undefined && batch.punches.length > 0) {
            while (!existsSync(gate)) yield* Effect.sleep("50 millis")
          }
          // A commit whose turn was interrupted is made and noted too.
          return yield* Effect.uninterruptible(Effect.gen(function*() {
            if (stop?.company === batch.companyId && stop.commit === count) {
              note({ ...link, kind: "stopped" })
              process.kill(process.pid, "SIGSTOP")
            }
            if (blind) {
              // As if nothing were compared: the stored checkpoint is what this writer takes it for.
              yield* Effect.orDie(
                sql`UPDATE time_punches_sync SET checkpoint = ${before} WHERE company_id = ${batch.companyId}`
              )
            }
            const result = yield* Effect.result(store.commit(batch, previous))
            const at = yield* Clock.currentTimeMillis
            note({ ...link, kind: result._tag === "Success" ? "done" : result.failure.reason._tag, at })
            return yield* Effect.fromResult(result)
          }))
        })
    })
  })
)

/** Far more requests than a test makes: only what the limit stands on is in their way. */
const shared = Layer.fresh(RateLimit.layerWithStore({ perSecond: 10_000 })).pipe(
  Layer.provide(Fleet.layerRateLimiterStore),
  Layer.provide(database)
)

/** The client, which ends its process where it lists one company. */
const deadly = Layer.effect(
  TimePunches,
  Effect.map(TimePunches, (punches) => ({
    ...punches,
    pages: (...args: Parameters<typeof punches.pages>) => {
      const [company] = args
      return (typeof company === "number" ? company : company.id) === poison
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
      clientSecret: Redacted.make(secret)
    })
  })),
  Layer.provide(limited ? Layer.provide(shared, NodeTransport.layer()) : NodeTransport.layer())
)

const copy = logged.pipe(Layer.provide(SqlStore.layer({ migrate: false })), Layer.provideMerge(database))

const fleet = FleetRunner.layer({ name, helpAfter }).pipe(Layer.provide(copy), Layer.provide(deadly))

const signal = Effect.callback<void>((resume) => {
  process.once("SIGTERM", () => resume(Effect.void))
})

const clock = Effect.map(Clock.Clock, (clock): Clock.Clock => {
  const ahead = hours * 3_600_000
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

/** Notes each refused write that the metric counts, and each time that this process could do nothing. */
const watched = Effect.gen(function*() {
  let seen = 0
  let before = performance.now()
  while (true) {
    const now = performance.now()
    if (now - before > 500)
      note({ kind: "stalled", millis: Math.round(now - before), at: yield* Clock.currentTimeMillis })
    before = now
    const metric = (yield* Metric.snapshot).find(({ id }) => id === "time_punches_fleet_refused_writes")
    const count = metric?.type === "Counter" ? Number(metric.state.count) : 0
    if (count > seen) note({ kind: "counted", count })
    seen = count
    yield* Effect.sleep("50 millis")
  }
})

const served = Effect.andThen(Layer.build(fleet), Effect.andThen(Console.log("runs"), signal))

const once = (company: Company) =>
  Effect.andThen(
    Console.log("runs"),
    // The fleet may win: then it has the rows.
    Effect.ignore(Effect.provide(Sync.run(company, { claim: true }), Layer.merge(copy, deadly)))
  )

await Effect.runPromise(
  Effect.flatMap(
    clock,
    (clock) =>
      Effect.provideService(
        Effect.scoped(Effect.raceFirst(sync === undefined ? served : once(sync), watched)),
        Clock.Clock,
        clock
      )
  )
)
process.exit(0)
