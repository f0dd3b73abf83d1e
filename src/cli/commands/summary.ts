/** `time-punches summary`: hours, labour cost and tips by location, user, role, department or day, with bars. */
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
import { companyFlags, companyOf, layerClient } from "../flags/connection.ts"
import { filterFlags, toFilter } from "../flags/filter.ts"
import { pageSizeFlag } from "../flags/paging.ts"
import { instant, zone } from "../flags/values.ts"
import { printLines, tell } from "../terminal/output.ts"
import { countedPunches, makeProgress, number } from "../terminal/progress.ts"
import { bar, type Column, hours, makeTable, money } from "../terminal/table.ts"

const by = Flag.Literals("by", ["location", "user", "role", "department", "day"]).pipe(
  Flag.withDescription("What to sum up by; a day is that of the clock-in in --zone (default: location)"),
  Flag.withDefault("location")
)

const rounding = Flag.ChoiceWithValue("rounding", [
  ["half-up", "halfUp"],
  ["half-even", "halfEven"],
  ["down", "down"],
  ["up", "up"]
]).pipe(
  Flag.withDescription("What becomes of a fraction of a cent, punch by punch (default: half-up)"),
  Flag.withDefault("halfUp")
)

type By = "location" | "user" | "role" | "department" | "day"

export const summary = Command.make(
  "summary",
  {
    by,
    zone,
    asOf: instant("as-of", "Count punches that are still open up to this instant, instead of leaving their time out"),
    rounding,
    ...companyFlags,
    ...filterFlags,
    pageSize: pageSizeFlag
  },
  Effect.fnUntraced(
    function*(flags) {
      const company = yield* companyOf(flags)
      const filter = yield* Effect.fromResult(toFilter(flags))
      const progress = yield* makeProgress(true)
      const pageSize = Option.getOrUndefined(flags.pageSize)
      let pages = 0
      let punches = 0

      const totals = yield* TimePunches.pages(company, filter, { pageSize, prefetchPages: 1 }).pipe(
        Stream.tap(({ items }) => {
          pages += 1
          punches += items.length
          return progress.at(pages, punches)
        }),
        Stream.flatMap(({ items }) => Stream.fromIterable(items)),
        Stream.run(Labor.rollup(keyOf(flags.by, flags.zone), {
          rounding: flags.rounding,
          asOf: Option.getOrUndefined(flags.asOf)
        }))
      )
      if (punches === 0) return yield* tell("no punch matches")
      yield* printLines(report(flags.by, [...HashMap.entries(totals)]))
      const incomplete = HashMap.reduce(totals, 0, (sum, of) => sum + of.incomplete)
      if (incomplete > 0) {
        yield* tell(
          `The time of ${countedPunches(incomplete)} cannot be known, so the sums do without it` +
            (Option.isNone(flags.asOf) ? "; --as-of counts open ones up to an instant." : ".")
        )
      }
    },
    Effect.scoped
  )
).pipe(
  Command.provide(layerClient),
  Command.withDescription(
    `Sum the punches of a company up.

  net is the time worked without unpaid breaks, in hours and minutes; cost is net time at the hourly wage of each punch,
  rounded to the cent punch by punch, without tips. It is an estimate, not a payroll.`
  ),
  Command.withShortDescription("Sum punches up, as a table with bars"),
  Command.withExamples([
    {
      command: "time-punches summary --by day --zone America/New_York --location-id 301",
      description: "A place, day by day"
    },
    {
      command:
        "time-punches summary --by user --clocked-in-gte 2026-03-02T00:00:00Z --clocked-in-lt 2026-03-09T00:00:00Z",
      description: "Who worked how long in a week"
    }
  ])
)

type Key = string | number

const keyOf = (by: By, zone: DateTime.TimeZone): (punch: TimePunch) => Key => {
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
  readonly key: string | number
  readonly totals: Omit<Labor.Totals, "gross" | "paidBreaks" | "unpaidBreaks">
  /** Of the longest; undefined in the line that sums up. */
  readonly share: number | undefined
}

const cells = 24

const columnsOf = (by: By): ReadonlyArray<Column<Line>> => [
  { title: by === "day" ? "day" : `${by}_id`, cell: ({ key }) => `${key}` },
  { title: "punches", align: "right", cell: ({ totals }) => number.format(totals.punches) },
  { title: "incomplete", align: "right", cell: ({ totals }) => number.format(totals.incomplete) },
  { title: "net", align: "right", cell: ({ totals }) => hours(totals.net) },
  { title: "", cell: ({ share }) => share === undefined ? "" : bar(share, cells) },
  { title: "cost", align: "right", cell: ({ totals }) => money(totals.cost) },
  { title: "tips", align: "right", cell: ({ totals }) => money(totals.tips) }
]

/** Days in their order, anything else by the time worked. */
const report = (by: By, entries: ReadonlyArray<readonly [string | number, Labor.Totals]>): ReadonlyArray<string> => {
  const longest = Math.max(...entries.map(([, { net }]) => Duration.toMillis(net)))
  const lines = entries
    .map(([key, totals]) => ({ key, totals, share: longest === 0 ? 0 : Duration.toMillis(totals.net) / longest }))
    .toSorted((a, b) => (by === "day" ? 0 : b.share - a.share) || (a.key < b.key ? -1 : 1))
  return makeTable(columnsOf(by)).lines([...lines, { key: "total", totals: sumOf(entries), share: undefined }])
}

const sumOf = (entries: ReadonlyArray<readonly [string | number, Labor.Totals]>) => {
  const sum = (f: (totals: Labor.Totals) => number) => entries.reduce((total, [, totals]) => total + f(totals), 0)
  return {
    punches: sum((totals) => totals.punches),
    incomplete: sum((totals) => totals.incomplete),
    anomalous: sum((totals) => totals.anomalous),
    net: Duration.millis(sum((totals) => Duration.toMillis(totals.net))),
    cost: Cents.make(sum((totals) => totals.cost)),
    tips: Cents.make(sum((totals) => totals.tips))
  }
}
