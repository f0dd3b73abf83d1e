/** A durable workflow: each page is an activity, whose result the engine keeps. A run that was killed continues at its page. */
import { DateTime, Effect, Option, Schema } from "effect"
import { CompanyId, Cursor, ListError, type TimePunch, TimePunches } from "effect-time-punches"
import { Activity, Workflow } from "effect/workflow"

const Progress = Schema.Struct({ count: Schema.Int, next: Schema.OptionFromNullOr(Cursor) })

/** Copies what was clocked in before a day. */
export const CopyPunches = Workflow.make("CopyPunches", {
  payload: { company: CompanyId, before: Schema.DateTimeUtcFromString },
  idempotencyKey: ({ before, company }) => `${company}/${DateTime.formatIso(before)}`,
  success: Schema.Int,
  error: ListError
})

/** `write` must take a page twice: a kill between it and the record of the activity repeats that page. */
export const layerCopy = <R>(write: (punches: ReadonlyArray<TimePunch>) => Effect.Effect<void, never, R>) =>
  CopyPunches.toLayer(Effect.fnUntraced(function*({ before, company }) {
    let [count, cursor]: [number, Cursor | "start"] = [0, "start"]
    for (let at = 1;; at++) {
      const page = yield* Activity.make({
        name: `page ${at}`,
        success: Progress,
        error: ListError,
        execute: Effect.gen(function*() {
          const { cursor: { next }, items } = yield* TimePunches.page(company, { clockedIn: { lt: before } }, {
            cursor
          })
          yield* write(items)
          return { count: items.length, next }
        })
      })
      count += page.count
      if (Option.isNone(page.next)) return count
      cursor = page.next.value
    }
  }))
