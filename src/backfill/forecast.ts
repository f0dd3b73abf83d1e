/**
 * How many rows to expect where no page was read, and where to cut so that both sides expect the same. Only speed
 * depends on this estimate.
 *
 * Rows arrive evenly over months, by day and night, in rushes of minutes, or all at once. One rule fits all of these: a
 * rate lasts about as long again as it has lasted. After `span` it lasts for another `x` with probability
 * `span / (span + x)`, so `rows` rows in `span` predict `rows · ln(1 + x / span)` rows in the next `x`. Nearby this is
 * an even rate; far off, each doubling of the distance adds the same number. A rush is cut within minutes of its last
 * row, an even range in the middle, and the rule need not know which of them it has.
 */

/** `rows` rows in the `span` milliseconds before `at`. */
export interface Forecast {
  readonly at: number
  readonly span: number
  readonly rows: number
}

/** Time clocks count seconds: rows within one second have no measurable rate. */
const shortestSpan = 1000

export const forecastOf = (rows: number, from: number, at: number): Forecast => ({
  rows,
  at,
  span: Math.max(at - from, shortestSpan)
})

/** The rows to expect from `from` to `to`; neither lies before the forecast's `at`. */
export const expectedRows = ({ at, rows, span }: Forecast, from: number, to: number): number =>
  rows * Math.log((span + to - at) / (span + from - at))

/** The instant by which `count` rows are expected, counted from `from`. */
export const instantAfterRows = ({ at, rows, span }: Forecast, from: number, count: number): number =>
  at - span + (span + from - at) * Math.exp(count / rows)
