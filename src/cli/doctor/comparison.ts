/** Compares rows of a copy with what the service shows, both ways. Pure. */
import * as Result from "effect/Result"
import { columns } from "../../sql/dialect/columns.ts"
import type { StoredRow } from "../../sql/rows.ts"
import type { TimePunch } from "../../TimePunch.ts"

/** A punch that differs, and how. */
export interface Difference {
  readonly id: number
  readonly how: "missing in the copy" | "gone in the copy" | "not shown by the service" | "not equal"
}

/** The differences between all rows of a part of the copy and all punches of the same part of the service. */
export const compare = (
  rows: ReadonlyArray<StoredRow>,
  punches: ReadonlyArray<TimePunch>
): ReadonlyArray<Difference> => {
  const shown = new Set<number>(punches.map(({ id }) => id))
  return [
    ...comparePunches(rows, punches),
    ...rows.filter(({ id, isGone }) => !isGone && !shown.has(id)).map(({ id }) => unshown(id))
  ]
}

/** The differences that punches of the service show; `rows` are those of the copy with their ids. */
export const comparePunches = (
  rows: ReadonlyArray<StoredRow>,
  punches: ReadonlyArray<TimePunch>
): ReadonlyArray<Difference> => {
  const stored = new Map(rows.map((row) => [row.id, row]))
  return punches.flatMap((punch): ReadonlyArray<Difference> => {
    const row = stored.get(punch.id)
    if (row === undefined) return [{ id: punch.id, how: "missing in the copy" }]
    if (row.isGone) return [{ id: punch.id, how: "gone in the copy" }]
    const isEqual = Result.isSuccess(row.punch) && isSameRow(row.punch.success, punch)
    return isEqual ? [] : [{ id: punch.id, how: "not equal" }]
  })
}

/** A row that the copy has and the service does not. */
export const unshown = (id: number): Difference => ({ id, how: "not shown by the service" })

/** Whether both have the same values in every column: a database cannot hold every text, and has a changed one instead. */
const isSameRow = (one: TimePunch, other: TimePunch): boolean => columns.every(({ cell }) => cell(one) === cell(other))
