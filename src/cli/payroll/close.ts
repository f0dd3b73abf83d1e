/** `time-punches payroll close`: checks a period, sums it and records the sums. */
import type * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import { Blocker } from "../../close/Blocker.ts"
import * as Close from "../../close/Close.ts"
import * as CloseSums from "../../close/CloseSums.ts"
import { isByLocation, type TermChange } from "../../close/CloseTerms.ts"
import type { CompanyId, LocationId } from "../../Ids.ts"
import { type DayRule, dayStartsOf, zoneOf } from "../../payroll/DayRule.ts"
import type { Rounding } from "../../payroll/Labor.ts"
import * as Period from "../../payroll/Period.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { versionsOf } from "../../sync/Checkpoint.ts"
import { usage } from "../failure.ts"
import { knownKeys } from "../flags/connection.ts"
import { firstGiven, flagNameOf } from "../flags/filter.ts"
import { namesFlag } from "../flags/names.ts"
import {
  dayStartsOrDefault,
  periodFlags,
  type PeriodInput,
  readCalendar,
  requirePeriod,
  textOfDates
} from "../flags/period.ts"
import { orDefault } from "../flags/settings.ts"
import {
  hoursText,
  makeThresholdFlags,
  maxShift,
  maxWage,
  thresholdFlags,
  type ThresholdInput
} from "../flags/thresholds.ts"
import { onFlag, words } from "../flags/values.ts"
import { dayRuleAt, dayRuleText, dayStartsText, readZones } from "../flags/zones.ts"
import { formatHours } from "../print/format.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { makeVerb } from "../verb.ts"
import { printWritten } from "./print.ts"
import {
  authorship,
  note,
  openRecord,
  printNotReady,
  readTerms,
  recordFlags,
  termFlags,
  warnOfHoles
} from "./record.ts"

const closeFlags = {
  ...recordFlags,
  next: onFlag(
    "next",
    "The period that follows the newest close, with its zones, starts of days, thresholds, rounding and first day of a week"
  ),
  ...termFlags,
  ...makeThresholdFlags("Record"),
  maxShift,
  maxWage,
  accept: words(
    "accept",
    Blocker.literals,
    `Close although these were found, and record their numbers: some of ${Blocker.literals.join(", ")}`,
    "KINDS"
  ),
  note,
  names: namesFlag
}

type CloseInput = Command.Command.Config.Infer<typeof closeFlags>

export const verb = makeVerb("close", closeFlags, (input) => closePeriod(input), {
  text: `Close a payroll period: check it, sum it and record the sums.

  It reads a copy with a history as of one time, and sends nothing.

  With an issue it writes nothing and exits with 9: what payroll check finds,
  time that no close has (gap), a copy whose last complete sync run began before
  the period ended (stale), or a period without a punch (empty). --accept lets
  kinds through by name. Two closes never overlap at a location. --accept edge
  begins the close at the end of the one before if the two are less than 48
  hours apart, such as after a zone was corrected.

  --next takes the terms and the calendar of the record, so that no flag can be
  forgotten: the oldest days that no close has since theirs was voided, by the
  terms of that one, else the period that begins behind the last close. A flag
  that says otherwise is refused; --zone-file may add locations. --calendar is
  for a close of free dates, which has none, and for another calendar from now
  on. --accept gap closes the period behind the last close instead.`,
  examples: [
    [
      "payroll close --pay-period last --calendar 14d:2026-01-05 --zone-file zones.csv " +
      "--weekly-threshold 40h --database punches.db",
      "The last fortnight"
    ],
    ["payroll close --next --database punches.db", "The period after it, by the same terms"],
    [
      "payroll close --week 2026-03-02 --zone America/New_York --accept unapproved " +
      "--database punches.db --json",
      "A week with unapproved punches, as JSON"
    ]
  ]
})

