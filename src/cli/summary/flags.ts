/** The flags of `time-punches summary`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { sourceFlags } from "../database/source.ts"
import { outputFlags } from "../files/output.ts"
import { filterFlags } from "../flags/filter.ts"
import { csvFlags, formatFlags } from "../flags/form.ts"
import { namesFlag } from "../flags/names.ts"
import { asOf, readWords, rounding, text } from "../flags/values.ts"
import { periodFlags } from "../select/periodFlags.ts"
import { thresholdFlags } from "../select/thresholds.ts"

const groupings = ["location", "user", "role", "department", "day", "week"] as const

/** What a summary sums by. */
export type Grouping = typeof groupings[number]

/** What a summary sums by, from the first key to the last; each once. */
export type Groupings = ReadonlyArray<Grouping>

const by = text(
  "by",
  groupings.join(","),
  "What to sum by, in this order; the clock-in decides the day and the week, by --zone or --zone-file, else in UTC (default: " +
    "location)",
  `some of ${groupings.join(", ")}, each once, joined by commas`,
  (text): Option.Option<Groupings> =>
    Option.filter(readWords(groupings)(text), (each) => new Set(each).size === each.length)
).pipe(Flag.map(Option.getOrElse((): Groupings => ["location"])))

/** The forms of its result. */
export const forms = ["table", "csv", "json"] as const

export const summaryFlags = {
  by,
  ...thresholdFlags,
  asOf,
  rounding,
  ...formatFlags(forms, "table for people; csv and json are exact, without the total"),
  ...csvFlags,
  ...outputFlags,
  names: namesFlag,
  ...sourceFlags,
  ...filterFlags,
  ...periodFlags
}

export type SummaryInput = Command.Command.Config.Infer<typeof summaryFlags>
