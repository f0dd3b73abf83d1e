/** START HERE. The `SqlClient` of `effect/sql` over `node:sqlite`, for one file: a connection, and one more for each snapshot. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, ConnectionError, SqlError, UniqueViolation } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import * as Fs from "node:fs"
import { dirname, resolve } from "node:path"
import { DatabaseSync, type DatabaseSyncOptions, type SQLInputValue, type StatementSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { checkCompanions, follow, hasLog, ownsNothing, takeNames } from "../../internal/files/whose.ts"
import { ForSnapshot } from "../../internal/sql/transaction.ts"

/** How a database is opened. */
export interface NodeSqliteOptions {
  /**
   * The file, which is created with mode 0600 if it does not exist; its folder must exist. A file that exists keeps its mode,
   * which SQLite also gives to the files beside it (`-wal`, `-shm`). `:memory:` is a database that ends with the layer.
   */
  readonly filename: string
  /**
   * Whether the database is only read: the file must exist, and its journal mode stays as it is. The permission to read it is
   * enough, also on a read-only file system, and who does not own it leaves no file beside it; a statement then fails if the
   * file changed since it was opened. Default `false`.
   */
  readonly readonly?: boolean | undefined
}

/**
 * A `SqlClient` over `node:sqlite`. The journal is a write-ahead log, so that other processes read while one writes. A lock
 * of another process is waited for at most 50 ms, since the wait holds up the whole process: retry the transaction.
 * Transactions begin with `BEGIN IMMEDIATE`. A stream over a copy reads from a separate connection.
 * Fails if the file cannot be opened, is not a regular file, or is not a database.
 * Once the file was removed, or another one has its name, each transaction fails: what it would write no one would find.
 * A COMMIT is on disk when it returns (`synchronous = FULL`). Fails if a file beside the database (`-wal`, `-shm`, `-journal`) may
 * be from another user, whose content SQLite would believe.
 */
export const layer = (options: NodeSqliteOptions): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))

const make = Effect.fnUntraced(function*({ filename, readonly = false }: NodeSqliteOptions) {
  const opened = yield* Effect.acquireRelease(
    attempt(filename, "connect", () => readonly ? openToRead(filename) : openToWrite(filename)).pipe(
      // To change the journal needs the file for itself.
      Effect.retry({ schedule: shortWaits, times: 50, while: ({ reason }) => reason._tag === "LockTimeoutError" })
    ),
    ({ database }) => Effect.sync(() => database.close())
  )
  const { database } = opened
  const connection = makeConnection(opened, filename)
  const { acquirer, transactionAcquirer, ...acquirers } = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore: yield* Semaphore.make(1),
    isTransaction: () => database.isTransaction
  })
  // Without a write-ahead log, a reader would hold up the commits of the writer.
  const hasReaders = isFile(filename) && hasWriteAheadLog(database)
  return yield* SqlClient.make({
    ...acquirers,
    acquirer,
    transactionAcquirer: Effect.flatMap(
      ForSnapshot,
      (isSnapshot) => isSnapshot && hasReaders ? openReader(opened, filename) : transactionAcquirer
    ),
    compiler: Statement.makeCompilerSqlite(),
    driver: "node-sqlite",
    spanAttributes: [["db.system.name", "sqlite"]],
    beginTransaction: readonly ? "BEGIN" : "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
})

/** A separate connection to the same file, for a snapshot. */
const openReader = ({ checkNamed }: Opened, filename: string) =>
  Effect.map(
    Effect.acquireRelease(
      attempt(filename, "connect", () => {
        checkNamed()
        const reader = openToRead(filename)
        try {
          checkNamed()
          return reader
        } catch (error) {
          reader.database.close()
          throw error
        }
      }),
      ({ database }) => Effect.sync(() => database.close())
    ),
    (reader) => makeConnection(reader, filename)
  )

interface Opened {
  readonly database: DatabaseSync
  /** Throws if the name of the file no longer names what was opened. */
  readonly checkNamed: () => void
  /** Throws if what was read may be a mix of two states. */
  readonly checkUnchanged: () => void
}

