/** Compares the rows of a run with the rows due: every row once, in order, with the values of the service. */
import { DateTime, Effect, Option, Result } from "effect"
import type { TimePunch } from "../../src/index.ts"
import type { StoredPunch } from "../../src/testing/index.ts"
import type { Plan } from "./plan.ts"
import { type Broken, broken, type Outcome, type Row } from "./run.ts"

export const idOf = (row: Row): number | undefined =>
  Result.isSuccess(row) ? row.success.id : Option.getOrUndefined(row.failure.punchId)

const millis = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined ? undefined : DateTime.makeUnsafe(text).epochMilliseconds

const millisOf = (instant: Option.Option<DateTime.Utc>): number | undefined =>
  Option.getOrUndefined(Option.map(instant, (utc) => utc.epochMilliseconds))

/** The values of a punch as the client emits them, each beside the value of the service. */
const pairs = (punch: TimePunch, stored: StoredPunch): ReadonlyArray<readonly [unknown, unknown]> => [
  [punch.companyId, stored.company_id],
  [punch.userId, stored.user_id],
  [punch.roleId, stored.role_id],
  [punch.locationId, stored.location_id],
  [Option.getOrElse(punch.shiftId, () => 0), stored.shift_id],
  [Option.getOrElse(punch.departmentId, () => 0), stored.department_id ?? 0],
  [punch.clockedIn.epochMilliseconds, millis(stored.clocked_in)],
  [millisOf(punch.clockedOut), millis(stored.clocked_out)],
  [millisOf(punch.modified), millis(stored.modified)],
  [punch.hourlyWage, stored.hourly_wage],
  [punch.tips, stored.tips],
  [punch.approved, stored.approved],
  [punch.notes, stored.notes],
  [Option.getOrUndefined(punch.posType), stored.pos_type ?? undefined],
  [punch.breaks.length, stored.breaks?.length ?? 0],
  [punch.deleted, stored.deleted ?? false]
]

/** Whether a row is this punch: by its id and, if it was decoded, by its values. */
export const isSame = (row: Row, punch: StoredPunch): boolean =>
  idOf(row) === punch.id &&
  (Result.isFailure(row) || pairs(row.success, punch).every(([emitted, stored]) => emitted === stored))

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
