/**
 * The client of PostgreSQL: how each of its connections begins, is encrypted and ends. It ends those of a server that has fallen
 * silent; a statement that waits for a lock has no limit.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import type * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Net from "node:net"
import { userInfo } from "node:os"
import { isAnswer } from "../../internal/sql/failure.ts"
import { usage } from "../failure.ts"
import type { PostgresTarget } from "../flags/address.ts"
import { readInput, warnOfWriter } from "../flags/file.ts"
import { formatElapsed } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"

/** How the connections of a command are. */
export interface PostgresOptions {
  /** The most connections. Default 4. */
  readonly connections?: number
  /** What the client needs for what the command does. */
  readonly client?: {
    readonly startupParameters: Readonly<Record<string, string>>
    /** Opens a connection. */
    readonly stream: () => Net.Socket
  }
}

/** How long a connection may take to begin: its handshake, and a statement that needs no lock. In milliseconds, as all here. */
const startLimit = 30_000

/** After this time a warning names a statement without an answer; then once a minute, after a statement on another connection. */
const firstLook = 10_000
const minute = 60_000

/** A client of the database, which connects at the first statement. */
export const layer = (target: PostgresTarget, options: PostgresOptions) =>
  Layer.effect(SqlClient.SqlClient, make(target, options)).pipe(Layer.provide(Reactivity.layer))

const make = Effect.fnUntraced(function*(target: PostgresTarget, { client, connections = 4 }: PostgresOptions) {
  const fromEnvironment = yield* Config.option(Config.Redacted("PGPASSWORD"))
  const password = Option.orElse(target.password, () => fromEnvironment)
  if (Option.isSome(target.rootCertificate)) yield* warnOfWriter(target.rootCertificate.value)
  const ca = Option.isNone(target.rootCertificate)
    ? Option.none()
    : Option.some(new TextDecoder().decode(yield* readInput(target.rootCertificate.value)))
  const run = Effect.runForkWith(yield* Effect.context<Stdio.Stdio>())
  const sockets = new Set<Net.Socket>()
  /** Those that have not answered yet, with what ends their limit. */
  const starting = new Map<Net.Socket, () => void>()
  const stream = () => {
    const { host, port } = target
    // A server that vanished does not answer: without it, a statement that it has received is waited for without end.
    const socket = client?.stream?.() ??
      Net.connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 })
    const timer = setTimeout(() => socket.destroy(silent(startLimit)), startLimit)
    let seen = Buffer.alloc(0)
    const look = (bytes: Buffer) => {
      seen = Buffer.concat([seen.subarray(1 - plainRequest.length), bytes])
      if (!seen.includes(plainRequest)) return
      if (target.isPlain) run(printWarning(plainSent))
      else socket.destroy(plainRefused())
    }
    // Before the driver listens, which answers by itself.
    if (target.sslmode === "disable" && Option.isSome(password)) socket.on("data", look)
    const begun = () => {
      clearTimeout(timer)
      socket.off("data", look)
      starting.delete(socket)
    }
    sockets.add(socket)
    starting.set(socket, begun)
    return socket.on("close", () => {
      begun()
      sockets.delete(socket)
    })
  }
  const settings: PgClient.PgPoolConfig = {
    host: target.host,
    port: target.port,
    database: target.database,
    username: yield* Option.match(target.username, { onNone: () => systemUser, onSome: Effect.succeed }),
    password: Option.getOrUndefined(password),
    ssl: encryption(target, ca),
    applicationName: "time-punches",
    // The limit of the start comes first.
    connectTimeout: 2 * startLimit,
    ...client,
    stream,
    maxConnections: connections
  }
  const waits = new Set<Wait>()
  const begin = Effect.fnUntraced(function*(connection: Connection) {
    const begun = [...starting.values()]
    if (begun.length > 0) yield* connection.executeUnprepared("SELECT 1", [], undefined)
    for (const each of begun) each()
  })
  const acquired = (client: SqlClient.SqlClient) => Effect.tap(client.reserve, begin)
  /** Whether the server answers another connection, if only with a refusal. */
  const answers = Effect.flatMap(PgClient.makeClient(settings), acquired).pipe(
    Effect.as(true),
    Effect.catch((error) => Effect.succeed(isAnswer(error))),
    Effect.provide(Reactivity.layer),
    Effect.scoped
  )
  yield* Effect.forkScoped(watch(waits, answers, (waited) => {
    for (const socket of sockets) socket.destroy(silent(waited))
  }))
  return yield* SqlClient.make({
    acquirer: Effect.map(acquired(yield* PgClient.make(settings)), (connection) => watched(connection, waits)),
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    spanAttributes: [["db.system.name", "postgresql"]],
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
})

