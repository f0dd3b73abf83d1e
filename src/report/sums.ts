/** The sums of a location, a person or a day of a report, and of all of them. Pure. */
import * as Duration from "effect/Duration"
import * as Amounts from "../payroll/Amounts.ts"

/** What is summed. */
type Counts = Amounts.Sums

/** Times over thresholds, if there is one. */
export interface Excess {
  readonly over?: Duration.Duration | undefined
  readonly double?: Duration.Duration | undefined
}

/** The sums of a location, a person or a day. */
export interface ReportSums extends Counts, Excess {
  readonly key: number | string
}

/** The longest time first, then by key. */
export const byTime = (one: ReportSums, other: ReportSums): number =>
  Duration.toMillis(other.net) - Duration.toMillis(one.net) || Number(one.key) - Number(other.key)

/** The sums of all rows. */
export const totalOf = (rows: ReadonlyArray<Counts & Excess>): ReportSums => {
  const amounts = Amounts.total(rows)
  const excess = (field: keyof Excess) =>
    rows.some((row) => row[field] !== undefined)
      ? Duration.millis(rows.reduce((total, row) => total + Duration.toMillis(row[field] ?? Duration.zero), 0))
      : undefined
  return {
    ...amounts,
    net: Duration.millis(amounts.net),
    key: "total",
    over: excess("over"),
    double: excess("double")
  }
}

/** The sums of rows by a key. */
export const sumsBy = <Row extends Counts & Excess>(
  rows: ReadonlyArray<Row>,
  keyOf: (row: Row) => number | string
): ReadonlyArray<ReportSums> => {
  const groups = new Map<number | string, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return Array.from(groups, ([key, rows]) => ({ ...totalOf(rows), key }))
}
