/** The sums of a location, a person or a day of a report, and of all of them. Pure. */
import * as Duration from "effect/Duration"

/** What is summed. Times over a threshold are those of people, if there is a threshold. */
interface Counts {
  readonly punches: number
  readonly incomplete: number
  readonly net: Duration.Duration
  readonly overWeekly?: Duration.Duration | undefined
  readonly overDaily?: Duration.Duration | undefined
  readonly cost: number
  readonly tips: number
}

/** The sums of a location, a person or a day. */
export interface ReportSums extends Counts {
  readonly key: number | string
}

/** The longest time first, then by key. */
export const byTime = (one: ReportSums, other: ReportSums): number =>
  Duration.toMillis(other.net) - Duration.toMillis(one.net) || Number(one.key) - Number(other.key)

/** The sums of all rows. */
export const totalOf = (rows: ReadonlyArray<Counts>): ReportSums => {
  const sum = (value: (row: Counts) => number) => rows.reduce((total, row) => total + value(row), 0)
  const millis = (value: (row: Counts) => Duration.Duration | undefined) =>
    Duration.millis(sum((row) => Duration.toMillis(value(row) ?? Duration.zero)))
  return {
    key: "total",
    punches: sum(({ punches }) => punches),
    incomplete: sum(({ incomplete }) => incomplete),
    net: millis(({ net }) => net),
    overWeekly: millis(({ overWeekly }) => overWeekly),
    overDaily: millis(({ overDaily }) => overDaily),
    cost: sum(({ cost }) => cost),
    tips: sum(({ tips }) => tips)
  }
}

/** The sums of rows by a key, without times over a threshold: these are of people. */
export const sumsBy = <Row extends Counts>(
  rows: ReadonlyArray<Row>,
  keyOf: (row: Row) => number | string
): ReadonlyArray<ReportSums> => {
  const groups = new Map<number | string, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return Array.from(groups, ([key, rows]) => ({ ...totalOf(rows), key, overWeekly: undefined, overDaily: undefined }))
}
