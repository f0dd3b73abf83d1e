/** Starts a runner: settings, tables, locks, then its loops. `FleetRunner` gives it as layers; the command also waits for its end. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { hostname } from "node:os"
import { DatabaseSync } from "node:sqlite"
import type { InvalidRequest } from "../../ApiError.ts"
import { checkCompanions, follow } from "../../internal/files/whose.ts"
import { numberOf } from "../../internal/sql/dialect.ts"
import { isMoved } from "../../internal/sql/failure.ts"
import * as Migrate from "../../internal/sql/migrate.ts"
import { retried, transact } from "../../internal/sql/transaction.ts"
import { invalidRequest } from "../../listing/request.ts"
import { connect, verify } from "../../sql/connection.ts"
import * as NodeSqlite from "../../sql/node/NodeSqlite.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { SyncStore } from "../../sync/SyncStore.ts"
import type { TimePunches } from "../../TimePunches.ts"
import { Fleet, operatorOf } from "../Fleet.ts"
import { alreadyRunning, databaseFailed, type FleetError, storeError, translated } from "../FleetError.ts"
import { type FleetOptions, readSettings, type Settings } from "../Settings.ts"
import { type FleetStore, makeFleetStore } from "../store/FleetStore.ts"
import { engineVersions, migrateEngine, startEngine } from "./engine.ts"
import { makeKeeper } from "./keeper.ts"
import { reasonOf } from "./loop.ts"
import { holdName } from "./name.ts"
import { agree, encodeShared, type Shared, sharedOf, withShared } from "./shared.ts"
import { makeRunner, type Runner } from "./turns.ts"

/** A runner that has started, in the scope. */
export interface Started extends Effect.Success<ReturnType<typeof begin>> {
  /** Fails when another process has taken the name of this one, whose turns have ended then; or its file was removed or replaced. */
  readonly lost: Effect.Effect<never, FleetError>
}

/** What the routes of a page need of a runner. */
export type Served = Started["served"]

/** The least `takeover`, in milliseconds. Tests alone lower it, so that they wait less. */
export const LeastTakeover = Context.Reference<number>("effect-time-punches/fleet/node/LeastTakeover", {
  defaultValue: () => 10_000
})

const settingsOf = (given: FleetOptions): Effect.Effect<Settings, InvalidRequest> =>
  Effect.flatMap(
    LeastTakeover,
    (least) => Effect.fromResult(readSettings(given, least))
  )

/** How one process of many works. */
export interface RunnerOptions extends FleetOptions {
  /** The name of the process, another one for each. A process that starts again has its old name. Default: the host's. */
  readonly name?: string | undefined
}

/** A process of many that may start: its tables are there, and its settings are those of the fleet. */
export interface Prepared {
  readonly store: FleetStore
  readonly name: string
  readonly settings: Settings
  readonly shared: Shared
}

/** `more`: settings that a program has beside those of the fleet, and that all its processes must share too. */
export const prepare = Effect.fnUntraced(function*(
  { name: givenName, ...given }: RunnerOptions,
  more: Pick<Shared, "history" | "requestsPerSecond"> = {}
): Effect.fn.Return<Prepared, FleetError | InvalidRequest, SqlClient.SqlClient> {
  const settings = yield* settingsOf(given)
  const name = givenName ?? hostname()
  if (!/^[\x21-\x7e]{1,200}$/.test(name)) {
    return yield* invalidRequest(undefined, "name", "must be 1 to 200 visible characters without spaces")
  }
  const store = yield* makeFleetStore
  if (!store.dialect.isShared) {
    return yield* invalidRequest(
      undefined,
      "SqlClient",
      "must be one of PostgreSQL: the one process of a file is layerSqlite"
    )
  }
  yield* checkSession(store, settings)
  yield* store.verify
  yield* verifyEngine(store)
  const takeover = yield* Effect.mapError(store.takeoverOf(settings.takeover), storeError("takeover cannot be stored"))
  if (takeover !== settings.takeover) {
    return yield* invalidRequest(
      undefined,
      "takeover",
      `is ${settings.takeover} milliseconds here and ${takeover} in this fleet: it is the same for all its processes. ` +
        "To change it, stop them all and delete the row takeover of the table fleet_setting"
    )
  }
  const shared = yield* Effect.mapError(
    agree(store, name, { ...sharedOf(settings), ...more }),
    storeError("the settings of the fleet cannot be read")
  )
  return { store, name, settings: withShared(settings, shared), shared }
})

/** One process of many, over PostgreSQL. */
export const start = (given: RunnerOptions) => Effect.flatMap(prepare(given), launch)

