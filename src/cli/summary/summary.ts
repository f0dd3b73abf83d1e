/** `time-punches summary`: sums hours, labour cost and tips by location, user, role, department or day. */
import * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { UserId } from "../../Ids.ts"
import * as Labor from "../../payroll/Labor.ts"
import type { MissingZone } from "../../payroll/Period.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { openSource, sourceFlags } from "../database/source.ts"
import { intoOutput, outputFlags } from "../files/output.ts"
import { filterFlags, type FilterInput, toFilter } from "../flags/filter.ts"
import { namesFlag, readNames } from "../flags/names.ts"
import { asOf, csvFlags, csvStyleOf, formatFlags, formatOf, rounding } from "../flags/values.ts"
import { countedPunches } from "../print/format.ts"
import { printError, printWarning } from "../print/messages.ts"
import { printLines, printText, screen } from "../print/output.ts"
import { keptOf, type LocalPeriod, periodFlags, resolvePeriod } from "../select/period.ts"
import { thresholdFlags, thresholdsOf } from "../select/thresholds.ts"
import { by, type Key, makeGrouper, thresholdColumns } from "./groups.ts"
import { csvOf, jsonOf, tableOf } from "./print.ts"

const forms = ["table", "csv", "json"] as const

export const summary = Command.make(
  "summary",
  {
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
  },
  Effect.fnUntraced(
    function*(input) {
      const countsWeeks = Option.isSome(input.weeklyThreshold) || input.by.includes("week")
      const countsDays = countsWeeks || Option.isSome(input.dailyThreshold) || input.by.includes("day")
      const flags = yield* resolvePeriod(input, { countsWeeks, countsDays })
      // Once: the file may be a pipe.
      const names = yield* readNames(flags.names)
      const limits = yield* Effect.fromResult(thresholdsOf(flags))
      const filter = yield* Effect.fromResult(toFilter({ ...flags, clockedIn: readWindow(flags.clockedIn, limits) }))
      const format = yield* Effect.fromResult(formatOf(flags, forms))
      const style = yield* Effect.fromResult(csvStyleOf(flags, format))
      const source = yield* openSource(flags)
      const { idOf, keysOf } = makeGrouper(flags.by, flags.dayRuleOf, Option.getOrUndefined(flags.weekStarts))
      const { groups, open, people } = yield* sumsOf(
        source(filter),
        flags,
        idOf,
        { rounding: flags.rounding, asOf: Option.getOrUndefined(flags.asOf) },
        limits
      )
      const further = { names, overThreshold: thresholdColumns(flags, people) }
      const entries = Array.from(groups, ([id, totals]) => [keysOf(id), totals] as const)
      if (format === "json") yield* printText(jsonOf(flags.by, entries, further))
      else if (format === "csv") yield* printText(csvOf(flags.by, entries, further, style))
      else if (entries.length > 0) yield* printLines(yield* tableOf(flags.by, entries, further, yield* screen))
      if (entries.length === 0) yield* printError("no punch matches")
      if (Option.isSome(flags.weeklyThreshold) && Option.isNone(flags.period)) {
        yield* printWarning("--weekly-threshold: a week that the listed punches cover in part counts with that part")
      }
      const incomplete = HashMap.reduce(groups, 0, (sum, totals) => sum + totals.incomplete)
      if (incomplete > 0) {
        yield* printWarning(
          `The time of ${countedPunches(incomplete)} is unknown and not in the sums` +
            (open > 0 && Option.isNone(flags.asOf) ? "; --as-of counts open ones up to an instant." : ".")
        )
      }
    },
    Effect.onInterrupt(() => printWarning("interrupted: the sums are not complete, and nothing is stored")),
    Effect.scoped,
    intoOutput
  )
).pipe(
  Command.withDescription(
    `Sum the punches of a company.

  net is the time worked without unpaid breaks, in hours and minutes. cost is
  net time at the hourly wage of each punch, rounded to the cent for each
  punch, without tips: an estimate, not a payroll. A threshold adds columns
  with the classes of net: regular, over and, with --double-threshold,
  double. An hour is in one of them. They are for --by user, also with week
  or day, and are figures, not a pay rule.

  From a copy that time-punches copy sync keeps it needs no credential, and says
  how old the copy is.`
  ),
  Command.withShortDescription("Sum punches, as a table with bars"),
  Command.withExamples([
    {
      command: "time-punches summary --by day --zone America/New_York --location-id 301",
      description: "One location, day by day"
    },
    {
      command: "time-punches summary --by user --week 2026-03-02 --week-starts sunday --zone America/New_York",
      description: "Hours of each user in a payroll week"
    },
    {
      command: "time-punches summary --by user --month 2026-03 --zone America/New_York --names names.csv --json",
      description: "A month for a program, with names"
    },
    {
      command: "time-punches summary --by user --week 2026-03-02 --zone-file zones.csv --weekly-threshold 40h " +
        "--daily-threshold 8h",
      description: "Hours over 40 a week and 8 a day, each location by its own clock"
    },
    {
      command: "time-punches summary --by user --last 7d --zone America/New_York --database punches.db",
      description: "The same sums from a copy, without a request"
    }
  ])
)