const closePeriod = Effect.fnUntraced(function*(input: CloseInput) {
  const record = yield* openRecord(input, "close", true)
  const { company } = record
  if (input.next) yield* refusePeriodBesideNext(input)
  const given = input.next ? undefined : yield* givenTerms(input)
  yield* Effect.gen(function*() {
    const options = {
      ...given ?? (yield* nextTerms(company, input)),
      maxDuration: Option.getOrUndefined(input.maxShift),
      maxWage: Option.getOrUndefined(input.maxWage),
      knownKeys: yield* knownKeys,
      accept: Option.getOrUndefined(input.accept),
      ...authorship(input.note)
    }
    const revision = yield* Effect.catchTag(
      Close.create(company, options),
      "NotReady",
      printNotReady(record, "close")
    )
    yield* printWritten([revision], [CloseSums.difference(revision, CloseSums.empty)], record)
    yield* printWarning(
      ...revision.changedTerms.map(({ close, now, other, term }) => {
        const change = `${termNames[term]} ${termText(now)}, and close ${close} has ${termText(other)}`
        return term === "calendar"
          ? change
          : `${change}: ${
            term === "rounding"
              ? "a punch that moves from one to the other may cost a cent more or less"
              : "in a week that both have, hours may be over a threshold twice or never"
          }`
      })
    )
    const { checkpoint } = yield* PunchCopy.status(company)
    yield* printWarning(...Option.toArray(Option.flatMapNullishOr(checkpoint, (known) => versionsOf(known).warning)))
    yield* warnOfHoles(company)
  }).pipe(Effect.provide(record.layer))
})

/** The period and the terms of the flags. */
const givenTerms = Effect.fnUntraced(function*(input: CloseInput) {
  const { flags, terms } = yield* readTerms(input)
  yield* requirePeriod(flags, "payroll close", "Or --next: the period behind the last close, by its terms.")
  if (Option.isSome(terms)) return terms.value
  return yield* usage(
    "payroll close takes no --last: its dates depend on the day",
    "Give --pay-period, --week, --month or --from."
  )
})

const termNames = {
  weeklyThreshold: "the weekly threshold is",
  dailyThreshold: "the daily threshold is",
  doubleThreshold: "the second daily threshold is",
  seventhDay: "the time over of a seventh day is",
  rounding: "the rounding is",
  firstDay: "the first day of the week is",
  calendar: "the calendar is"
} as const satisfies Readonly<Record<TermChange["term"], string>>

const termText = (value: TermChange["now"]): string =>
  value === null ? "none" : typeof value === "number" ? formatHours(Duration.seconds(value)) : value

type NextInput = PeriodInput & ThresholdInput & {
  readonly rounding: Option.Option<Rounding>
  readonly accept: Option.Option<ReadonlyArray<Blocker>>
}

/** Refuses the flags of a period: the record says which one is next. */
export const refusePeriodBesideNext = (input: NextInput) => {
  const { calendar: _, dayStarts: _1, weekStarts: _2, zone: _3, zoneFile: _4, ...ofPeriod } = periodFlags
  const given = firstGiven(input, Struct.keys(ofPeriod))
  return given === undefined
    ? Effect.void
    : usage(`--next goes without ${given}: the record says which period is next`)
}

/** The period to close next and the terms of the record. Refuses a flag that says otherwise. */
export const nextTerms = Effect.fnUntraced(function*(company: CompanyId, input: NextInput) {
  const acceptGaps = Option.exists(input.accept, (kinds) => kinds.includes("gap"))
  const calendar = Option.getOrUndefined(input.calendar)
  const { isHole, options: terms, termsOf } = yield* Close.next(company, { acceptGaps, calendar })
  const dayRule = yield* dayRuleOf(input, terms.dayRule, termsOf)
  yield* refuseOthers(input, { ...terms, termsOf })
  yield* isHole
    ? printWarning(
      `--next: ${textOfDates(terms)}, which no close has since close ${termsOf} was voided, with its terms; ` +
        "--accept gap closes the one behind the last close"
    )
    : printHint(`--next: ${textOfDates(terms)}, after close ${termsOf}`)
  const ofProfile = Option.flatMap(yield* orDefault(Option.none(), "calendar"), readCalendar)
  if (calendar === undefined && Option.isSome(ofProfile)) {
    const [own, other] = [terms.calendar, Period.normalCalendar(ofProfile.value)]
    if (!Equal.equals(own, other))
      yield* printWarning("the calendar of the profile is not that of the record: --next does not read it")
  }
  return { ...terms, dayRule }
})