/** A database that a statement has read: to open a file does not read it. */
const open = (path: string | URL, options: DatabaseSyncOptions, statements: string): Opened => {
  if (typeof path !== "string" || !isFile(path)) return openUnchecked(path, options, statements)
  checkCompanions(path)
  const release = takeNames(path, options.readOnly === true)
  try {
    checkCompanions(path)
    return openUnchecked(path, options, statements, (database) =>
      // Only now, since another user may have put one there meanwhile: those that SQLite has open stay what they are.
      checkCompanions(path, hasWriteAheadLog(database) ? ["-wal", "-shm"] : []))
  } finally {
    release()
  }
}

const openUnchecked = (
  path: string | URL,
  options: DatabaseSyncOptions,
  statements: string,
  check?: (database: DatabaseSync) => void
): Opened => {
  const database = new DatabaseSync(path, { ...options, timeout: 50 })
  try {
    database.exec(statements)
    check?.(database)
  } catch (error) {
    if (check === undefined) database.close()
    else closeUnwritten(path, database)
    throw error
  }
  return { database, checkNamed: namedBy(path), checkUnchanged: () => {} }
}

/** The last connection that closes writes the log into the database, also one that was refused; an open reader prevents that. */
const closeUnwritten = (path: string | URL, database: DatabaseSync) => {
  let reader: DatabaseSync | undefined
  try {
    reader = new DatabaseSync(path, { readOnly: true })
    reader.exec(firstRead)
  } catch {
    // What cannot be read has its lock all the same, and the error that is thrown says why.
  }
  database.close()
  reader?.close()
}

/** A file system without shared memory has none. */
const hasWriteAheadLog = (database: DatabaseSync): boolean =>
  database.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal"

/** `SQLITE_READONLY_DBMOVED`. With a write-ahead log SQLite does not look. */
const movedCode = 1032

const namedBy = (path: string | URL) => {
  if (typeof path !== "string" || !isFile(path)) return () => {}
  const file = resolve(path)
  const find = () => Fs.statSync(file, { throwIfNoEntry: false })
  const before = find()
  // Some file systems number no files.
  if (before === undefined || before.ino === 0) return () => {}
  return () => {
    const now = find()
    if (now?.ino === before.ino && now.dev === before.dev) return
    const what = now === undefined ? `the file ${path} was removed` : `another file is now named ${path}`
    throw Object.assign(new Error(`${what}, after this process had opened it`), { errcode: movedCode })
  }
}

const openToWrite = (filename: string): Opened => {
  if (isFile(filename) && !isThere(filename)) createFile(filename)
  return open(filename, {}, firstWrite)
}

/**
 * With `FULL` a COMMIT of a write-ahead log is on disk when it returns; with `NORMAL` a power cut takes a close whose payroll file
 * stays. It cannot change within a transaction, so it holds for every one. macOS needs `fullfsync` for it; others ignore that.
 * The last statement reads, so that SQLite has the files beside the database open.
 */
const firstWrite = [
  "PRAGMA journal_mode = WAL",
  "PRAGMA synchronous = FULL",
  "PRAGMA fullfsync = ON",
  "PRAGMA foreign_keys = ON",
  "PRAGMA schema_version"
].join(";")

/**
 * To read a file with a write-ahead log, SQLite creates `-wal` and `-shm` beside it. If it may not, or they would be of a user
 * who owns none of these files, and there is no log, it need not.
 */
const openToRead = (filename: string): Opened => {
  if (!isFile(filename)) return open(filename, { readOnly: true }, firstRead)
  if (!isThere(filename)) throw new Error(`there is no file ${filename}`)
  checkCompanions(filename)
  if (ownsNothing(filename) && !hasLog(filename)) return openImmutable(filename)
  try {
    return open(filename, { readOnly: true }, firstRead)
  } catch (error) {
    if (!isRefused(error) || hasLog(filename)) throw error
    return openImmutable(filename)
  }
}