/** The window of the period, and the days before it in its first week: their time counts towards the threshold. */
const readWindow = (
  clockedIn: FilterInput["clockedIn"],
  limits: Option.Option<Labor.HoursOverThresholdOptions<MissingZone>>
): FilterInput["clockedIn"] => {
  if (Option.isNone(limits) || limits.value.period === undefined) return clockedIn
  const { gte } = Labor.queryWindow({ ...limits.value, period: limits.value.period })
  return { ...clockedIn, gte: Option.map(clockedIn.gte, (start) => DateTime.min(start, gte)) }
}

/** What a summary shows. */
interface SummarySums {
  readonly groups: HashMap.HashMap<Key, Labor.Totals>
  /** The hours of each person; empty without a threshold. */
  readonly people: HashMap.HashMap<UserId, Labor.HoursOverThreshold>
  /** Number of punches without a clock-out. */
  readonly open: number
}

/** Sums the punches of the period by group, and by person if there are limits, in one pass over all punches. */
const sumsOf = Effect.fnUntraced(function*<E, R>(
  pages: Stream.Stream<ReadonlyArray<TimePunch>, E, R>,
  period: LocalPeriod,
  idOf: (punch: TimePunch) => Key,
  options: Labor.LaborOptions,
  limits: Option.Option<Labor.HoursOverThresholdOptions<MissingZone>>
): Effect.fn.Return<SummarySums, E | Labor.SumOverflow | MissingZone, R> {
  const rollup = Labor.rollup(idOf, options)
  let open = 0
  const kept = <E2, R2>(each: Stream.Stream<ReadonlyArray<TimePunch>, E2, R2>) =>
    Stream.flatMap(
      Stream.mapEffect(each, (page) => Effect.fromResult(keptOf(page, period))),
      (punches) => {
        open += punches.filter(({ clockedOut }) => Option.isNone(clockedOut)).length
        return Stream.fromIterable(punches)
      }
    )
  if (Option.isNone(limits)) {
    const groups = yield* Stream.run(kept(pages), rollup)
    return { groups, people: HashMap.empty(), open }
  }
  const hours = Labor.hoursOverThreshold({ ...limits.value, ...options })
  return yield* Effect.gen(function*() {
    // The two read side by side: neither keeps the punches for the other.
    const [one, other] = yield* Stream.broadcastN(pages, { n: 2, capacity: 2 })
    const all = Stream.flatMap(other, (punches) => Stream.fromIterable(punches))
    const [groups, people] = yield* Effect.all([Stream.run(kept(one), rollup), Stream.run(all, hours)], {
      concurrency: 2
    })
    return { groups, people, open }
  }).pipe(Effect.scoped)
})