/** Starts a process that is prepared. */
export const launch = Effect.fnUntraced(function*(
  { name, settings, shared, store }: Prepared
): Effect.fn.Return<Started, FleetError, SyncStore | TimePunches | Scope.Scope> {
  const { takeover } = settings
  const schema = yield* Effect.mapError(store.schema, storeError("the schema of the tables cannot be read"))
  const lost = yield* Deferred.make<never, FleetError>()
  let started: Runner | undefined
  const onLost = Effect.gen(function*() {
    if (started !== undefined) yield* started.lose
    const error = alreadyRunning(
      `another process has taken the name ${name} while this one did not answer the database`
    )
    yield* Effect.logError(error.message)
    yield* Deferred.fail(lost, error)
  })
  yield* Effect.mapError(
    holdName(store.sql, { name, schema, takeover }, onLost),
    storeError("the name cannot be locked")
  )
  const mine = yield* startEngine({ sql: store.sql, name, schema, takeover, keeper: makeKeeper(store, settings) })
  const runner = yield* makeRunner({ store, settings, name, mine, shared: encodeShared(shared) })
  started = runner
  return { ...yield* begin(store, runner, { name, takeover }), lost: Deferred.await(lost) }
})

/** How one process of a file works. */
export interface SqliteRunnerOptions extends FleetOptions {
  /** The file, which is created if there is none; its folder must exist. */
  readonly filename: string
  /** Whether the copy keeps each version that it replaces, as in `SqlStore.layer`. Default `false`. */
  readonly history?: boolean | undefined
}

/** The one process of a file: the runner, and what it opened. */
export const startEmbedded = Effect.fnUntraced(function*(
  { filename, history, ...given }: SqliteRunnerOptions,
  more: Pick<Shared, "requestsPerSecond"> = {}
): Effect.fn.Return<
  Started & { readonly context: Context.Context<Fleet | SyncStore | SqlClient.SqlClient> },
  FleetError | InvalidRequest,
  TimePunches | Scope.Scope
> {
  const settings = yield* settingsOf(given)
  yield* lockFile(filename)
  const open = Layer.build(Layer.fresh(NodeSqlite.layer({ filename }))).pipe(
    Effect.mapError(storeError(`${filename} cannot be opened`))
  )
  const sql = Context.get(yield* open, SqlClient.SqlClient)
  const store = yield* Effect.provideService(makeFleetStore, SqlClient.SqlClient, sql)
  yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
  const stored = yield* Layer.build(SqlStore.layer({ history })).pipe(
    Effect.provideService(SqlClient.SqlClient, sql),
    Effect.mapError((error) => databaseFailed(`the copy cannot be opened: ${error.message}`))
  )
  const runner = yield* Effect.provideContext(
    makeRunner({
      store,
      settings,
      name: embeddedName,
      mine: () => undefined,
      shared: encodeShared({ ...sharedOf(settings), ...more })
    }),
    stored
  )
  yield* Effect.forkScoped(makeKeeper(store, settings))
  const begun = yield* begin(store, runner, { name: embeddedName, takeover: settings.takeover })
  // A snapshot that the program holds on the connection of the fleet would stop everything.
  const context = Context.merge(Context.merge(stored, yield* open), Context.make(Fleet, begun.fleet))
  const look = Effect.catchIf(Effect.asVoid(sql`SELECT 1`), (error) => !isMoved(error), () => Effect.void)
  const lost = Effect.forever(Effect.andThen(look, Effect.sleep(settings.takeover / 5))).pipe(
    translated("the fleet cannot continue")
  )
  return { ...begun, lost, context }
})

/** A container has a new host name at each start: the one process of a file has a name that stays. */
const embeddedName = "embedded"

/** Frees what a predecessor of this name held, tried for ever before the loops begin: it would be counted as failed starts. */
const begin = Effect.fnUntraced(function*(
  store: FleetStore,
  runner: Runner,
  { name, takeover }: { readonly name: string; readonly takeover: number }
) {
  const free = translated("the leases of this name cannot be freed")(
    store.begin(name, !store.dialect.isShared)
  )
  const freed = yield* Effect.exit(free)
  if (Exit.isSuccess(freed)) yield* runner.start
  else {
    const error = Exit.findErrorOption(freed)
    // Such as a file that cannot be written: the process would wait for ever, and look as if it ran.
    if (Option.isSome(error) && !error.value.isRetryable) return yield* error.value
    yield* Effect.logWarning(`the fleet waits for its database: ${reasonOf(freed.cause)}`)
    const again = Effect.retry(Effect.sandbox(free), { schedule: Schedule.spaced("1 second") })
    yield* Effect.forkScoped(Effect.andThen(again, runner.start))
  }
  const { isTurning, workedAt } = runner
  return {
    fleet: operatorOf(store),
    runner,
    /** What a page of it needs. */
    served: { store, name, takeover, workedAt, isTurning }
  }
})

