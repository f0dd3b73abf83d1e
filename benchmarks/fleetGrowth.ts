/**
 * What the statements of a fleet cost as its tables grow: a fleet of 10 000 companies with 10 000 turns beside one of 100 000 with a
 * million, in a private PostgreSQL. `node --conditions=effect-time-punches:source benchmarks/fleetGrowth.ts`, in some two minutes.
 */
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { FleetRunner } from "../src/fleet/node/index.ts"
import { readView } from "../src/fleet/node/page/read.ts"
import { makeFleetStore } from "../src/fleet/store/FleetStore.ts"
import { claiming, ending, failing, settings, takeover, throttled } from "../test/fleet/support.ts"
import { cluster } from "../test/support/postgres.ts"
import { median } from "./measure.ts"
import { number, table } from "./report.ts"

/** How often each statement runs. */
const rounds = 20

const sizes = [{ companies: 10_000, turns: 10_000 }, { companies: 100_000, turns: 1_000_000 }] as const

const now = "(extract(epoch from statement_timestamp()) * 1000)::bigint"

/** Companies that are synced each 15 minutes, and their turns of the last hour: each eighth one was throttled. */
const filled = ({ companies, turns }: typeof sizes[number]) => [
  `INSERT INTO fleet_company (company_id, state, phase, every_ms, added_at, next_at, last_ok_at, epoch, starts, failures, tag_count, rows)
  SELECT i, 'active', 'increment', 900000, 0, ${now} + 900000, ${now}, 1000000, 0, 0, 0, 0 FROM generate_series(1, ${companies}) AS i`,
  `INSERT INTO fleet_run
  SELECT 1 + i % ${companies}, i / ${companies}, 'a', ${now} - i % 3600000, ${now} - i % 3600000, 1, 0,
    CASE WHEN i % 8 = 0 THEN 'RateLimited' ELSE 'Complete' END
  FROM generate_series(1, ${turns}) AS i`,
  "VACUUM ANALYZE"
]

const measured = (size: typeof sizes[number]) =>
  Effect.gen(function*() {
    const server = yield* cluster({ max_wal_size: "4GB" })
    return yield* Effect.gen(function*() {
      yield* FleetRunner.migrate
      const sql = yield* SqlClient.SqlClient
      for (const text of filled(size)) yield* sql.unsafe(text)
      const store = yield* makeFleetStore
      const times = new Map<string, Array<number>>()
      const timed = <A>(what: string, self: Effect.Effect<A, SqlError>) =>
        Effect.gen(function*() {
          const from = performance.now()
          const result = yield* self
          times.set(what, [...times.get(what) ?? [], performance.now() - from])
          return result
        })
      for (let round = 0; round < rounds; round++) {
        yield* sql.unsafe(`UPDATE fleet_company SET next_at = 0 WHERE company_id % 100 = ${round}`)
        const claims = yield* timed("a claim of 32", store.claim(claiming("a", { room: 32 })))
        yield* timed("a heartbeat of 32", store.heartbeat(claims.map((claim) => ({ ...claim, isPaged: true }))))
        yield* timed("the search for suspects", store.drain("a", takeover))
        const [complete, failed, ...rest] = claims
        if (complete === undefined || failed === undefined) return yield* Effect.die("nothing was claimed")
        yield* timed("the end of a turn", store.end("a", ending(complete), settings))
        yield* timed("the end of a turn that was throttled", store.end("a", failing(failed, throttled), settings))
        yield* Effect.forEach(rest, (claim) => store.end("a", ending(claim), settings), { discard: true })
        yield* sql.unsafe("DELETE FROM fleet_pause")
        yield* timed(
          "what a process notes of itself",
          store.notePresence("a", { isStart: false, release: "", settings: "{}" })
        )
        yield* timed("the keeper: old minutes, pauses and processes", store.trim)
        yield* timed("the keeper: a clock that was set back", store.correctTimes({ ...settings, takeover }))
        yield* timed("the gauges", store.gauges)
        yield* timed("fleet runners", store.runners)
      }
      const served = { store, name: "a", takeover, workedAt: () => 0, isTurning: Effect.succeed(true) }
      for (let round = 0; round < 3; round++) yield* timed("the page", readView(served))
      return times
    }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(server.url()), maxConnections: 4 })))
  }).pipe(Effect.scoped)

const [small, large] = await Effect.runPromise(Effect.forEach(sizes, measured))
const shown = (times: ReadonlyMap<string, ReadonlyArray<number>> | undefined, what: string) =>
  number(Option.getOrElse(Option.map(Option.fromUndefinedOr(times?.get(what)), median), () => NaN))
process.stdout.write(
  `${
    table(
      ["median ms", ...sizes.map(({ companies, turns }) => `${companies} companies, ${turns} turns`)],
      [...small?.keys() ?? []].map((what) => [what, shown(small, what), shown(large, what)])
    )
  }\n`
)
process.exit(0)