const differs = (flag: string, termsOf: number, recorded: string) =>
  usage(
    `${flag} differs from close ${termsOf}, which has ${recorded}`,
    "Leave the flag out. To close by other terms, leave out --next, and give the dates with --from and --to."
  )

type Recorded = Close.NextOptions & Pick<Close.NextPeriod, "termsOf">

/** Refuses a threshold, a rounding or a first day of the week that the record does not have. */
const refuseOthers = Effect.fnUntraced(function*(input: NextInput, { termsOf, ...terms }: Recorded) {
  const text = (hours: Duration.Input | undefined) =>
    hours === undefined ? "none" : hoursText(Duration.fromInputUnsafe(hours))
  const given = [
    ...Struct.keys(thresholdFlags).map((name) => [name, Option.map(input[name], text), text(terms[name])] as const),
    ["rounding", input.rounding, terms.rounding],
    ["weekStarts", input.weekStarts, terms.firstDay]
  ] as const
  for (const [name, value, recorded] of given) {
    if (Option.isSome(value) && value.value !== recorded) {
      const mark = name === "seventhDay" ? "=" : " "
      return yield* differs(`--${flagNameOf(name)}${mark}${value.value}`, termsOf, recorded)
    }
  }
})

/**
 * The day rules of the record, with the locations that `--zone-file`, or the file of the profile, adds. The record comes before
 * the profile, so that a default never contradicts it.
 */
const dayRuleOf = Effect.fnUntraced(function*(input: NextInput, recorded: Recorded["dayRule"], termsOf: number) {
  const byLocation = isByLocation(recorded) ? recorded : undefined
  const rules = isByLocation(recorded) ? [...recorded.values()] : [recorded]
  const nameOf = (rule: DayRule) => DateTime.zoneToString(zoneOf(rule))
  const starts = [...new Set(rules.map(dayStartsOf))]
  if (Option.isSome(input.zone)) {
    const zone = nameOf(input.zone.value)
    if (byLocation !== undefined) return yield* differs(`--zone ${zone}`, termsOf, "a zone for each location")
    const other = rules.map(nameOf).find((name) => name !== zone)
    if (other !== undefined) return yield* differs(`--zone ${zone}`, termsOf, other)
  }
  if (Option.isSome(input.dayStarts) && Option.isNone(input.zoneFile)) {
    const given = Duration.toMillis(input.dayStarts.value)
    if (starts.some((each) => each !== given)) {
      return yield* differs(`--day-starts ${dayStartsText(given)}`, termsOf, starts.map(dayStartsText).join(", "))
    }
  }
  // The days of a new location begin as those of the others do, unless the flags say when.
  const [start, ...more] = starts
  const startOfOthers = start === undefined || more.length > 0
    ? yield* dayStartsOrDefault(input.dayStarts)
    : Option.some(Duration.millis(start))
  const added = new Map<LocationId, DayRule>()
  const zoneFile = yield* orDefault(input.zoneFile, "zoneFile")
  const ofFile: ReadonlyMap<LocationId, DayRule> = Option.getOrElse(
    yield* readZones(zoneFile, input.dayStarts),
    () => new Map()
  )
  for (const [locationId, rule] of ofFile) {
    const known = byLocation === undefined ? rules[0] : byLocation.get(locationId)
    const isWithoutStart = DateTime.isTimeZone(rule)
    if (known === undefined) {
      added.set(locationId, isWithoutStart ? dayRuleAt(rule, startOfOthers) : rule)
    } else if (
      Option.isSome(input.zoneFile) &&
      (nameOf(known) !== nameOf(rule) || (!isWithoutStart && dayStartsOf(known) !== dayStartsOf(rule)))
    ) {
      return yield* differs("--zone-file", termsOf, `${dayRuleText(known)} for location ${locationId}`)
    }
  }
  return byLocation === undefined ? recorded : new Map([...byLocation, ...added])
})
