/** The time worked in a punch, net of its unpaid breaks, and the anomalies of the punch. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { openWord } from "../internal/wire/schema.ts"
import type { Break, TimePunch } from "../TimePunch.ts"
import type { MillisInterval } from "./DayRule.ts"
import { type Checks, makeOrThrow, must, optional } from "./options.ts"

/**
 * Something odd about a punch: a fact and never an error. It depends on the punch alone, except for
 * `AsOfBeforeClockIn`.
 *
 * - `OpenPunch`: not clocked out yet.
 * - `AsOfBeforeClockIn`: the punch is open and `asOf` lies before its clock-in; no durations.
 * - `NegativeSpan`: clocked out before clocked in; no durations.
 * - `ZeroLength`: clocked in and out in the same instant.
 * - `BreakOutsidePunch`: a break begins before the clock-in, or begins or ends after the clock-out; it is clipped.
 * - `BreaksOverlap`: two breaks share time; it counts once.
 * - `NegativeBreak`: a break ends before it begins; it counts nothing.
 * - `OpenBreakInClosedPunch`: a break has no end, but the punch has; the break ends with the punch.
 * - `NothingPaid`: clocked out after clocked in, and unpaid breaks cover all of it.
 */
export const Anomaly = Schema.Literals([
  "OpenPunch",
  "AsOfBeforeClockIn",
  "NegativeSpan",
  "ZeroLength",
  "BreakOutsidePunch",
  "BreaksOverlap",
  "NegativeBreak",
  "OpenBreakInClosedPunch",
  "NothingPaid"
])
export type Anomaly = typeof Anomaly.Type

/**
 * The length of a punch and of its breaks, to the millisecond.
 *
 * Laws: `net + unpaidBreaks = gross`, `paidBreaks <= net`, and none is negative.
 */
export class Durations extends Schema.Opaque<Durations>()(Schema.Struct({
  /** Time from clock-in to clock-out. */
  gross: Schema.DurationFromMillis,
  /** Time in paid breaks, without what an unpaid break covers. Part of `net`. */
  paidBreaks: Schema.DurationFromMillis,
  /** Time in unpaid breaks. */
  unpaidBreaks: Schema.DurationFromMillis,
  /** Paid time: `gross` without `unpaidBreaks`. */
  net: Schema.DurationFromMillis
})) {}

/** The measurements of a punch. */
export class WorkedTime extends Schema.Opaque<WorkedTime>()(Schema.Struct({
  /**
   * `None` if they are unknown: the punch is open and `asOf` is absent, or the punch ends before it begins. A missing
   * clock-out never passes for no work.
   */
  durations: Schema.OptionFromNullOr(Durations),
  /** Whether the punch has no clock-out. */
  open: Schema.Boolean,
  /** The anomalies of the punch, each at most once, in the order of `Anomaly`. */
  anomalies: Schema.Array(openWord(Anomaly))
})) {}

/** What is measured and priced of a punch. */
export interface Measured extends Pick<TimePunch, "clockedIn" | "clockedOut" | "hourlyWage"> {
  /** Its breaks, also the deleted ones. */
  readonly breaks: ReadonlyArray<Pick<Break, "in" | "out" | "paid" | "deleted">>
}

/** How a punch is measured. */
export interface WorkedTimeOptions {
  /** Stands in for the clock-out of an open punch, and for the end of its open breaks. Default: none. */
  readonly asOf?: DateTime.DateTime | undefined
}

/** @internal */
export const measureChecks: Checks<WorkedTimeOptions> = { asOf: optional(must(DateTime.isDateTime, "a DateTime")) }

const requireMeasure = makeOrThrow(measureChecks)

/**
 * Measures a punch. Breaks are clipped to it and united, so that no instant counts twice: an instant in both a paid and
 * an unpaid break is unpaid, so a paid break never changes `net`. A deleted break counts nowhere, and makes no anomaly. `asOf` does
 * not affect a closed punch.
 *
 * Laws: the order of the breaks does not matter, and moving the punch in time, with its breaks and `asOf`, changes
 * nothing.
 *
 * **Example** (Hours of each punch)
 *
 * ```ts
 * import { Duration, Option, Stream } from "effect"
 * import { CompanyId, TimePunches } from "effect-time-punches"
 * import { WorkedTime } from "effect-time-punches/payroll"
 *
 * // None for an open punch: its hours are not known yet.
 * export const hours = TimePunches.list(CompanyId.make(7)).pipe(
 *   Stream.map((punch) => Option.map(WorkedTime.measure(punch).durations, ({ net }) => Duration.toHours(net)))
 * )
 * ```
 */
export const measure = (punch: TimePunch, options?: WorkedTimeOptions): WorkedTime => {
  if (options !== undefined) requireMeasure(options)
  const { anomalies, open, times } = measureMillis(punch, options)
  return { durations: times === undefined ? Option.none() : Option.some(durationsOf(times)), open, anomalies }
}

/** `Durations` in milliseconds. */
interface Times {
  readonly gross: number
  readonly paidBreaks: number
  readonly unpaidBreaks: number
  readonly net: number
}

/**
 * `measure` in milliseconds, for sums: the `Duration`s of a punch cost more than its arithmetic. `times` is `undefined` where
 * `durations` is none. @internal
 */
