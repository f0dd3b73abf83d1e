/** `time-punches summary`: sums hours, labour cost and tips by location, user, role, department, day or week. */
import type * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { addClasses, type Classes, countsWeeks as needsWeeks, hasOver, noTime } from "../../payroll/hourClasses.ts"
import * as Labor from "../../payroll/Labor.ts"
import type { MissingDayRule } from "../../payroll/Period.ts"
import { addAll } from "../../payroll/running.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { open } from "../database/open.ts"
import { openSource, sourceFlags } from "../database/source.ts"
import { filterFlags, type FilterInput, toFilter } from "../flags/filter.ts"
import { csvFlags, formatFlags } from "../flags/form.ts"
import { namesFlag } from "../flags/names.ts"
import { intoOutput, outputFlags } from "../flags/output.ts"
import { keptOf, type LocalPeriod, periodFlags, resolvePeriod } from "../flags/period.ts"
import { asOf, givenThresholds, makeForgotten, rounding, thresholdFlags } from "../flags/thresholds.ts"
import { countedPunches } from "../print/format.ts"
import { printError, printWarning } from "../print/messages.ts"
import { printCells, printLines, printText, screen } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { by, type Key, limitsOf, makeGrouper, thresholdColumns } from "./groups.ts"
import { csvOf, jsonOf, tableOf } from "./print.ts"

/** The forms of its result. */
const forms = ["table", "csv", "json"] as const

