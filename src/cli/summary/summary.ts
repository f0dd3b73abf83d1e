/** `time-punches summary`: sums hours, labour cost and tips by location, user, role, department or day. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { UserId } from "../../Ids.ts"
import * as Labor from "../../payroll/Labor.ts"
import type { MissingZone } from "../../payroll/Period.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { openSource, sourceFlags } from "../copy/source.ts"
import { filterFlags, toFilter } from "../flags/filter.ts"
import { namesFlag, readNames } from "../flags/names.ts"
import { keptOf, periodFlags, resolvePeriod } from "../flags/period.ts"
import { asOf, formatFlags, formatOf, rounding } from "../flags/values.ts"
import { countedPunches } from "../terminal/format.ts"
import { outputWidth, print, printError, printLines } from "../terminal/output.ts"
import { aboveColumns, aboveFlags, groupings, type Key, keyOf, limitsOf } from "./groups.ts"
import { csvOf, jsonOf, tableOf } from "./print.ts"

const by = Flag.Literals("by", groupings).pipe(
  Flag.withDescription(
    "What to sum by; a day is the date of the clock-in by --zone or --zones, else in UTC (default: location)"
  ),
  Flag.withDefault("location")
)

export const summary = Command.make(
  "summary",
  {
    by,
    ...aboveFlags,
    asOf,
    rounding,
    ...formatFlags(["table", "csv", "json"], "table for people; csv and json are exact, without the total"),
    names: namesFlag,
    ...sourceFlags,
    ...filterFlags,
    ...periodFlags
  },
  Effect.fnUntraced(
    function*(input) {
      const flags = yield* resolvePeriod(input, { countsWeeks: Option.isSome(input.above) })
      const limits = yield* Effect.fromResult(limitsOf(flags))
      const filter = yield* Effect.fromResult(toFilter(flags))
      const format = yield* Effect.fromResult(formatOf(flags, "table"))
      const names = Option.getOrUndefined(yield* readNames(flags.names))

      const source = yield* openSource(flags)
      const punches = source(filter).pipe(
        Stream.mapEffect((page) => Effect.fromResult(keptOf(page, flags))),
        Stream.flatMap((kept) => Stream.fromIterable(kept))
      )
      const { groups, people } = yield* sumsOf(
        punches,
        keyOf(flags.by, flags.zoneOf),
        { rounding: flags.rounding, asOf: Option.getOrUndefined(flags.asOf) },
        limits
      )
      const further = { names, above: aboveColumns(flags, people) }
      const entries = [...HashMap.entries(groups)]
      if (format === "json") yield* print(Stream.make(jsonOf(flags.by, entries, further)))
      else if (format === "csv") yield* print(Stream.make(csvOf(flags.by, entries, further)))
      else if (entries.length > 0) yield* printLines(yield* tableOf(flags.by, entries, further, yield* outputWidth))
      if (entries.length === 0) yield* printError("no punch matches")
      if (Option.isSome(flags.above) && Option.isNone(flags.week)) {
        yield* printError("--above: a week that the listed punches cover in part counts with that part")
      }
      const incomplete = HashMap.reduce(groups, 0, (sum, totals) => sum + totals.incomplete)
      if (incomplete > 0) {
        yield* printError(
          `The time of ${countedPunches(incomplete)} is unknown and not in the sums` +
            (Option.isNone(flags.asOf) ? "; --as-of counts open ones up to an instant." : ".")
        )
      }
    },
    Effect.scoped
  )
).pipe(
  Command.withDescription(
    `Sum the punches of a company.

  net is the time worked without unpaid breaks, in hours and minutes. cost is
  net time at the hourly wage of each punch, rounded to the cent for each
  punch, without tips: an estimate, not a payroll. --above and --above-day add
  columns with the part of net above a threshold: figures, not a pay rule.

  With --database it sums the copy that time-punches sync keeps there, without
  a credential, and says how old the copy is.`
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
      command: "time-punches summary --by user --week 2026-03-02 --zones zones.csv --above 40h --above-day 8h",
      description: "Hours above 40 a week and 8 a day, each location by its own clock"
    },
    {
      command: "time-punches summary --by user --last 7d --zone America/New_York --database punches.db",
      description: "The same sums from a copy, without a request"
    }
  ])
)

/** What a summary shows. */
interface Sums {
  readonly groups: HashMap.HashMap<Key, Labor.Totals>
  /** The hours of each person; empty without a threshold. */
  readonly people: HashMap.HashMap<UserId, Labor.HoursOverThreshold>
}

/** Sums the punches by a key, and by person if there are limits, in one pass over the punches. */
const sumsOf = Effect.fnUntraced(function*<E, R>(
  punches: Stream.Stream<TimePunch, E, R>,
  key: (punch: TimePunch) => Key,
  options: Labor.LaborOptions,
  limits: Option.Option<Labor.HoursAboveOptions<MissingZone>>
): Effect.fn.Return<Sums, E | Labor.SumOverflow | MissingZone, R> {
  const rollup = Labor.rollup(key, options)
  if (Option.isNone(limits)) return { groups: yield* Stream.run(punches, rollup), people: HashMap.empty() }
  const hours = Labor.hoursAbove({ ...limits.value, ...options })
  return yield* Effect.gen(function*() {
    // The two read side by side: neither keeps the punches for the other.
    const [one, other] = yield* Stream.broadcastN(punches, { n: 2, capacity: 2 })
    const [groups, people] = yield* Effect.all([Stream.run(one, rollup), Stream.run(other, hours)], { concurrency: 2 })
    return { groups, people }
  }).pipe(Effect.scoped)
})
