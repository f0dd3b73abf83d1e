/** The kinds of what a check finds. */
import * as Schema from "effect/Schema"

/**
 * Why a punch should be looked at.
 *
 * - `open`: not clocked out.
 * - `unapproved`: no manager approved it.
 * - `disputed`: its id is in `disputed`.
 * - `overlap`: it shares time with another punch of the same person. Both have an issue, which names the other.
 * - `tooLong`: from clock-in to clock-out it is longer than `maxDuration`.
 * - `anomaly`: an anomaly of `WorkedTime`, one issue for each; `OpenPunch` is `open`.
 * - `zeroWage`: its hourly wage is 0.
 */
export const IssueKind = Schema.Literals([
  "open",
  "unapproved",
  "disputed",
  "overlap",
  "tooLong",
  "anomaly",
  "zeroWage"
])

export type IssueKind = typeof IssueKind.Type
