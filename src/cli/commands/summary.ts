/** `time-punches summary`: sums hours, labour cost and tips by location, user, role, department or day. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Cents } from "../../Ids.ts"
import * as Labor from "../../Labor.ts"
import * as Period from "../../Period.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { CommandFailure, exitCode } from "../failure.ts"
import { companyFlags, companyOf, layerClient } from "../flags/connection.ts"
import { filterFlags, toFilter } from "../flags/filter.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { instant, zone } from "../flags/values.ts"
import { countedPunches, formatHours, formatMoney, formatNumber } from "../terminal/format.ts"
import { printError, printLines } from "../terminal/output.ts"
import { makeProgress } from "../terminal/progress.ts"
import { bar, type Column, makeTable } from "../terminal/table.ts"

const groupings = ["location", "user", "role", "department", "day"] as const

type Grouping = typeof groupings[number]

const by = Flag.Literals("by", groupings).pipe(
  Flag.withDescription("What to sum by; a day is the date of the clock-in in --zone (default: location)"),
  Flag.withDefault("location")
)

const rounding = Flag.ChoiceWithValue("rounding", [
  ["half-up", "halfUp"],
  ["half-even", "halfEven"],
  ["down", "down"],
  ["up", "up"]
]).pipe(
  Flag.withDescription("How the cost of each punch is rounded to the cent (default: half-up)"),
  Flag.withDefault("halfUp")
)

export const summary = Command.make(
  "summary",
  {
    by,
    zone,
    asOf: instant("as-of", "Count open punches up to this instant; without it their time is left out"),
    rounding,
    ...companyFlags,
    ...filterFlags,
    pageSize: makePageSizeFlag()
  },
  Effect.fnUntraced(
    function*(flags) {
      const company = yield* companyOf(flags)
      const filter = yield* Effect.fromResult(toFilter(flags))
      const progress = yield* makeProgress({ printsResults: false })
      const pageSize = Option.getOrUndefined(flags.pageSize)

      const groups = yield* TimePunches.pages(company, filter, { pageSize, prefetchPages: 1 }).pipe(
        Stream.tap(({ items }) => progress.add(items.length)),
        Stream.flatMap(({ items }) => Stream.fromIterable(items)),
        Stream.run(Labor.rollup(keyOf(flags.by, flags.zone), {
          rounding: flags.rounding,
          asOf: Option.getOrUndefined(flags.asOf)
        }))
      )
      if (HashMap.isEmpty(groups)) return yield* printError("no punch matches")
      const entries = [...HashMap.entries(groups)]
      yield* printLines(report(flags.by, entries, yield* sumOf(entries)))
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
  Command.provide(layerClient),
  Command.withDescription(
    `Sum the punches of a company.

  net is the time worked without unpaid breaks, in hours and minutes; cost is net time at the hourly wage of each punch,
  rounded to the cent punch by punch, without tips. It is an estimate, not a payroll.`
  ),
  Command.withShortDescription("Sum punches, as a table with bars"),
  Command.withExamples([
    {
      command: "time-punches summary --by day --zone America/New_York --location-id 301",
      description: "One location, day by day"
    },
    {
      command:
        "time-punches summary --by user --clocked-in-gte 2026-03-02T00:00:00Z --clocked-in-lt 2026-03-09T00:00:00Z",
      description: "Hours of each user in a week"
    }
  ])
)

type Key = string | number

const keyOf = (by: Grouping, zone: DateTime.TimeZone): (punch: TimePunch) => Key => {
  switch (by) {
    case "location":
      return (punch) => punch.locationId
    case "user":
      return (punch) => punch.userId
    case "role":
      return (punch) => punch.roleId
    case "department":
      return (punch) => Option.getOrUndefined(punch.departmentId) ?? "none"
    case "day": {
      const dateOf = Period.businessDates(zone)
      return (punch) => dateOf(punch.clockedIn)
    }
  }
}

interface Line {
  readonly key: Key
  readonly totals: Omit<Labor.Totals, "gross" | "paidBreaks" | "unpaidBreaks">
  /** Share of the longest net time, 0 to 1; undefined in the line of totals. */
  readonly share: number | undefined
}

const barCells = 24

const columnsOf = (by: Grouping): ReadonlyArray<Column<Line>> => [
  { title: by === "day" ? "day" : `${by}_id`, cell: ({ key }) => `${key}` },
  { title: "punches", align: "right", cell: ({ totals }) => formatNumber(totals.punches) },
  { title: "incomplete", align: "right", cell: ({ totals }) => formatNumber(totals.incomplete) },
  { title: "net", align: "right", cell: ({ totals }) => formatHours(totals.net) },
  { title: "", cell: ({ share }) => share === undefined ? "" : bar(share, barCells) },
  { title: "cost", align: "right", cell: ({ totals }) => formatMoney(totals.cost) },
  { title: "tips", align: "right", cell: ({ totals }) => formatMoney(totals.tips) }
]

/** Sorts days by date, other groups by net time, longest first. */
const report = (
  by: Grouping,
  entries: ReadonlyArray<readonly [Key, Labor.Totals]>,
  totals: Line["totals"]
): ReadonlyArray<string> => {
  const longest = Math.max(...entries.map(([, { net }]) => Duration.toMillis(net)))
  const lines = entries
    .map(([key, totals]) => ({ key, totals, share: longest === 0 ? 0 : Duration.toMillis(totals.net) / longest }))
    .toSorted((a, b) => (by === "day" ? 0 : b.share - a.share) || (a.key < b.key ? -1 : 1))
  return makeTable(columnsOf(by)).lines([...lines, { key: "total", totals, share: undefined }])
}

/** The total of all groups, which may be no safe integer although that of each group is one. */
const sumOf = Effect.fnUntraced(function*(
  entries: ReadonlyArray<readonly [Key, Labor.Totals]>
): Effect.fn.Return<Line["totals"], CommandFailure> {
  const sum = (f: (totals: Labor.Totals) => number) => entries.reduce((total, [, totals]) => total + f(totals), 0)
  const sums = {
    net: sum((totals) => Duration.toMillis(totals.net)),
    cost: sum((totals) => totals.cost),
    tips: sum((totals) => totals.tips)
  }
  for (const [name, value] of Object.entries(sums)) {
    if (!Number.isSafeInteger(value)) {
      const message = `the sum of ${name} over all groups is no safe integer`
      return yield* new CommandFailure({ message, advice: ["Sum fewer punches at a time."], code: exitCode.data })
    }
  }
  return {
    punches: sum((totals) => totals.punches),
    incomplete: sum((totals) => totals.incomplete),
    anomalous: sum((totals) => totals.anomalous),
    net: Duration.millis(sums.net),
    cost: Cents.make(sums.cost),
    tips: Cents.make(sums.tips)
  }
})
