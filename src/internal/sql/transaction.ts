/** Whole transactions, attempted again after locks, deadlocks and lost connections; and snapshots for streams. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { BeginTransaction, type TransactionConnection } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { Database } from "./dialect.ts"
import { isTransient } from "./failure.ts"

/** How long a transaction is attempted. A test gives less, so that it need not wait. */
export class Patience extends Context.Reference<Duration.Duration>("effect-time-punches/internal/sql/Patience", {
  defaultValue: () => Duration.seconds(5)
}) {}

/**
 * Runs a transaction, and again for 5 seconds (`Patience`) if another attempt may succeed. `isOpen` says that the outcome of
 * the last attempt is not known, as of a COMMIT without an answer: the attempt after it finds out.
 */
export const transact = <A, E>(
  database: Database,
  body: Effect.Effect<A, E | SqlError>,
  isOpen?: () => boolean
): Effect.Effect<A, E | SqlError> => retried(begins(database, body), isOpen)

/** The body of a transaction that is on disk once it has returned: what it records is paid, or said to be done. */
export const durably = <A, E, R>(
  { dialect, sql }: Database,
  body: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  dialect.durable === undefined ? body : Effect.andThen(sql.unsafe(dialect.durable), body)

/** Runs a transaction once. */
export const attempted = <A, E>(database: Database, body: Effect.Effect<A, E | SqlError>) =>
  surfaced(begins(database, body))

const begins = <A, E>({ dialect, sql }: Database, body: Effect.Effect<A, E | SqlError>) =>
  saying("a transaction", (acquired) => {
    const transaction = sql.withTransaction(Effect.andThen(acquired, body))
    return dialect.begin === undefined
      ? transaction
      : Effect.provideService(transaction, BeginTransaction, dialect.begin)
  })

/** Warns once if what `use` waits for has not come after 5 seconds: the end of `use`, or `acquired` within it. */
const saying = <A, E, R>(who: string, use: (acquired: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.forkChild(Effect.delay(
      Effect.logWarning(
        `${who} of a copy has waited 5 seconds for a connection: a stream that is read slowly, or a transaction, keeps one until it ends`
      ),
      "5 seconds"
    )),
    (warning) => {
      const acquired = Fiber.interrupt(warning)
      return Effect.ensuring(use(acquired), acquired)
    }
  )

/** A short read, which warns if it waits for its connection. */
export const awaited = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => saying("a read", () => self)

/** Runs what is one statement, or one transaction, and again as `transact` does. */
export const retried = <A, E, R>(
  self: Effect.Effect<A, E | SqlError, R>,
  isOpen: () => boolean = () => false
): Effect.Effect<A, E | SqlError, R> =>
  Effect.gen(function*() {
    const patience = Duration.toNanosUnsafe(yield* Patience)
    const begin = yield* Clock.monotonicTimeNanos
    return yield* Effect.retry(surfaced(self), {
      schedule: pauses,
      while: (error) =>
        isSqlError(error) && (isTransient(error) || isOpen())
          ? Effect.map(Clock.monotonicTimeNanos, (now) => now - begin < patience)
          : false
    })
  })

const pauses = Schedule.min([Schedule.exponential("10 millis"), Schedule.spaced("500 millis")]).pipe(Schedule.jittered)

/** A connection that is lost within a transaction comes as a defect, since its ROLLBACK fails: it is a failure like others. */
const surfaced = <A, E, R>(self: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(self, (cause) => {
    const defects = cause.reasons.flatMap((reason) => Cause.isDieReason(reason) ? [reason.defect] : [])
    const lost = defects.find(isSqlError)
    return lost === undefined || !defects.every(isSqlError) || Cause.hasInterrupts(cause)
      ? Effect.failCause(cause)
      : Effect.fail(lost)
  })

/**
 * Set while the connection of a snapshot is acquired, which only reads: a client with one connection may open another, so that a
 * slow reader does not hold up a writer.
 */
export class ForSnapshot extends Context.Reference<boolean>("effect-time-punches/internal/sql/ForSnapshot", {
  defaultValue: () => false
}) {}

/** The snapshots that may be open at once, for each client by its service, of which its copies have the same. */
const places = new WeakMap<object, Semaphore.Semaphore>()

/** Fewer than the connections of a pool, so that statements and transactions do not wait for readers. */
const placesOf = ({ dialect, sql }: Database): Semaphore.Semaphore => {
  const known = places.get(sql.transactionService)
  if (known !== undefined) return known
  const config = Predicate.hasProperty(sql, "config") ? sql.config : undefined
  const size = Predicate.hasProperty(config, "maxConnections") ? Number(config.maxConnections ?? usualPool) : usualPool
  const made = Semaphore.makeUnsafe(dialect.name === "sqlite" ? mostFiles : Math.max(1, size - 2))
  places.set(sql.transactionService, made)
  return made
}

/** As `PgClient` has it. */
const usualPool = 10

/** Readers of SQLite: each has two files open, and up to 2 MB of pages. */
const mostFiles = 64

/**
 * Runs a stream whose statements all see the database as it was at the first of them. They have a connection to themselves,
 * and hold up no writer. Within a transaction of the caller they are part of that instead, and see what it sees.
 */
export const inSnapshot = <A, E, R>(
  database: Database,
  stream: Stream.Stream<A, E, R>
): Stream.Stream<A, E | SqlError, Exclude<R, TransactionConnection>> =>
  Stream.unwrap(Effect.gen(function*() {
    const { transactionService } = database.sql
    const outer = yield* Effect.serviceOption(transactionService)
    const transaction = Option.isSome(outer) ? outer.value : [yield* retried(begun(database)), 0] as const
    return stream.pipe(
      // A statement that fails has lost the snapshot: to send it again on the same connection is in vain.
      Stream.provideService(Patience, Duration.zero),
      Stream.provideService(transactionService, transaction)
    )
  }))

/** A connection in a transaction that has its snapshot. An attempt that fails leaves none behind. */
const begun = Effect.fnUntraced(function*(database: Database) {
  const { dialect, sql } = database
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* Effect.gen(function*() {
    const acquire = Effect.andThen(placesOf(database).takeScoped(1), sql.reserve)
    const connection = yield* Effect.provideService(saying("a reader", () => acquire), ForSnapshot, true)
    // Before BEGIN, which may be interrupted: without a transaction it does nothing. If it fails, the connection is lost, or
    // the next transaction on it fails.
    yield* Effect.addFinalizer(() => Effect.ignore(connection.executeUnprepared("ROLLBACK", [], undefined)))
    // BEGIN takes no snapshot. The first statement that reads does, and waits for a lock of SQLite.
    for (const text of dialect.beginSnapshot) yield* connection.executeUnprepared(text, [], undefined)
    return connection
  }).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
})
