/** Connects to the database of a copy. The drivers are loaded where they are needed: no other subcommand pays for them. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import { type CommandFailure, usage } from "../failure.ts"
import { type DatabaseTarget, type PostgresTarget, readTarget } from "../flags/database.ts"

const variable = "TIME_PUNCHES_DATABASE_URL"

/** The database of the flag, or of the environment; `None` where neither names one. */
export const optionalTargetOf = Effect.fnUntraced(function*(
  flag: Option.Option<string>
): Effect.fn.Return<Option.Option<DatabaseTarget>, CommandFailure | Config.ConfigError> {
  if (Option.isSome(flag)) return Option.some(yield* Effect.fromResult(readTarget(flag.value, "--database")))
  const text = yield* Config.option(Config.NonEmptyString(variable))
  return Option.isNone(text) ? Option.none() : Option.some(yield* Effect.fromResult(readTarget(text.value, variable)))
})

/** The same, for a command that needs one. */
export const targetOf = (flag: Option.Option<string>) =>
  Effect.flatMap(optionalTargetOf(flag), (target) =>
    Option.isSome(target)
      ? Effect.succeed(target.value)
      : usage(`no database: give --database FILE or set ${variable}`))

/** A client of the database. With `readonly` a file must exist, and is not created for a name that is misspelt. */
export const layerDatabase = (
  target: DatabaseTarget,
  { readonly = false }: { readonly readonly?: boolean } = {}
): Layer.Layer<
  SqlClient.SqlClient,
  SqlError.SqlError | Config.ConfigError | PlatformError.PlatformError,
  FileSystem.FileSystem
> =>
  Layer.unwrap(
    target._tag === "Sqlite"
      ? Effect.map(
        Effect.promise(() => import("../../sql/node/NodeSqlite.ts")),
        (NodeSqlite) => NodeSqlite.layer({ filename: target.filename, readonly })
      )
      : postgres(target)
  )

const postgres = Effect.fnUntraced(function*(target: PostgresTarget) {
  const PgClient = yield* Effect.promise(() => import("@effect/sql-pg/PgClient"))
  const fs = yield* FileSystem.FileSystem
  const fromEnvironment = yield* Config.option(Config.Redacted("PGPASSWORD"))
  const ca = Option.isNone(target.rootCertificate)
    ? Option.none()
    : Option.some(yield* fs.readFileString(target.rootCertificate.value))
  return PgClient.layer({
    host: target.host,
    port: target.port,
    database: target.database,
    username: Option.getOrUndefined(target.username),
    password: Option.getOrUndefined(Option.orElse(target.password, () => fromEnvironment)),
    ssl: encryption(target, ca),
    applicationName: "time-punches",
    maxConnections: 4
  })
})

/** As PostgreSQL's own clients: `require` encrypts and trusts anyone, unless there is a file of certificates to trust. */
const encryption = ({ host, sslmode }: PostgresTarget, ca: Option.Option<string>) => {
  if (sslmode === "disable") return false
  const trusted = Option.match(ca, { onNone: () => ({}), onSome: (ca) => ({ ca }) })
  if (sslmode === "verify-full") return { ...trusted, servername: host }
  return sslmode === "require" && Option.isNone(ca)
    ? { rejectUnauthorized: false }
    : { ...trusted, checkServerIdentity: () => undefined }
}