/** A file that no process writes. SQLite takes no lock, so each statement checks that this is still true. */
const openImmutable = (filename: string): Opened => {
  const before = Fs.statSync(filename, { bigint: true })
  const url = pathToFileURL(filename)
  url.searchParams.set("immutable", "1")
  return {
    ...open(url, { readOnly: true }, firstRead),
    checkUnchanged: () => {
      const now = Fs.statSync(filename, { bigint: true })
      if (now.ino !== before.ino || now.size !== before.size || now.mtimeNs !== before.mtimeNs) {
        throw new Error(`the file ${filename} was written while it was read: read it again`)
      }
    }
  }
}

const firstRead = "PRAGMA schema_version"

/** `SQLITE_READONLY` and `SQLITE_CANTOPEN`, of which the extended codes have the same low byte. */
const isRefused = (error: unknown): boolean => [8, 14].includes((errorCodeOf(error) ?? 0) & 0xff)

/** Whether the name names a file: others are a database in memory, a temporary one, or a URI. */
const isFile = (filename: string): boolean =>
  filename !== "" && filename !== ":memory:" && !filename.startsWith("file:")

/** Whether there is a file. Anything else that is there is refused: to open a pipe would wait for ever. */
const isThere = (filename: string): boolean => {
  const found = Fs.statSync(filename, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (!found.isFile()) throw new Error(`${filename} is not a regular file`)
  return true
}

/** Creates a file that its owner alone can read, before SQLite would create one that others can. @internal */
export const createFile = (filename: string): void => {
  try {
    Fs.closeSync(Fs.openSync(follow(filename) ?? filename, "wx", 0o600))
  } catch (error) {
    // Another process created the file.
    if (!Predicate.hasProperty(error, "code") || error.code !== "EEXIST") throw error
  }
}

/** Each attempt waits for 50 ms itself. */
const shortWaits = Schedule.jittered(Schedule.spaced("50 millis"))

/** Prepared statements that are kept; the one that was made first makes room. */
const mostStatements = 200

const makeConnection = ({ checkNamed, checkUnchanged, database }: Opened, filename: string): Connection => {
  const executing = <A>(evaluate: () => A) =>
    attempt(filename, "execute", () => {
      // What a transaction has begun, it ends.
      if (!database.isTransaction) checkNamed()
      const done = evaluate()
      checkUnchanged()
      return done
    })
  const statements = new Map<string, StatementSync>()

  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    const [oldest] = statements.keys()
    if (statements.size >= mostStatements && oldest !== undefined) statements.delete(oldest)
    statements.set(sql, statement)
    return statement
  }

  const reading = <A>(statementOf: () => StatementSync, read: (statement: StatementSync) => A) =>
    Effect.withFiber((fiber) =>
      executing(() => {
        const statement = statementOf()
        statement.setReadBigInts(fiber.getRef(SqlClient.SafeIntegers))
        return read(statement)
      })
    )

  const rows = (prepare: (sql: string) => StatementSync): Connection["execute"] => (sql, params, transformRows) =>
    reading(() => prepare(sql), (statement) => {
      const found = statement.all(...bound(params))
      return transformRows === undefined ? found : transformRows(found)
    })

  const values = (prepare: (sql: string) => StatementSync): Connection["executeValues"] => (sql, params) =>
    reading(() => prepare(sql), (statement) => {
      // By place, not by name: two columns may have one name.
      statement.setReturnArrays(true)
      try {
        // The types of the driver know only objects.
        return statement.all(...bound(params)).map((row: unknown) =>
          Array.isArray(row) ? row : Object.values(Object(row))
        )
      } finally {
        // The statement is kept: the next run of it may want objects, also if this one failed.
        statement.setReturnArrays(false)
      }
    })

  return {
    execute: rows(prepared),
    executeUnprepared: rows((sql) => database.prepare(sql)),
    executeValues: values(prepared),
    executeValuesUnprepared: values((sql) => database.prepare(sql)),
    executeRaw: (sql, params) =>
      executing(() => {
        const statement = prepared(sql)
        const values = bound(params)
        return statement.columns().length > 0 ? statement.all(...values) : statement.run(...values)
      }),
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(Effect.map(
        // A separate statement: another run of a shared one would end the iteration.
        executing(() => database.prepare(sql).iterate(...bound(params))),
        (rows) =>
          Stream.paginate(undefined, () =>
            attempt(filename, "execute", () => {
              const chunk: Array<object> = []
              while (chunk.length < 256) {
                const { done, value } = rows.next()
                if (done === true) break
                chunk.push(value)
              }
              checkUnchanged()
              const next = chunk.length < 256 ? Option.none<undefined>() : Option.some(undefined)
              return [transformRows === undefined ? chunk : transformRows(chunk), next] as const
            }))
      ))
  }
}

