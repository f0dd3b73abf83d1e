/** How a summary groups: `--by`, the keys of a punch, the name of a key, and the hours over a threshold with their columns. */
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import type { BusinessDate } from "../../Ids.ts"
import { type Classes, hasDouble, hasOver } from "../../payroll/hourClasses.ts"
import type * as Labor from "../../payroll/Labor.ts"
import * as Period from "../../payroll/Period.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { firstGiven } from "../flags/filter.ts"
import { idOfKind, type NameKind, type Names } from "../flags/names.ts"
import type { LocalPeriod } from "../flags/period.ts"
import { thresholdFlags, type ThresholdInput } from "../flags/thresholds.ts"
import { readWords, text } from "../flags/values.ts"

const groupings = ["location", "user", "role", "department", "day", "week"] as const

/** What a summary sums by. */
export type Grouping = typeof groupings[number]

/** What a summary sums by, from the first key to the last; each once. */
export type Groupings = ReadonlyArray<Grouping>

export const by = text(
  "by",
  groupings.join(","),
  "What to sum by, in this order; the clock-in decides the day and the week, by --zone or --zone-file, else in UTC (default: " +
    "location)",
  `some of ${groupings.join(", ")}, each once, joined by commas`,
  (text): Option.Option<Groupings> =>
    Option.filter(readWords(groupings)(text), (each) => new Set(each).size === each.length)
).pipe(Flag.map(Option.getOrElse((): Groupings => ["location"])))

/** An id or a date; `null` for the punches without a department. */
export type Key = number | string | null

/** The keys of a group, one for each of its groupings. */
export type Keys = ReadonlyArray<Key>

/** Groups by one number or text each, which is cheap to find among many: its only key, or all keys in one text. */
interface Grouper {
  readonly idOf: (punch: TimePunch) => Key
  /** The keys of a group that `idOf` has named. */
  readonly keysOf: (id: Key) => Keys
}

/** Groups punches. A punch without a clock has the day and the week of UTC. */
export const makeGrouper = (
  by: Groupings,
  dayRuleOf: (punch: TimePunch) => Option.Option<Period.DayRule>,
  firstDay: Period.Weekday | undefined
): Grouper => {
  // The days of each clock are in a cache.
  const datesOf = Function.memoize(Period.makeBusinessDate)
  const dateOf = (punch: TimePunch): BusinessDate =>
    datesOf(Option.getOrElse(dayRuleOf(punch), () => utc))(punch.clockedIn)
  const parts = by.map((each): (punch: TimePunch) => Key => {
    switch (each) {
      case "day":
        return dateOf
      case "week": {
        const weekOf = Period.makeFirstDateOfWeek({ firstDay })
        return (punch) => weekOf(dateOf(punch))
      }
      default:
        return (punch) => Option.getOrNull(idOfKind(punch, each))
    }
  })
  const [only, ...others] = parts
  if (only !== undefined && others.length === 0) return { idOf: only, keysOf: (id) => [id] }
  const groups = new Map<Key, Keys>()
  return {
    idOf: (punch) => {
      const keys = parts.map((part) => part(punch))
      const id = idOfKeys(keys)
      if (!groups.has(id)) groups.set(id, keys)
      return id
    },
    keysOf: (id) => groups.get(id) ?? []
  }
}

const idOfKeys = (keys: Keys): string => keys.join(" ")

const utc = DateTime.zoneMakeOffset(0)

/** Whether the key of a grouping is an id, which may have a name, and not a date. */
export const isId = (by: Grouping): by is NameKind => by !== "day" && by !== "week"

/** The name of a key; `undefined` if the file has none. */
export const nameOfKey = (by: Grouping, names: Names, key: Key | undefined): string | undefined =>
  isId(by) && typeof key === "number" ? names(by, key) : undefined

/** Key by key: ids by value, dates in their order, and last the punches without a department. */
export const compareKeys = (one: Keys, other: Keys): number => {
  for (const [at, a] of one.entries()) {
    const b = other[at] ?? null
    if (a !== b) return b === null || (a !== null && a < b) ? -1 : 1
  }
  return 0
}

/** The thresholds with the clock by which they count, and the period; none without a threshold. Fails if no local date is known. */
export const limitsOf = Effect.fnUntraced(function*(
  thresholds: Labor.Thresholds,
  { dayRule, period, weekStarts, ...flags }: ThresholdInput & LocalPeriod & {
    readonly weekStarts: Option.Option<Period.Weekday>
  }
): Effect.fn.Return<Option.Option<Labor.HoursOverThresholdOptions<Period.MissingDayRule>>, CommandFailure> {
  const flag = firstGiven(flags, Struct.keys(thresholdFlags))
  if (flag === undefined) return Option.none()
  if (Option.isNone(dayRule)) {
    return yield* usage(
      `${flag} has no zone: local days and weeks begin by the clocks of a place`,
      "Add --zone, such as --zone America/New_York, or --zone-file FILE, a zone for each location."
    )
  }
  return Option.some({
    dayRule: dayRule.value,
    period: Option.getOrUndefined(period),
    ...thresholds,
    firstDay: Option.getOrUndefined(weekStarts)
  })
})

/** A column of hours over a threshold. */
export interface ThresholdColumn {
  readonly title: string
  /** Its name in CSV and in JSON, in seconds. */
  readonly csv: string
  readonly json: string
  readonly of: (keys: Keys) => Duration.Duration
  readonly total: Duration.Duration
}

/** The columns of the classes that the thresholds have, of each group by its keys. */
export const thresholdColumns = (
  thresholds: Labor.Thresholds,
  groups: ReadonlyArray<readonly [Keys, Classes]>
): ReadonlyArray<ThresholdColumn> => {
  const classesOf = new Map(groups.map(([keys, classes]) => [idOfKeys(keys), classes]))
  const column = (field: keyof Classes): ThresholdColumn => ({
    title: field,
    csv: `${field}_seconds`,
    json: `${field}Seconds`,
    of: (keys) => Duration.millis(classesOf.get(idOfKeys(keys))?.[field] ?? 0),
    total: Duration.millis(groups.reduce((total, [, classes]) => total + classes[field], 0))
  })
  return [
    ...(hasOver(thresholds) ? [column("regular"), column("over")] : []),
    ...(hasDouble(thresholds) ? [column("double")] : [])
  ]
}