const summaryFlags = {
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

type SummaryInput = Command.Command.Config.Infer<typeof summaryFlags>

export const verb = makeVerb("summary", summaryFlags, (input) => summarize(input), {
  text: `Sum the punches of a company.

  net is the time worked without unpaid breaks, in hours and minutes. cost is
  net time at the hourly wage of each punch, rounded to the cent for each
  punch, without tips: an estimate, not a payroll. A threshold adds columns
  with the classes of net: regular, over and, with --double-threshold or
  --seventh-day, double. An hour is in one of them, in the order in which each
  person worked. The rules are arithmetic, not legal advice.

  From a copy that time-punches copy sync keeps it needs no credential, and says
  how old the copy is.`,
  examples: [
    ["summary --by day --zone America/New_York --location-id 301", "One location, day by day"],
    [
      "summary --by user --week 2026-03-02 --week-starts sunday --zone America/New_York",
      "Hours of each user in a payroll week"
    ],
    [
      "summary --by user --month 2026-03 --zone America/New_York --names names.csv --json",
      "A month for a program, with names"
    ],
    [
      "summary --by user --week 2026-03-02 --zone-file zones.csv --weekly-threshold 40h " +
      "--daily-threshold 8h",
      "Hours over 40 a week and 8 a day, each location by its own clock"
    ],
    [
      "summary --by user --last 7d --zone America/New_York --database punches.db",
      "The same sums from a copy, without a request"
    ]
  ]
})

const summarize = Effect.fnUntraced(
  function*(input: SummaryInput) {
    const thresholds = yield* givenThresholds(input)
    const countsWeeks = needsWeeks(thresholds) || input.by.includes("week")
    const countsDays = countsWeeks || hasOver(thresholds) || input.by.includes("day")
    const flags = yield* resolvePeriod(input, { countsWeeks, countsDays })
    const limits = yield* limitsOf(thresholds, flags)
    const filter = yield* toFilter({ ...flags, clockedIn: readWindow(flags.clockedIn, limits) })
    const { format, names, read, style } = yield* open(flags, forms, openSource(flags))
    const { idOf, keysOf } = makeGrouper(flags.by, flags.dayRuleOf, Option.getOrUndefined(flags.weekStarts))
    const options = { rounding: flags.rounding, asOf: Option.getOrUndefined(flags.asOf) }
    const forgotten = makeForgotten(options.asOf)
    const { classes, groups, openPunches } = yield* sumsOf(
      read(filter),
      flags,
      idOf,
      options,
      limits,
      forgotten.add
    )
    const classesOfKeys = Array.from(classes, ([id, each]) => [keysOf(id), each] as const)
    const added = { names, overThreshold: thresholdColumns(thresholds, classesOfKeys) }
    const entries = groups.map(([id, totals]) => [keysOf(id), totals] as const)
    if (format === "json") yield* printText(jsonOf(flags.by, entries, added))
    else if (format === "csv") yield* printCells(Stream.make(csvOf(flags.by, entries, added, style)))
    else if (entries.length > 0) yield* printLines(yield* tableOf(flags.by, entries, added, yield* screen))
    if (entries.length === 0) yield* printError("no punch matches")
    if (needsWeeks(thresholds) && Option.isNone(flags.period)) {
      const flag = Option.isSome(flags.weeklyThreshold) ? "--weekly-threshold" : "--seventh-day"
      yield* printWarning(`${flag}: a week that the listed punches cover in part counts with that part`)
    }
    yield* forgotten.warn
    const incomplete = groups.reduce((sum, [, totals]) => sum + totals.incomplete, 0)
    if (incomplete > 0) {
      yield* printWarning(
        `The time of ${countedPunches(incomplete)} is unknown and not in the sums` +
          (openPunches > 0 && Option.isNone(flags.asOf)
            ? "; --as-of counts open ones up to an instant, for the current day alone."
            : ".")
      )
    }
  },
  Effect.onInterrupt(() => printWarning("interrupted: the sums are not complete, and nothing is stored")),
  Effect.scoped,
  intoOutput
)

/** The window of the period, and the days before it in its first week: their time counts towards the threshold. */
const readWindow = (
  clockedIn: FilterInput["clockedIn"],
  limits: Option.Option<Labor.HoursOverThresholdOptions<MissingDayRule>>
): FilterInput["clockedIn"] => {
  if (Option.isNone(limits) || limits.value.period === undefined) return clockedIn
  const { gte } = Labor.queryWindow({ ...limits.value, period: limits.value.period })
  return { ...clockedIn, gte: Option.map(clockedIn.gte, (start) => DateTime.min(start, gte)) }
}

/** What a summary shows. */
interface SummarySums {
  readonly groups: ReadonlyArray<readonly [Key, Labor.Totals]>
  /** The classes of each group; empty without a threshold. */
  readonly classes: ReadonlyMap<Key, Classes>
  /** Number of punches without a clock-out. */
  readonly openPunches: number
}

/** Sums the punches of the period by group, and by class if there are limits, in one pass over all punches. */
const sumsOf = Effect.fnUntraced(function*<E, R>(
  pages: Stream.Stream<ReadonlyArray<TimePunch>, E, R>,
  period: LocalPeriod,
  idOf: (punch: TimePunch) => Key,
  options: Labor.LaborOptions,
  limits: Option.Option<Labor.HoursOverThresholdOptions<MissingDayRule>>,
  onKept: (punches: ReadonlyArray<TimePunch>) => void
): Effect.fn.Return<SummarySums, E | Labor.SumOverflow | MissingDayRule, R> {
  const groups = Labor.makeRollup(idOf, options)
  const hours = Option.map(limits, (limits) => Labor.makeClassesBy({ ...limits, ...options }, idOf))
  let openPunches = 0
  yield* Stream.runForEach(pages, (punches) =>
    Effect.fromResult(Result.gen(function*() {
      const kept = yield* keptOf(punches, period)
      openPunches += kept.filter(({ clockedOut }) => Option.isNone(clockedOut)).length
      onKept(kept)
      yield* addAll<Labor.SumOverflow>(groups, kept)
      if (Option.isSome(hours)) yield* addAll<Labor.SumOverflow | MissingDayRule>(hours.value, punches)
    })))
  const classes = new Map<Key, Classes>()
  if (Option.isSome(hours)) {
    hours.value.each((_, id, each) => classes.set(id, addClasses(classes.get(id) ?? noTime, each)))
  }
  return { groups: groups.result(), classes, openPunches }
})
