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
 * - `autoClockedOut`: the service clocked it out, and no person. Its approval does not clear this.
 * - `wageFar`: its hourly wage is above `maxWage`, or above ten times the median of the people of the period, if five or more
 *   have a wage. Of a person the lowest wage above 0 counts.
 */
export const IssueKind = Schema.Literals([
  "open",
  "unapproved",
  "disputed",
  "overlap",
  "tooLong",
  "anomaly",
  "zeroWage",
  "autoClockedOut",
  "wageFar"
])

export type IssueKind = typeof IssueKind.Type
