/** The database of a copy: its flag, which database that and the settings name, and the connection to it. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import type * as Stdio from "effect/Stdio"
import { hostname, userInfo } from "node:os"
import { follow, openFolderOf } from "../../internal/files/whose.ts"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { type DatabaseTarget, databaseVariable as variable, readTarget, type SqliteTarget } from "../flags/address.ts"
import { asInput, ofFile, warnOfPlanted, warnOnce } from "../flags/file.ts"
import { orDefault } from "../flags/settings.ts"
import { interval, nonBlank, readWhole, text } from "../flags/values.ts"
import { shellWord } from "../print/format.ts"
import type { PostgresOptions } from "./postgres.ts"

/** `--database`, for every subcommand that uses a copy. */
export const databaseFlag = nonBlank(
  "database",
  "FILE|URL",
  "A file of SQLite, or postgres://host/database (default: TIME_PUNCHES_DATABASE_URL)",
  "the name of a file, or a URL of PostgreSQL"
)

/** `--max-age`, for every subcommand that reads a copy. */
export const maxAgeFlag = interval(
  "max-age",
  "Exit with 10 if the last complete sync run of the copy ended longer ago than this, such as 30m",
  "30m"
)

/** A century: no punch is older, and an instant must be in the calendar. */
const mostKept = 36_525

/** `--keep-history`: for how many days a version that was replaced is kept; without it for ever. */
export const keepHistory = (description: string) =>
  text(
    "keep-history",
    "DAYS",
    description,
    `a number of days from 1d to ${mostKept}d, such as 400d`,
    (text) => text.endsWith("d") ? readWhole(text.slice(0, -1), 1, mostKept) : Option.none()
  )

/** Who writes to a database, as closes, payroll files and pauses name them. A container may run as a user without a name. */
export const personOf = (): string => {
  const user = Result.try(() => userInfo().username)
  return `${Result.getOrElse(user, () => `user ${process.getuid?.() ?? "unknown"}`)}@${hostname()}`
}

/** The flag as words of a printed call, which must mean the same database; without the flag the variable names it. */
export const databaseWords = (flag: Option.Option<string>): string =>
  Option.match(flag, { onNone: () => "", onSome: (text) => ` --database ${shellWord(text)}` })

/** The database of the flag, or of the environment; `None` if neither names one. */
export const optionalTargetOf = Effect.fnUntraced(function*(
  flag: Option.Option<string>
): Effect.fn.Return<Option.Option<DatabaseTarget>, CommandFailure | Config.ConfigError> {
  if (Option.isSome(flag)) return Option.some(yield* Effect.fromResult(readTarget(flag.value, "--database")))
  const text = yield* Config.option(Config.NonEmptyString(variable))
  return Option.isNone(text) ? Option.none() : Option.some(yield* Effect.fromResult(readTarget(text.value, variable)))
})

/** The same for a command that needs a database. `why` tells what its copy is for. */
export const targetOf = (flag: Option.Option<string>, command: string, ...why: ReadonlyArray<string>) =>
  Effect.flatMap(optionalTargetOf(flag), (target) =>
    Option.isSome(target)
      ? Effect.succeed(target.value)
      : usage(`${command} needs a database: give --database FILE or set ${variable}`, ...why))

/** The flag; without it, and if no variable names a database, that of the profile. */
export const databaseOrDefault = Effect.fnUntraced(function*(flag: Option.Option<string>) {
  const text = yield* Config.option(Config.NonEmptyString(variable))
  return Option.isSome(text) ? flag : yield* orDefault(flag, "database")
})

/** The target of a command that needs a copy, which the profile may name too. */
export const targetOfCopy = (flag: Option.Option<string>, command: string, ...why: ReadonlyArray<string>) =>
  Effect.flatMap(databaseOrDefault(flag), (database) => targetOf(database, command, ...why))

/** How the connections of a command are. Only a file can be `readonly`: it must exist then. */
interface ConnectionOptions extends PostgresOptions {
  readonly readonly?: boolean
}

/** A client of the database, whose driver is loaded here: no other run pays for it. */
export const layerDatabase = (
  target: DatabaseTarget,
  options: ConnectionOptions = {}
): Layer.Layer<
  SqlClient.SqlClient,
  SqlError.SqlError | Config.ConfigError | CommandFailure | PlatformError.PlatformError,
  FileSystem.FileSystem | Stdio.Stdio
> =>
  Layer.unwrap(
    target._tag === "Sqlite"
      ? sqlite(target, options.readonly ?? false)
      : Effect.map(Effect.promise(() => import("./postgres.ts")), ({ layer }) => layer(target, options))
  )

const sqlite = Effect.fnUntraced(function*({ filename }: SqliteTarget, readonly: boolean) {
  // With what SQLite keeps beside the file.
  const file = (yield* ofFile(filename, () => follow(filename))) ?? filename
  for (const suffix of ["", "-wal", "-journal", "-shm", ".fleet-lock"]) yield* asInput(`${file}${suffix}`)
  yield* warnOfPlanted(file)
  const folder = openFolderOf(filename)
  // Whom the files of such a folder belong to says nothing of what is in them.
  if (folder !== undefined) {
    yield* warnOnce(
      folder,
      `every user of this machine may replace the files in ${
        printable(folder)
      }: keep a database where only its owner may write`
    )
  }
  const NodeSqlite = yield* Effect.promise(() => import("../../sql/node/NodeSqlite.ts"))
  return NodeSqlite.layer({ filename, readonly })
})
