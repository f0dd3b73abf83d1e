/** `payroll close --next`: the period and the terms that the record says, and the flags that may stand beside it. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import type { Blocker } from "../../close/Blocker.ts"
import * as Close from "../../close/Close.ts"
import { isByLocation } from "../../close/CloseTerms.ts"
import type { CompanyId, LocationId } from "../../Ids.ts"
import type { Rounding } from "../../payroll/Labor.ts"
import { type DayRule, dayStartsOf, zoneOf } from "../../payroll/Zones.ts"
import { usage } from "../failure.ts"
import { flagNameOf } from "../flags/filter.ts"
import { orDefault } from "../flags/settings.ts"
import { dayStartsText, hoursText } from "../flags/values.ts"
import { dayRuleAt, dayRuleText, readZones } from "../flags/zones.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { dayStartsOrDefault, textOfDates } from "../select/period.ts"
import { periodFlags, type PeriodInput } from "../select/periodFlags.ts"
import { thresholdFlags, type ThresholdInput } from "../select/thresholds.ts"

type NextInput = PeriodInput & ThresholdInput & {
  readonly rounding: Option.Option<Rounding>
  readonly accept: Option.Option<ReadonlyArray<Blocker>>
}

/** Refuses the flags of a period: the record says which one is next. */
export const refusePeriodBesideNext = (input: NextInput) => {
  const { dayStarts: _, weekStarts: _1, zone: _2, zoneFile: _3, ...ofPeriod } = periodFlags
  const given = Struct.keys(ofPeriod).find((name) => Option.isSome<unknown>(input[name]))
  return given === undefined
    ? Effect.void
    : usage(`--next goes without --${flagNameOf(given)}: the record says which period is next`)
}

/** The period to close next and the terms of the record. Refuses a flag that says otherwise. */
export const nextTerms = Effect.fnUntraced(function*(company: CompanyId, input: NextInput) {
  const acceptGaps = Option.exists(input.accept, (kinds) => kinds.includes("gap"))
  const { before, termsOf, ...terms } = yield* Close.next(company, { acceptGaps })
  const dayRule = yield* dayRuleOf(input, terms.dayRule, termsOf)
  yield* refuseOthers(input, { ...terms, termsOf })
  yield* Option.match(before, {
    onNone: () => printHint(`--next: ${textOfDates(terms)}, after close ${termsOf}`),
    onSome: (before) =>
      printWarning(
        `--next: ${textOfDates(terms)}, which fell out of every close, before close ${before}, ` +
          `with the terms of close ${termsOf}; --accept gap closes the one behind the last close`
      )
  })
  return { ...terms, dayRule }
})

const differs = (flag: string, termsOf: number, recorded: string) =>
  usage(
    `${flag} differs from close ${termsOf}, which has ${recorded}`,
    "Leave the flag out. To close by other terms, leave out --next, and give the dates with --from and --to."
  )

type Recorded = Omit<Close.NextPeriod, "before">

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
      return yield* differs(`--${flagNameOf(name)} ${value.value}`, termsOf, recorded)
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
