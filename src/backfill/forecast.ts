/**
 * How many rows to expect where nobody has looked, and where to cut so that each side has its share. A guess that only
 * speed depends on.
 *
 * Rows come evenly over months, by day and night, in rushes of minutes, all at once. What holds for all of these: how
 * rows have come lately goes on about as long as it has lasted. That it goes on `x` after having lasted `span` has the
 * chance `span / (span + x)`, so `rows` that came in `span` let us expect `rows · ln(1 + x / span)` in the next `x`. Close
 * by, this is what an even spread gives; far off, each doubling of the distance counts the same. A rush is cut within
 * minutes of where it was met, an even range in the middle, and neither has to be told from the other.
 */

/** The rows that came in the `span` milliseconds before `at`. */
export interface Trend {
  readonly at: number
  readonly span: number
  readonly rows: number
}

/** People's clocks count seconds: what came in less came at one moment. */
const moment = 1000

export const trendOf = (rows: number, from: number, at: number): Trend => ({
  rows,
  at,
  span: Math.max(at - from, moment)
})

/** The rows to expect from `from` to `to`, neither of which is before the trend's end. */
export const expected = ({ at, rows, span }: Trend, from: number, to: number): number =>
  rows * Math.log((span + to - at) / (span + from - at))

/** Where the rows to expect from `from` on have come to `count`. */
export const reach = ({ at, rows, span }: Trend, from: number, count: number): number =>
  at - span + (span + from - at) * Math.exp(count / rows)
