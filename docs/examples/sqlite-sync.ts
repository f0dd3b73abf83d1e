/** Keeps a copy of the punches of a company in a file of SQLite. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Layer, Stream } from "effect"
import { BusinessDate } from "effect-time-punches"
import { Labor, Period } from "effect-time-punches/payroll"
import { PunchCopy, SqlStore } from "effect-time-punches/sql"
import { NodeSqlite } from "effect-time-punches/sql/node"
import { Sync } from "effect-time-punches/sync"
import { app, company } from "./app.ts"

/** The tables of the copy, in a file. For PostgreSQL provide a `PgClient` instead. */
export const storeIn = (filename: string) => SqlStore.layer().pipe(Layer.provideMerge(NodeSqlite.layer({ filename })))

/** One sync run: everything the first time, then what has changed. Run it on a schedule. */
export const main = Effect.gen(function*() {
  const { punches, unchanged, written } = yield* Sync.run(yield* company)
  yield* Console.log(`${punches} punches read: ${written} written, ${unchanged} unchanged`)
})

/** Once a night: finds what increments cannot see, among the clock-ins of the last 35 days. */
export const nightly = Effect.gen(function*() {
  const gte = DateTime.toUtc(DateTime.subtract(yield* DateTime.now, { days: 35 }))
  return yield* Sync.sweep(yield* company, { window: { gte } })
})

/** What changed in a week since it was closed: each punch, and the difference of each person. Needs a history. */
export const corrections = (closedAt: DateTime.Utc) =>
  Effect.flatMap(company, (id) =>
    PunchCopy.changes(id, {
      dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
      period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09")),
      since: closedAt,
      rounding: "halfUp"
    }))

/** Hours and cost of each person in the last seven days, from the copy: nothing is sent. */
export const lastWeek = Effect.gen(function*() {
  const gte = DateTime.subtract(yield* DateTime.now, { days: 7 })
  return yield* PunchCopy.list(yield* company, { clockedIn: { gte } }).pipe(
    Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" }))
  )
})

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.merge(app, storeIn("punches.db"))))
