/** The lock on the name of a runner: two processes of one name would each take the other's companies for its own. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { alreadyRunning, type FleetError } from "../FleetError.ts"
import { elapsed, makeLoop } from "./loop.ts"

/** What to make of an answer. Pure. `since`: since when the name was found taken without a break. */
export const decideName = (
  now: number,
  answer: "ours" | "taken" | "unknown",
  since: number | undefined,
  takeover: number
): { readonly since: number | undefined; readonly isLost: boolean } => {
  if (answer === "ours") return { since: undefined, isLost: false }
  // A database that is away says nothing. It may be our own session, dead and not yet ended.
  if (answer === "unknown") return { since, isLost: false }
  const from = since ?? now
  return { since: from, isLost: now - from >= takeover + 1000 }
}

/** The session that has the lock, in the scope. */
const makeSession = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, key: string, takeover: number) {
  const outer = yield* Effect.scope
  let held: { readonly connection: Connection; readonly scope: Scope.Closeable } | undefined

  const drop = Effect.suspend(() => {
    const before = held
    held = undefined
    return before === undefined ? Effect.void : Effect.ignore(Scope.close(before.scope, Exit.void))
  })

  /** The connection goes back to the pool: without the lock, and with the timeout of other sessions. */
  const connect = Effect.gen(function*() {
    const scope = yield* Scope.fork(outer)
    return yield* Effect.gen(function*() {
      const connection = yield* sql.reserve
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          Effect.timeout(Effect.interruptible(connection.executeUnprepared(release, [], undefined)), "1 second")
        )
      )
      // The session of a machine that vanished would hold the name for hours.
      yield* connection.executeUnprepared(`SET idle_session_timeout = ${takeover}`, [], undefined)
      return { connection, scope }
    }).pipe(Scope.provide(scope), Effect.onError(() => Scope.close(scope, Exit.void)))
  })

  /** Takes the lock, or asks whether it is held still. */
  const ask = Effect.gen(function*() {
    held ??= yield* connect
    const [row] = yield* held.connection.execute(lock, [key], undefined)
    const isOurs = row?.["ours"] === true
    // Waiting sessions would be as many as there are processes of this name.
    if (!isOurs) yield* drop
    return isOurs ? "ours" as const : "taken" as const
  }).pipe(Effect.tapCause(() => drop))

  return { ask, drop }
})

/**
 * Takes the name, on a separate connection, for as long as the scope is open: fails with `AlreadyRunning` if another process has
 * it for longer than `takeover`. `lost` is run when another process has taken it later, as while this one was frozen.
 */
export const holdName = (
  sql: SqlClient.SqlClient,
  { name, schema, takeover }: {
    readonly name: string
    /** Of the tables of the fleet. */
    readonly schema: string
    readonly takeover: number
  },
  lost: Effect.Effect<void>
): Effect.Effect<void, FleetError | SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    // Made before the loop: it closes after the loop has ended.
    const outer = yield* Scope.fork(yield* Effect.scope)
    const session = yield* Scope.provide(makeSession(sql, keyOf(schema, name), takeover), outer)
    let since: number | undefined
    let isLost = false

    const look = (answer: "ours" | "taken" | "unknown") =>
      Effect.map(elapsed, (now) => {
        const decided = decideName(now, answer, since, takeover)
        since = decided.since
        return decided.isLost
      })

    while (true) {
      const answer = yield* session.ask
      if (answer === "ours") break
      if (yield* look(answer)) {
        return yield* alreadyRunning(`another process of the fleet has the name ${name}: give each its own`)
      }
      yield* Effect.sleep(Math.min(500, takeover / 5))
    }

    const check = Effect.gen(function*() {
      if (isLost) return
      const exit = yield* Effect.exit(session.ask)
      if (yield* look(Exit.isSuccess(exit) ? exit.value : "unknown")) {
        isLost = true
        yield* session.drop
        yield* lost
        return
      }
      if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
    })
    yield* Effect.forkScoped(makeLoop("the lock on the name", takeover / 5, check).run)
  })

/**
 * Locks are of the database, which may have a fleet in each of several schemas. A name has no space. `public` is left out, so that
 * processes of the releases before exclude each other and those of this one.
 */
const keyOf = (schema: string, name: string): string => schema === "public" ? name : `${schema} ${name}`

/** Asked again on the same session it is ours still, and held once more, which ends with the session. */
const lock = "SELECT pg_try_advisory_lock(hashtextextended('effect-time-punches/fleet/' || $1::text, 0)) AS ours"

const release =
  "SELECT pg_advisory_unlock_all(), (SELECT set_config(name, reset_val, false) FROM pg_settings WHERE name = 'idle_session_timeout')"