export const measureMillis = (punch: Measured, options?: WorkedTimeOptions) => {
  const start = punch.clockedIn.epochMilliseconds
  const out = epochOf(punch.clockedOut)
  const end = out ?? options?.asOf?.epochMilliseconds
  const spans = spansOf(punch, out)
  const times = end === undefined || end < start ? undefined : timesOf(spans, start, end)
  return { times, open: out === undefined, anomalies: anomaliesOf(spans, start, out, end, times) }
}

/** A break in epoch milliseconds. One without an end counts as endless, since it is clipped to the punch. */
interface Span {
  readonly start: number
  readonly end: number
  readonly paid: boolean
  readonly open: boolean
}

const epochOf = (instant: Option.Option<DateTime.Utc>): number | undefined =>
  Option.isSome(instant) ? instant.value.epochMilliseconds : undefined

const spanOf = (pause: Measured["breaks"][number], clockedOut: number | undefined): Span => {
  const start = pause.in.epochMilliseconds
  const out = epochOf(pause.out)
  // An open break that begins after the clock-out has no length, not a negative one.
  const end = out ?? Math.max(start, clockedOut ?? Number.POSITIVE_INFINITY)
  return { start, end, paid: pause.paid, open: out === undefined }
}

/** The breaks of a punch that count: all but the deleted ones. @internal */
export const breaksOf = ({ breaks }: Pick<Measured, "breaks">): Measured["breaks"] =>
  breaks.some(({ deleted }) => deleted) ? breaks.filter(({ deleted }) => !deleted) : breaks

const noSpans: ReadonlyArray<Span> = []

/** The breaks that count, sorted by their start. */
const spansOf = (punch: Measured, clockedOut: number | undefined): ReadonlyArray<Span> =>
  punch.breaks.length === 0
    ? noSpans
    : breaksOf(punch).map((pause) => spanOf(pause, clockedOut)).toSorted((a, b) => a.start - b.start)

/** Visits what the spans, or those that are unpaid, have of `[from, to)`: each instant once, in order. They are sorted by start. */
const visitCovered = (
  spans: ReadonlyArray<Span>,
  from: number,
  to: number,
  isUnpaid: boolean,
  visit: (start: number, end: number) => void
): void => {
  let reached = from
  for (const span of spans) {
    if (isUnpaid && span.paid) continue
    const start = Math.max(span.start, reached)
    const end = Math.min(span.end, to)
    if (end <= start) continue
    visit(start, end)
    reached = end
  }
}

const covered = (spans: ReadonlyArray<Span>, from: number, to: number, isUnpaid: boolean): number => {
  let total = 0
  visitCovered(spans, from, to, isUnpaid, (start, end) => (total += end - start))
  return total
}

/** The parts of a punch that are paid, in order. Law: they add up to `net`; none if that is unknown. @internal */
export const paidParts = (punch: TimePunch, options?: WorkedTimeOptions): ReadonlyArray<MillisInterval> => {
  const out = epochOf(punch.clockedOut)
  const to = out ?? options?.asOf?.epochMilliseconds
  if (to === undefined) return []
  const parts: Array<MillisInterval> = []
  let from = punch.clockedIn.epochMilliseconds
  visitCovered(spansOf(punch, out), from, to, true, (start, end) => {
    if (from < start) parts.push({ from, to: start })
    from = end
  })
  if (from < to) parts.push({ from, to })
  return parts
}

const timesOf = (spans: ReadonlyArray<Span>, start: number, end: number): Times => {
  const unpaid = covered(spans, start, end, true)
  return {
    gross: end - start,
    paidBreaks: covered(spans, start, end, false) - unpaid,
    unpaidBreaks: unpaid,
    net: end - start - unpaid
  }
}

const durationsOf = ({ gross, net, paidBreaks, unpaidBreaks }: Times): Durations => ({
  gross: Duration.millis(gross),
  paidBreaks: Duration.millis(paidBreaks),
  unpaidBreaks: Duration.millis(unpaidBreaks),
  net: Duration.millis(net)
})

/** In the order of `Anomaly`. */
const anomaliesOf = (
  spans: ReadonlyArray<Span>,
  start: number,
  out: number | undefined,
  end: number | undefined,
  times: Times | undefined
): ReadonlyArray<Anomaly> => {
  const found: Array<Anomaly> = []
  const negative = out !== undefined && out < start
  if (out === undefined) found.push("OpenPunch")
  if (out === undefined && end !== undefined && end < start) found.push("AsOfBeforeClockIn")
  if (negative) found.push("NegativeSpan")
  if (out === start) found.push("ZeroLength")
  if (spans.length === 0) return found
  // A punch of negative span contains nothing, so no break is outside of it.
  if (!negative && spans.some((span) => isOutside(span, start, out ?? Number.POSITIVE_INFINITY))) {
    found.push("BreakOutsidePunch")
  }
  if (overlap(spans)) found.push("BreaksOverlap")
  if (spans.some((span) => span.end < span.start)) found.push("NegativeBreak")
  if (out !== undefined && spans.some((span) => span.open)) found.push("OpenBreakInClosedPunch")
  if (out !== undefined && out > start && times?.net === 0) found.push("NothingPaid")
  return found
}

const isOutside = (span: Span, start: number, out: number): boolean =>
  span.start < start || span.start > out || span.end > out

/** Whether two of the spans, which are sorted by their start, share time. A span without length shares none. */
const overlap = (spans: ReadonlyArray<Span>): boolean => {
  let reached = Number.NEGATIVE_INFINITY
  for (const span of spans) {
    if (span.end <= span.start) continue
    if (span.start < reached) return true
    reached = span.end
  }
  return false
}
