/** Keeps a table in step with a company: what has changed since the last run, and a second look at recent days. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, DateTime, Effect, Layer, Option, Stream } from "effect"
import { type Company, TimePunches } from "effect-time-punches"
import { app, company } from "./app.ts"
import { PunchTable } from "./sqlite.ts"

/** Clocks differ, and a change may show up late: each run asks for a little more than is new. */
const lookback = { minutes: 10 }

/** Some changes do not move `modified`, such as an edited break; what is older than this does not change any more. */
const reconciled = { days: 14 }

/**
 * What has changed since the last run began. Each run counts from its beginning, not from the latest `modified` that
 * it met: a punch may change behind it while it reads on. A run that broke off goes on at its cursor.
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
    // The service has forgotten the cursor: what it led to is read from the start, into the same rows.
    Stream.catchTag(
      "UnprocessableEntity",
      (error) => error.problem.param === "cursor" ? TimePunches.pages(company, filter) : Stream.fail(error)
    ),
    Stream.runForEach((page) => table.write(company.id, page.items, run.began, { ...run, cursor: page.cursor.next }))
  )
})

/** Every punch of the last days, as it is now. What the table has there and the service has not is gone. */
export const reconcile = Effect.fn("reconcile")(function*(company: Company) {
  const table = yield* PunchTable
  const began = yield* DateTime.now
  const gte = DateTime.subtract(began, reconciled)
  yield* TimePunches.list(company, { clockedIn: { gte }, deleted: "include" }).pipe(
    Stream.runForEachArray((punches) => table.write(company.id, punches, began))
  )
  yield* table.sweep(company.id, gte, began)
})

/** Often the one, now and then the other: `pull` every few minutes, `reconcile` once a night. */
export const sync = (company: Company) => Effect.andThen(pull(company), reconcile(company))

export const main = Effect.gen(function*() {
  const id = yield* company
  yield* sync({ id })
  yield* Console.log(`${(yield* (yield* PunchTable).rows(id)).length} punches in the table`)
})

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.merge(app, PunchTable.layer("punches.db"))))
