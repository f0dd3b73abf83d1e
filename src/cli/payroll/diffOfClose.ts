/** `payroll diff --close`: what the record of a close says of the next correction, and the flags that it replaces. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Close from "../../close/Close.ts"
import * as CloseTerms from "../../close/CloseTerms.ts"
import type { CompanyId, LocationId } from "../../Ids.ts"
import type { LaborOptions } from "../../payroll/Labor.ts"
import { MissingZone } from "../../payroll/Zones.ts"
import type { Comparison } from "../../sql/history.ts"
import type { CopyStatus } from "../../sql/SqlStore.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { codeOf, CommandFailure, usage } from "../failure.ts"
import { orDefault } from "../flags/settings.ts"
import { readZone } from "../flags/values.ts"
import { readZones } from "../flags/zones.ts"
import { printHint } from "../print/messages.ts"
import { dayStartsOrDefault, refuseBesideClose, textOfDates } from "../select/period.ts"
import { periodFlags } from "../select/periodFlags.ts"
import type { DiffInput } from "./diffFlags.ts"

/** What is compared, and how its punches are read. */
export interface ChangeQuery<E> extends LaborOptions {
  readonly comparison: Comparison<E>
  readonly asOf: DateTime.Utc | undefined
  /** The zone in which the times of a punch are shown. */
  readonly zoneOf: (punch: TimePunch) => Option.Option<DateTime.TimeZone>
}

/** The changes since the newest active revision. */
export const ofClose = Effect.fnUntraced(
  function*(company: CompanyId, id: number, input: DiffInput, { history }: CopyStatus) {
    const { otherTerms, terms: recorded, ...revision } = yield* Close.newest(company, id)
    const terms = yield* withZones(id, recorded, input)
    const known = Option.map(history, ({ since }) => since)
    if (!Option.exists(known, (since) => DateTime.isLessThanOrEqualTo(since, revision.at))) {
      const history = Option.match(known, {
        onNone: () => "the copy has no history",
        onSome: (since) => `the history is known since ${DateTime.formatIso(since)}`
      })
      return yield* new CommandFailure({
        message: `${history}, and revision ${revision.id} sums the copy of ${DateTime.formatIso(revision.at)}`,
        advice: [`time-punches payroll due ${id} prints what is due, without the punches.`],
        code: codeOf.HistoryUnavailable
      })
    }
    yield* printHint(`revision ${revision.id}: ${textOfDates(terms)}, as of ${DateTime.formatIso(revision.at)}`)
    return {
      comparison: comparisonOf(terms, otherTerms, revision.at),
      rounding: terms.rounding,
      asOf: undefined,
      zoneOf: ({ locationId }) =>
        Option.flatMap(
          Option.fromUndefinedOr(CloseTerms.getLocation(terms, locationId)),
          ({ clock }) => Option.flatMap(Option.fromUndefinedOr(terms.clocks[clock]), ({ zone }) => readZone(zone))
        )
    } satisfies ChangeQuery<MissingZone>
  }
)

/** Refuses the flags whose value the record has. A file of zones may add locations, with their starts of the day. */
export const refuseRecorded = (input: DiffInput) => {
  const { dayStarts, zoneFile: _, ...others } = periodFlags
  return refuseBesideClose(input, [
    ...Object.keys(Option.isSome(input.zoneFile) ? others : { ...others, dayStarts }),
    "since",
    "asOf",
    "rounding"
  ])
}

/**
 * The file may add locations that the record lacks, as `payroll correct --zone-file` does. One of the profile is of all closes:
 * where it has another clock, the record keeps its own.
 */
const withZones = Effect.fnUntraced(function*(
  id: number,
  recorded: CloseTerms.CloseTerms,
  { dayStarts, zoneFile }: DiffInput
) {
  let terms = recorded
  const dayRules = yield* readZones(yield* orDefault(zoneFile, "zoneFile"), yield* dayStartsOrDefault(dayStarts))
  for (const [locationId, dayRule] of Option.getOrElse(dayRules, () => new Map())) {
    if (Option.isSome(zoneFile) && CloseTerms.hasOtherDayRule(recorded, locationId, dayRule)) {
      return yield* usage(
        `--zone-file contradicts close ${id}: location ${locationId} has another clock there`,
        "The record keeps the clock that the period was closed with. Leave the flag out, or the location."
      )
    }
    if (CloseTerms.getLocation(terms, locationId) === undefined) {
      terms = CloseTerms.withLocation(terms, locationId, dayRule)
    }
  }
  return terms
})

/** The punches that the sums of the close count. Of the days before a cut week they are shown too, and are in no difference. */
const comparisonOf = (
  terms: CloseTerms.CloseTerms,
  otherTerms: ReadonlyArray<CloseTerms.CloseTerms>,
  since: DateTime.Utc
): Comparison<MissingZone> => {
  const isInLater = CloseTerms.isInLaterClose(terms, otherTerms)
  const places = new Map<LocationId, CloseTerms.CountedInterval | undefined>()
  const placeOf = (locationId: LocationId) => {
    if (!places.has(locationId)) places.set(locationId, CloseTerms.getCountedInterval(terms, locationId))
    return places.get(locationId)
  }
  return {
    since,
    widest: CloseTerms.queryWindow(terms),
    contains: (punch) => {
      const { clockedIn: { epochMilliseconds: at }, locationId } = punch
      const place = placeOf(locationId)
      if (place !== undefined) return Result.succeed(place.from <= at && at < place.to)
      return isInLater(punch) ? Result.succeed(false) : Result.fail(new MissingZone({ locationId }))
    },
    isShown: ({ clockedIn: { epochMilliseconds: at }, locationId }: TimePunch) => {
      const place = placeOf(locationId)
      return place !== undefined && place.countedFrom <= at && at < place.from
    }
  }
}
