/** The kinds of what keeps a period from being closed. */
import * as Schema from "effect/Schema"
import { IssueKind } from "../payroll/IssueKind.ts"

/** What keeps a period from being closed: a kind of `PeriodCheck`, or one of the whole period. */
export const Blocker = Schema.Literals([
  // Disputes are not in a copy.
  ...IssueKind.pick([
    "open",
    "unapproved",
    "overlap",
    "tooLong",
    "anomaly",
    "zeroWage",
    "autoClockedOut",
    "wageFar"
  ]).literals,
  // No close has time before this one and behind another, and it was not accepted yet.
  "gap",
  // The last complete pass began before the end of the period.
  "stale",
  // No punch is in the period.
  "empty",
  // The close begins at the end of the one before, less than 48 hours from its own beginning.
  "edge",
  // The copy may have punches that were deleted.
  "deletionsUnseen",
  // An old version of the interface answered, so the amounts of the copy may be in whole units.
  "version",
  // A field that this release does not know takes away by its name.
  "unknownMark"
])

export type Blocker = typeof Blocker.Type