/**
 * Creates the tables of the copy, of the fleet and, in PostgreSQL, of the engine, or brings them to this release, in one
 * transaction. Run it before processes of a new release start. A newer schema is left as it is. Fails with `NotMigrated` if the
 * copy was made before the first publication.
 */
export const migrate: Effect.Effect<void, FleetError | InvalidRequest, SqlClient.SqlClient> = Effect.gen(function*() {
  const store = yield* makeFleetStore
  const copy = yield* Effect.mapError(connect, ({ name }) => databaseFailed(`it is ${name}`))
  const { dialect, sql } = store
  const all = Effect.gen(function*() {
    for (const text of dialect.lock(migrationsLock)) yield* sql.unsafe(text)
    yield* Migrate.migrate(copy, copy.dialect.migrations)
    yield* verify(copy, "newer")
    yield* store.migrate
    if (store.dialect.isShared) yield* Effect.provideService(migrateEngine, SqlClient.SqlClient, sql)
  })
  yield* transact({ dialect, sql }, all).pipe(
    translated("the tables cannot be made")
  )
})

/** "fleet_al", as a number: any other lock of the database is as good. */
const migrationsLock = 7378705536284975468n

const verifyEngine = ({ sql }: FleetStore): Effect.Effect<void, FleetError> =>
  Effect.gen(function*() {
    const { at, needed } = yield* retried(Effect.provideService(engineVersions, SqlClient.SqlClient, sql))
    if (at < needed) {
      return yield* new Migrate.OtherSchema({ title: "the engine", version: at, needed, kind: "older" })
    }
  }).pipe(
    translated("the schema of the engine cannot be read")
  )

/**
 * A session that is frozen within a transaction keeps its row locks, and its companies are passed over in silence: the server must
 * end it. The engine's heartbeats have no zone.
 */
const checkSession = (
  { query }: FleetStore,
  { takeover }: Settings
): Effect.Effect<void, FleetError | InvalidRequest> =>
  Effect.gen(function*() {
    const [row] = yield* translated("the settings of the session cannot be read")(retried(
      query`
        SELECT
          current_setting('TimeZone') AS zone,
          (SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout') AS idle`
    ))
    const idle = numberOf(row?.idle)
    const advice = "give FleetRunner.pgClientOptions to the client"
    if (!(idle > 0 && idle <= takeover)) {
      return yield* invalidRequest(
        undefined,
        "idle_in_transaction_session_timeout",
        `is ${idle} milliseconds, and must be from 1 to takeover (${takeover}): ${advice}`
      )
    }
    if (row?.zone !== "UTC") {
      return yield* invalidRequest(undefined, "timezone", `is ${String(row?.zone)}, and must be UTC: ${advice}`)
    }
  })

/** Locks a file beside the one of the fleet for as long as the scope is open. The kernel frees it when the process ends. */
const lockFile = (filename: string) =>
  Effect.acquireRelease(
    Effect.suspend((): Effect.Effect<DatabaseSync, FleetError | InvalidRequest> => {
      if (filename === "" || filename === ":memory:") {
        return Effect.fail(
          invalidRequest(undefined, "filename", "must name a file: two connections to :memory: are two databases")
        )
      }
      return Effect.try({
        try: () => {
          // Links are followed: two names of one file have one lock.
          const lock = `${follow(filename) ?? filename}.fleet-lock`
          // Others could lock what they can read, and a link would be followed.
          checkCompanions(filename, [], [".fleet-lock"])
          NodeSqlite.createFile(lock)
          checkCompanions(filename, [], [".fleet-lock"])
          checkCompanions(lock)
          const database = new DatabaseSync(lock, { timeout: 0 })
          try {
            database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
          } catch (error) {
            database.close()
            throw error
          }
          return database
        },
        catch: (error) => lockFailed(filename, error)
      })
    }),
    (database) => Effect.sync(() => database.close())
  )

const lockFailed = (filename: string, error: unknown): FleetError => {
  const message = error instanceof Error ? error.message : "the lock failed"
  return /locked/.test(message)
    ? alreadyRunning(`another process runs the fleet of ${filename}`)
    : databaseFailed(`${filename}.fleet-lock cannot be locked: ${message}`)
}