const bound = (parameters: ReadonlyArray<unknown>): ReadonlyArray<SQLInputValue> =>
  parameters.every(isBindable) ? parameters : parameters.map(bindable)

const isBindable = (value: unknown): value is SQLInputValue =>
  typeof value === "number" || typeof value === "string" || value === null || typeof value === "bigint"

/** What `effect/sql` may pass as a parameter, as SQLite has it. */
const bindable = (value: unknown): SQLInputValue => {
  if (isBindable(value) || value instanceof Uint8Array) return value
  if (value === undefined) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof Date) return value.toISOString()
  throw new TypeError(`SQLite cannot hold a parameter of the type ${typeof value}`)
}

const attempt = <A>(filename: string, operation: string, evaluate: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({ try: evaluate, catch: (cause) => failureOf(cause, operation, filename) })

/** `SQLITE_CONSTRAINT_PRIMARYKEY` and `SQLITE_CONSTRAINT_ROWID`: a key that exists, which is a unique value as any other. */
const keyConflicts: ReadonlyArray<number> = [1555, 2579]

/** The extended code of SQLite, which Node has under a different name. */
const errorCodeOf = (error: unknown): number | undefined =>
  Predicate.hasProperty(error, "errcode") && Predicate.isNumber(error.errcode) ? error.errcode : undefined

/** What the system refuses where SQLite says only that it failed: the file, then its folder. */
const refusalOf = (code: number, filename: string): string => {
  const kind = code & 0xff
  if (kind === 10) return ` (${failedCalls[code] ?? `code ${code}`})`
  if (kind !== 8 && kind !== 14) return ""
  const asked = [[filename, Fs.constants.R_OK], [filename, Fs.constants.W_OK], [
    dirname(filename),
    Fs.constants.W_OK
  ]] as const
  for (const [path, right] of asked) {
    try {
      Fs.accessSync(path, right)
    } catch (error) {
      return ` (${Predicate.isError(error) ? error.message : "refused"})`
    }
  }
  return ""
}

/** The call of the system that failed, by the extended code of `SQLITE_IOERR`. */
const failedCalls: Readonly<Record<number, string>> = {
  266: "reading failed",
  522: "the file is cut",
  778: "writing failed",
  1034: "bringing it to the disk failed",
  1290: "bringing its folder to the disk failed",
  1546: "truncating failed"
}

const failureOf = (error: unknown, operation: string, filename: string): SqlError => {
  const said = Predicate.isError(error) ? error.message : "SQLite failed"
  const code = errorCodeOf(error)
  // What was found of the file itself names it.
  const message = code === undefined || !isFile(filename) || said.includes(filename)
    ? said
    : `${filename}: ${said}${refusalOf(code, filename)}`
  const cause = Object.assign(new Error(message, { cause: error }), { code })
  return new SqlError({
    reason: code === undefined && operation === "connect"
      ? new ConnectionError({ cause, message, operation })
      : code !== undefined && keyConflicts.includes(code)
      ? new UniqueViolation({ cause, message, operation, constraint: said.split(": ")[1] ?? "unknown" })
      : classifySqliteError(cause, { message, operation })
  })
}
