/** Keeps a table equal to the punches of a company: changes since the last run, and a full read of recent days. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, DateTime, Effect, Layer, Option, Stream } from "effect"
import { type Company, TimePunches } from "effect-time-punches"
import { app, company } from "./app.ts"
import { PunchTable } from "./sqlite.ts"

/** Clocks differ, and a change may become visible late: each run overlaps the last one by this much. */
const lookback = { minutes: 10 }

/** Some changes do not move `modified`, such as an edited break. Punches older than this no longer change. */
const reconciled = { days: 14 }

/**
 * Reads what has changed since the last run began. It counts from the start of that run, not from the latest `modified`
 * in it: a punch may change after the run has passed it. A run that failed resumes at its cursor.
 */
export const pull = Effect.fn("pull")(function*(company: Company) {
  const table = yield* PunchTable
  const last = yield* table.progress(company.id)
  const running = Option.filter(last, (progress) => Option.isSome(progress.cursor))
  const run = Option.isSome(running) ? running.value : {
    since: Option.map(last, ({ began }) => DateTime.subtract(began, lookback)),
    began: yield* DateTime.now,
    cursor: Option.none()
  }
  const filter = { modifiedSince: Option.getOrUndefined(run.since), deleted: "include" } as const
  yield* TimePunches.pages(company, filter, { from: run.cursor }).pipe(
    // The service no longer knows the cursor: read again from the start, into the same rows.
    Stream.catchTag(
      "UnprocessableEntity",
      (error) => error.problem.param === "cursor" ? TimePunches.pages(company, filter) : Stream.fail(error)
    ),
    Stream.runForEach((page) => table.write(company.id, page.items, run.began, { ...run, cursor: page.cursor.next }))
  )
})

/** Reads every punch of the last days. Marks as deleted what the table has there and the service has not. */
export const reconcile = Effect.fn("reconcile")(function*(company: Company) {
  const table = yield* PunchTable
  const began = yield* DateTime.now
  const gte = DateTime.subtract(began, reconciled)
  yield* TimePunches.list(company, { clockedIn: { gte }, deleted: "include" }).pipe(
    Stream.runForEachArray((punches) => table.write(company.id, punches, began))
  )
  yield* table.sweep(company.id, gte, began)
})

/** Both in turn. In production, run `pull` every few minutes and `reconcile` once a night. */
export const sync = (company: Company) => Effect.andThen(pull(company), reconcile(company))

export const main = Effect.gen(function*() {
  const id = yield* company
  yield* sync({ id })
  yield* Console.log(`${(yield* (yield* PunchTable).rows(id)).length} punches in the table`)
})

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.merge(app, PunchTable.layer("punches.db"))))
