/** A half-open range of instants, which is what a period is in one zone. */
import type * as DateTime from "effect/DateTime"

/**
 * A half-open range of instants, ready for a filter: `{ clockedIn: interval }`.
 *
 * @since 0.1.0
 */
export interface Interval {
  /** The first instant of the range. */
  readonly gte: DateTime.Utc
  /** The first instant after the range. */
  readonly lt: DateTime.Utc
}
