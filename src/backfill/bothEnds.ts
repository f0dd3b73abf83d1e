/**
 * How many rows to expect between two pages, of which one was read at each end of a range, and where to cut so that the
 * parts expect the same. Only speed depends on this estimate, and only until a window has read a first page: from
 * then on the forecast of that page holds.
 *
 * Ends with about the same rate show an even range: a page on a rush differs from one beside it by tens. Ends that
 * differ more fit one curve: at the distance `x` from the dense end lie `total · (x / length) ^ power` rows, with the rate
 * of the sparse page far off, and the rows of the dense page at its end. The curve counts for no more than
 * `largestTotal` pages, since an end may be a rush that says nothing about the rest; and each end expects more rows
 * near it, since a page within a second hides how dense its end is.
 */

/** `rows` rows within `span` milliseconds. */
export interface End {
  readonly rows: number
  readonly span: number
}

export interface BothEnds {
  /** The last row of the first page. */
  readonly from: number
  /** The first row of the last page. */
  readonly to: number
  readonly first: End
  readonly last: End
  readonly curve: Curve
}

interface Curve {
  readonly isDenseFirst: boolean
  /** From the far edge of the dense page to the near edge of the sparse one. */
  readonly length: number
  readonly power: number
  readonly total: number
}

/** Rows on one instant have no measurable rate. */
const shortestSpan = 30

/** Time clocks count seconds: a page on one second is no denser than one within a second, when rates are compared. */
const second = 1000

/** Rates that differ less are the same. */
const evenRatio = 30

/** Pages: half of this is what a curve of this many pages counts for. */
const largestTotal = 100

/** The share of the rows near an end that are added to the curve. */
const nearShare = 0.5

const rateOf = ({ rows, span }: End): number => rows / span

/** The pages as instants in ascending order, the first before the last. `undefined` if nothing lies between them. */
export const bothEndsOf = (first: ReadonlyArray<number>, last: ReadonlyArray<number>): BothEnds | undefined => {
  const [start, from, to, end] = [first[0], first.at(-1), last[0], last.at(-1)]
  if (start === undefined || from === undefined || to === undefined || end === undefined || to <= from) return undefined
  const endOf = (rows: number, span: number): End => ({ rows, span: Math.max(span, shortestSpan) })
  const [near, far] = [endOf(first.length, from - start), endOf(last.length, end - to)]
  return { from, to, first: near, last: far, curve: curveOf(near, far, to - from) }
}

const curveOf = (first: End, last: End, gap: number): Curve => {
  const isDenseFirst = rateOf(first) > rateOf(last)
  const [dense, sparse] = isDenseFirst ? [first, last] : [last, first]
  const length = dense.span + gap
  const rate = rateOf(sparse)
  const isEven = dense.rows / Math.max(dense.span, second) <= evenRatio * rate
  const power = isEven ? 1 : powerOf(rate * length / dense.rows, dense.span / length)
  return { isDenseFirst, length, power, total: rate * length / power }
}

/** Solves `sparsePages / power · denseShare ^ power = 1`, whose left side falls from `power` 0 to 1. */
const powerOf = (sparsePages: number, denseShare: number): number => {
  let [low, high] = [0, 1]
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2
    if (sparsePages / middle * denseShare ** middle > 1) low = middle
    else high = middle
  }
  return high
}

/** The rows to expect from `from` on, up to `at`. */
const rowsUntil = ({ curve, first, from, last, to }: BothEnds, at: number): number => {
  const { isDenseFirst, length, power, total } = curve
  const [before, after] = [at - from, Math.max(0, to - at)]
  if (power === 1) return total / length * before
  const share = (distance: number) => (Math.max(0, distance) / length) ** power
  const onCurve = isDenseFirst
    ? total * (share(first.span + before) - share(first.span))
    : total * (1 - share(to + last.span - at))
  const pages = total / Math.max(first.rows, last.rows)
  const nearFirst = first.rows * Math.log(1 + before / first.span)
  const nearLast = last.rows * Math.log((last.span + to - from) / (last.span + after))
  return onCurve / (1 + pages / largestTotal) + nearShare * (nearFirst + nearLast)
}

/** The rows to expect from `from` to `to`; neither lies before the end of the first page. */
export const rowsBetween = (ends: BothEnds, from: number, to: number): number =>
  rowsUntil(ends, to) - rowsUntil(ends, from)

/** The instant between `from` and `to` by which `count` rows are expected, counted from `from`. */
export const instantBetween = (ends: BothEnds, from: number, to: number, count: number): number => {
  const wanted = rowsUntil(ends, from) + count
  let [low, high] = [from, to]
  // To the millisecond over thirty thousand years.
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2
    if (rowsUntil(ends, middle) < wanted) low = middle
    else high = middle
  }
  return high
}