/** PostgreSQL answers `ROLLBACK` to the COMMIT of a transaction that a failed statement has ended. */
const commit = (connection: Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    if (!Predicate.hasProperty(result, "command") || result.command !== "ROLLBACK") return Effect.void
    const cause = new Error("COMMIT rolled back an aborted transaction")
    return Effect.fail(
      new SqlError({ reason: new UnknownError({ cause, message: cause.message, operation: "commit" }) })
    )
  })

/** A statement that has no answer yet. */
interface Wait {
  readonly since: number
}

const elapsed = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** The connection, whose statements are in `waits` until they are answered. */
const watched = (connection: Connection, waits: Set<Wait>): Connection => {
  const wait = <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.flatMap(elapsed, (since) => {
      const each = { since }
      waits.add(each)
      return Effect.ensuring(self, Effect.sync(() => waits.delete(each)))
    })
  return {
    execute: (...given) => wait(connection.execute(...given)),
    executeUnprepared: (...given) => wait(connection.executeUnprepared(...given)),
    executeRaw: (...given) => wait(connection.executeRaw(...given)),
    executeValues: (...given) => wait(connection.executeValues(...given)),
    executeValuesUnprepared: (...given) => wait(connection.executeValuesUnprepared(...given)),
    executeStream: (...given) =>
      Stream.transformPull(connection.executeStream(...given), (pull) => Effect.succeed(wait(pull)))
  }
}

/** Tells of the statement that has waited longest, and ends all connections if the server is silent on another one too. */
const watch = (waits: ReadonlySet<Wait>, answers: Effect.Effect<boolean>, end: (waited: number) => void) =>
  Effect.gen(function*() {
    let last: Wait | undefined
    let next = firstLook
    while (true) {
      yield* Effect.sleep("1 second")
      const [oldest] = waits
      if (oldest !== last) next = firstLook
      last = oldest
      if (oldest === undefined || (yield* elapsed) - oldest.since < next) continue
      const isFirst = next === firstLook
      const isAnswering = isFirst || (yield* answers)
      const waited = (yield* elapsed) - oldest.since
      next = Math.floor(waited / minute + 1) * minute
      if (!waits.has(oldest)) continue
      if (!isAnswering) end(waited)
      else {
        const why = isFirst
          ? ""
          : "; it answers other connections, so this one waits for a lock, or for a long statement"
        yield* printWarning(`the database has not answered for ${formatElapsed(waited)}${why}`)
      }
    }
  })

const silent = (millis: number) => new Error(`the database is silent: it has not answered for ${formatElapsed(millis)}`)

/** `AuthenticationCleartextPassword`. */
const plainRequest = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])

const plainSent = "the database asked for the password in plain text, and got it: the connection has no TLS"

const plainRefused = () =>
  Object.assign(
    new Error("the server asks for the password in plain text, over a connection without TLS: it was not sent"),
    {
      advice:
        "Have the server ask for it by SCRAM, or connect with sslmode=verify-full; sslmode=disable in the URL sends it."
    }
  )

/** As PostgreSQL's own clients have it, if the URL names no user. A container may run as a user without a name. */
const systemUser = Config.option(Config.NonEmptyString("USER")).pipe(
  Effect.flatMap(Option.match({ onNone: () => Effect.try(() => userInfo().username), onSome: Effect.succeed })),
  Effect.mapError(() =>
    usage(
      "the address of the database names no user, and the user of this process has no name",
      "Put the user of PostgreSQL into it: postgres://USER@host/database."
    )
  )
)

/** As PostgreSQL's own clients: `require` encrypts and trusts anyone, unless there is a file of certificates to trust. */
const encryption = ({ sslmode }: PostgresTarget, ca: Option.Option<string>) => {
  if (sslmode === "disable") return false
  const trusted = Option.match(ca, { onNone: () => ({}), onSome: (ca) => ({ ca }) })
  // The driver sets the name that a certificate must have: the host, which TLS does not send if it is an IP address.
  if (sslmode === "verify-full") return trusted
  return sslmode === "require" && Option.isNone(ca)
    ? { rejectUnauthorized: false }
    : { ...trusted, checkServerIdentity: () => undefined }
}
