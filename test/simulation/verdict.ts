/** Compares the rows of a run with the rows due: every row once, in order, with the values of the service. */
import { Effect, Equal, Option, Result, Schema } from "effect"
import { TimePunch } from "../../src/index.ts"
import { type StoredPunch, toWire } from "../../src/testing/index.ts"
import type { Plan } from "./plan.ts"
import { type Broken, broken, type Outcome, type Row } from "./run.ts"

export const idOf = (row: Row): number | undefined =>
  Result.isSuccess(row) ? row.success.id : Option.getOrUndefined(row.failure.punchId)

const decode = Schema.decodeUnknownResult(TimePunch.Wire)

/** Whether a row is this punch: by its id and, if it was decoded, by the value of every field. */
export const isSame = (row: Row, punch: StoredPunch): boolean =>
  idOf(row) === punch.id &&
  (Result.isFailure(row) ||
    Result.match(decode(toWire(punch)), {
      onFailure: () => false,
      onSuccess: (stored) => Equal.equals(row.success, stored)
    }))

/** Fails on data at rest unless every row due came once, in its order, with its values. */
export const judge = (plan: Plan, { ends, rows }: Outcome): Effect.Effect<void, Broken> => {
  // The client cannot know whether a row that it cannot decode is at an exclusive end, so it emits the row.
  const unreadable = new Set(rows.filter(Result.isFailure).map(idOf))
  const due = plan.due.filter(({ atEnd, punch }) => !atEnd || unreadable.has(punch.id))
  const wrong = rows.findIndex((row, index) => {
    const expected = due[index]
    return expected === undefined || !isSame(row, expected.punch)
  })
  if (wrong === -1 && rows.length === due.length) return Effect.void
  const at = wrong === -1 ? rows.length : wrong
  const excerpt = (ids: ReadonlyArray<number | undefined>) => ids.slice(Math.max(0, at - 2), at + 3).join(" ")
  return broken(
    `${rows.length} rows for ${due.length}, wrong at ${at}: got … ${excerpt(rows.map(idOf))} …, ` +
      `due … ${excerpt(due.map(({ punch }) => punch.id))} …, after ${ends.join(", ")}`
  )
}
