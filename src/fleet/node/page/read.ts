/** Reads the whole fleet for its page, once for all who look. */
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { numberOf, orUndefined, textOrUndefined } from "../../../internal/sql/dialect.ts"
import { statusOf } from "../../store/rows.ts"
import { elapsed } from "../loop.ts"
import type { Served } from "../run.ts"
import type { View, Watched } from "./view.ts"

/** How long a reading may take, in milliseconds. */
const patience = 5000

/** Reads the whole fleet. The lease is held if its heartbeat is fresh. */
export const readView = ({ store, takeover }: Served): Effect.Effect<View, SqlError> =>
  store.withNow((now) =>
    Effect.gen(function*() {
      const { dialect, operator, query, statusColumns } = store
      const rows = yield* query`
        SELECT
          ${statusColumns(now)},
          runner,
          CASE WHEN heartbeat_at >= ${now} - ${dialect.bigint(takeover)} THEN 1 ELSE 0 END AS held
        FROM fleet_company
        ORDER BY company_id`
      const minutes = yield* query`
        SELECT minute, runner, runs, pages, rows, failures
        FROM fleet_minute
        WHERE minute > ${now} / 60000 - 60`
      const [clock] = yield* query`SELECT ${now} AS now`
      const companies: Array<Watched> = []
      for (const [at, row] of rows.entries()) {
        // Heartbeats and claims continue meanwhile.
        if (at % 500 === 499) yield* Effect.yieldNow
        companies.push(
          Object.assign(statusOf(row), { runner: textOrUndefined(row.runner), isInWork: numberOf(row.held) === 1 })
        )
      }
      return {
        at: DateTime.makeUnsafe(numberOf(clock?.now)),
        companies,
        minutes: minutes.map((row) => ({
          minute: Math.floor(numberOf(row.minute)),
          runner: textOrUndefined(row.runner) ?? "",
          runs: orUndefined(row.runs) ?? 0,
          pages: orUndefined(row.pages) ?? 0,
          rows: orUndefined(row.rows) ?? 0,
          failures: orUndefined(row.failures) ?? 0
        })),
        pauses: yield* operator.pauses,
        runners: yield* store.runners
      }
    })
  )

const tooSlow = { _tag: "TooSlow" } as const

/** One reading serves all who ask within `every` milliseconds. A client that leaves does not end it. */
export const shared = <A, E>(read: Effect.Effect<A, E>, every: number) =>
  Effect.map(Effect.scope, (scope) => {
    let last: { readonly at: number; readonly answer: Deferred.Deferred<A, E | typeof tooSlow> } | undefined
    const timed = Effect.timeoutOrElse(read, { duration: patience, orElse: () => Effect.fail(tooSlow) })
    return Effect.gen(function*() {
      const now = yield* elapsed
      if (last !== undefined && (now - last.at < every || !Deferred.isDoneUnsafe(last.answer)))
        return yield* Deferred.await(last.answer)
      const answer = Deferred.makeUnsafe<A, E | typeof tooSlow>()
      last = { at: now, answer }
      yield* Effect.forkIn(Deferred.into(timed, answer), scope)
      return yield* Deferred.await(answer)
    })
  })
