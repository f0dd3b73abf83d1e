/**
 * PostgreSQL for tests: the server of `TIME_PUNCHES_TEST_PG`, or a private cluster in a temporary folder, which ends with the
 * scope. `needs(context, hasPostgres, noPostgres)` skips a test where there is neither; `npm run test:full` fails there.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The programs of the newest PostgreSQL that Debian's packages have installed. */
const programs = Fs.globSync("/usr/lib/postgresql/*/bin/initdb")
  .map((path) => join(path, ".."))
  .toSorted((one, other) => versionOf(other) - versionOf(one))[0]

function versionOf(path: string): number {
  return Number(path.split("/").at(-2))
}

/** The address of a server that is there already. Tests create databases in it. */
const given = process.env["TIME_PUNCHES_TEST_PG"]

/** Whether a private cluster can be started, which a test needs that ends the server. */
export const hasPrograms: boolean = programs !== undefined

export const hasPostgres: boolean = given !== undefined || programs !== undefined

/** Why a test is skipped that needs PostgreSQL. */
export const noPostgres = "no PostgreSQL: set TIME_PUNCHES_TEST_PG, or install it (Debian: apt-get install postgresql)"

/** A private server. Its processes can be ended and started again, which the server of another is spared. */
export interface Cluster {
  /** The address of a database of it. */
  readonly url: (database?: string) => string
  /** The folder of its data. */
  readonly folder: string
  /** Starts the server, and waits until it accepts connections. */
  readonly start: () => Promise<void>
  /** Ends the server: `SIGINT` as an administrator does, which cuts every connection; `SIGQUIT` as a crash does. */
  readonly stop: (signal: "SIGINT" | "SIGQUIT") => Promise<void>
}

/** PostgreSQL does not run as root: any other user will do. */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

const freePort = async (): Promise<number> => {
  const server = Net.createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("the port of a server is not known")
  return address.port
}

/** A new private cluster, not started; `settings` as in `postgresql.conf`, `variables` are those of the server's environment. */
const create = async (
  settings: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>
): Promise<Cluster> => {
  if (programs === undefined) throw new Error(noPostgres)
  const folder = Fs.mkdtempSync(join(tmpdir(), "time-punches-pg-"))
  if (user.uid !== undefined) Fs.chownSync(folder, user.uid, user.gid)
  const env = { LC_ALL: "C", PATH: process.env["PATH"] }
  const create = ["-D", join(folder, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
  execFileSync(join(programs, "initdb"), create, { ...user, env, stdio: "pipe", cwd: folder })
  const port = await freePort()
  // Nothing must outlive the machine: the files need not reach the disk.
  const given = { fsync: "off", listen_addresses: "127.0.0.1", unix_socket_directories: folder, ...settings }
  const options = Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  let server: ChildProcess | undefined
  return {
    url: (database = "postgres") => `postgres://postgres@127.0.0.1:${port}/${database}`,
    folder,
    start: async () => {
      const started = spawn(
        join(programs, "postgres"),
        ["-D", join(folder, "data"), "-p", String(port), ...options],
        { ...user, env: { ...env, ...variables }, cwd: folder, stdio: ["ignore", "ignore", "pipe"] }
      )
      server = started
      let log = ""
      await new Promise<void>((resolve, reject) => {
        started.stderr.on("data", (bytes) => {
          log += String(bytes)
          if (log.includes("ready to accept connections")) resolve()
        })
        started.once("error", reject)
        started.once("exit", () => reject(new Error(`PostgreSQL ended: ${log}`)))
      })
      started.stderr.removeAllListeners("data").resume()
      const end = () => started.kill("SIGQUIT")
      process.once("exit", end)
      started.once("exit", () => process.removeListener("exit", end))
    },
    stop: async (signal) => {
      if (server === undefined || server.exitCode !== null) return
      const ended = once(server, "exit")
      server.kill(signal)
      await ended
    }
  }
}

/** A private cluster that is running; it ends, and its folder is removed, with the scope. */
export const cluster = (
  settings: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, string>> = {}
): Effect.Effect<Cluster, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const made = await create(settings, variables)
      await made.start()
      return made
    }),
    (made) =>
      Effect.promise(async () => {
        await made.stop("SIGINT")
        Fs.rmSync(made.folder, { recursive: true, force: true })
      })
  )

/** The address of an empty database, in the server that is given or in a private cluster. */
export const emptyDatabase: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function*() {
  if (given === undefined) return (yield* cluster()).url()
  const name = `time_punches_test_${randomUUID().replaceAll("-", "")}`
  const asked = (text: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)).pipe(Effect.provide(clientOf(given)), Effect.orDie)
  yield* Effect.acquireRelease(asked(`CREATE DATABASE ${name}`), () => asked(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(given)
  url.pathname = `/${name}`
  return url.href
})

/** The client of a database, or of a schema of it. */
export const clientOf = (url: string, applicationName = "tests", schema?: string) =>
  PgClient.layer({
    url: Redacted.make(url),
    applicationName,
    ...(schema === undefined ? {} : { startupParameters: { search_path: schema } })
  })

/** The client of an empty database, which ends with the layer. */
export const postgresClient = Layer.unwrap(Effect.map(emptyDatabase, (url) => clientOf(url)))

/** A database, whose schemas are as good as databases to a client that names no other. */
export class Schemas extends Context.Service<Schemas, {
  /** A client of an empty schema, another one for each build of the layer. */
  readonly client: Layer.Layer<SqlClient.SqlClient, SqlError.SqlError>
}>()("test/support/Schemas") {
  static readonly layer = Layer.effect(
    Schemas,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      const sql = yield* Effect.map(Layer.build(clientOf(url)), Context.get(SqlClient.SqlClient))
      let schemas = 0
      const client = Layer.unwrap(Effect.suspend(() => {
        const name = `schema_${schemas++}`
        return Effect.as(sql.unsafe(`CREATE SCHEMA ${name}`), clientOf(url, "tests", name))
      }))
      return { client: Layer.fresh(client) }
    })
  )
}
