/**
 * Effect's cluster engine, which spreads the shards over the runners that live and keeps one keeper. It decides who is first with
 * a company, never who may: without it, runners help each other after `helpAfter`. The only file that names `effect/cluster`.
 */
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as ShardId from "effect/cluster/ShardId"
import { layer as layerSharding, Sharding } from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Singleton from "effect/cluster/Singleton"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { shards } from "../store/statements.ts"
import { reasonOf } from "./loop.ts"

/** Prefix of the engine's tables, for ever. */
const prefix = "fleet_cluster"
/**
 * The engine makes the keys of its locks from its prefix, and locks are of the database, which may have a fleet in each of several
 * schemas: the schema is part of the prefix, and qualifies the tables. `public` is left out, so that processes of the releases before
 * still share the shards with those of this one; so is a schema with a dot, which would be taken for two names.
 */
const prefixIn = (schema: string): string =>
  schema === "public" || schema.includes(".") ? prefix : `${schema}.${prefix}`
const migrationsTable = `${prefix}_runner_migrations`
const group = "default"

/** The shards of the fleet as the engine has them. */
const ids = Array.from({ length: shards }, (_, shard) => [shard, ShardId.make(group, shard + 1)] as const)

/** How long a layer that failed is left alone, in milliseconds. */
const rebuildAfter = 60_000

/**
 * Runs the engine in the background of the scope, and gives the shards that this runner owns at the moment. A layer that fails is
 * built again each minute: meanwhile the runner owns none.
 */
export const startEngine = (options: {
  readonly sql: SqlClient.SqlClient
  readonly name: string
  /** Of the tables of the fleet. */
  readonly schema: string
  /** In milliseconds. */
  readonly takeover: number
  readonly keeper: Effect.Effect<never>
}): Effect.Effect<() => ReadonlyArray<number>, never, Scope.Scope> =>
  Effect.gen(function*() {
    let sharding: Sharding["Service"] | undefined
    const level = yield* References.MinimumLogLevel
    const keeper = Effect.provideService(options.keeper, References.MinimumLogLevel, level)
    const layer = Singleton.make("FleetKeeper", keeper).pipe(
      Layer.provideMerge(layerSharding),
      Layer.provide([
        Runners.layerNoop,
        RunnerHealth.layerNoop,
        SqlRunnerStorage.layerStorage({ prefix: prefixIn(options.schema) })
      ]),
      Layer.provide([configOf(options), MessageStorage.layerNoop]),
      Layer.provide(Layer.succeed(SqlClient.SqlClient, options.sql))
    )
    const built = Effect.scoped(Effect.gen(function*() {
      // The engine says of each shard what it could not do while the database is away.
      const context = yield* Effect.provideService(Layer.build(layer), References.MinimumLogLevel, "None")
      sharding = yield* Effect.provideContext(Sharding, context)
      return yield* Effect.never
    })).pipe(
      Effect.ensuring(Effect.sync(() => {
        sharding = undefined
      })),
      Effect.catchCause((cause) =>
        Effect.logWarning(`the engine of the fleet fails, and is built again in a minute: ${reasonOf(cause)}`)
      )
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(built, Effect.sleep(rebuildAfter))))
    const mine = () => {
      const now = sharding
      return now === undefined ? [] : ids.flatMap(([shard, id]) => now.hasShardId(id) ? [shard] : [])
    }
    const warn = Effect.suspend(() =>
      mine().length > 0
        ? Effect.void
        : Effect.logWarning(
          "the engine of the fleet gives this process no companies: it helps with those that are late"
        )
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(rebuildAfter), warn)))
    return mine
  })

/** What differs from the defaults of the engine. The rest is of entities, which it has none of. */
const configOf = ({ name, takeover }: { readonly name: string; readonly takeover: number }) =>
  ShardingConfig.layer({
    runnerAddress: Option.some(RunnerAddress.make(name, 1)),
    availableShardGroups: [group],
    assignedShardGroups: [group],
    shardsPerGroup: shards,
    shardLockRefreshInterval: Duration.millis(takeover / 5),
    shardLockExpiration: Duration.millis(takeover),
    // One query each. A second would cost an idle runner 0.2 queries a second more, beside a target of at most 4.
    refreshAssignmentsInterval: Duration.millis(1250),
    // A deploy starts several runners at once: each would move shards otherwise.
    runnerJoinDebounce: Duration.seconds(3),
    simulateRemoteSerialization: false
  })

const loader = SqlRunnerStorage.migrations({ prefix })

/** Brings the engine's tables to this release's. */
export const migrateEngine: Effect.Effect<void, SqlError | Migrator.MigrationError, SqlClient.SqlClient> = Effect
  .asVoid(
    Migrator.make({})({ loader, table: migrationsTable })
  )

/** The greatest migration of the engine's tables, and the one that this release needs. The engine itself checks nothing. */
export const engineVersions = Effect.gen(function*() {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const needed = Math.max(...(yield* loader).map(([id]) => id))
  const found = yield* sql`SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass(${migrationsTable}::text)`
  if (found.length === 0) return { at: 0, needed }
  const [row] = yield* sql<{ readonly version: unknown }>`
    SELECT coalesce(max(migration_id), 0) AS version
    FROM ${sql(migrationsTable)}`
  return { at: Number(row?.version), needed }
})
