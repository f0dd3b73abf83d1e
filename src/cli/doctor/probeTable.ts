/** Which filters `doctor` sends: each is made from known punches so that a service that misreads it must show it. Pure. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { BusinessDate } from "../../Ids.ts"
import { timePunchNames } from "../../internal/wire/names.ts"
import { idKeys } from "../../listing/parameters.ts"
import type { Criteria, PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { idOf, possibleDates, timeOfDay, widestOffset } from "./matching.ts"
import type { Probe } from "./probes.ts"

const hour = 3_600_000

/** A closed punch with as many ids as any, in the middle of its kind: others are before and after it. */
const sampleOf = (punches: ReadonlyArray<TimePunch>): TimePunch | undefined => {
  const closed = punches.filter((punch) => Option.isSome(punch.clockedOut))
  const idsOf = (punch: TimePunch): number => idKeys.filter((key) => idOf(punch, key) !== 0).length
  const most = Math.max(...closed.map(idsOf))
  const full = closed.filter((punch) => idsOf(punch) === most)
  const kind = full.length > 0 ? full : punches
  return kind.toSorted((a, b) => a.clockedIn.epochMilliseconds - b.clockedIn.epochMilliseconds)[kind.length >> 1]
}

/** The filter that includes a punch with this mark, and as few others as possible. */
export const scopeOf = ({ deleted }: TimePunch): Criteria => deleted ? { deleted: "only" } : {}

/** One probe for every filter whose effect a punch shows. */
export const probesOf = (punches: ReadonlyArray<TimePunch>, now: DateTime.Utc): ReadonlyArray<Probe> => {
  const sample = sampleOf(punches)
  if (sample === undefined) return []
  const shown = scopeOf(sample)
  return [
    ...idProbes(sample, punches, shown),
    { name: "approved=true", filter: { ...shown, approved: true } },
    { name: "approved=false", filter: { ...shown, approved: false } },
    { name: "flags=auto_clocked_out", filter: { ...shown, flags: ["auto_clocked_out"] } },
    ...windowProbes(sample, shown),
    ...modifiedProbes(punches, now),
    ...dateProbes(sample, punches, shown)
  ]
}

/** Another id close to this one. */
const neighbour = (id: number): number => id > 1 ? id - 1 : id + 1

const idProbes = (
  sample: TimePunch,
  punches: ReadonlyArray<TimePunch>,
  shown: Criteria
): ReadonlyArray<Probe> =>
  idKeys.flatMap((key) => {
    const name = timePunchNames[key]
    const id = idOf(sample, key)
    const filterOf = (id: number): PunchFilter => ({ ...shown, [key]: id })
    // Whether 0 finds the punches without such an id is not known.
    const own: Probe = { name, filter: filterOf(id) }
    // If all have the same id, only another one shows that the filter is dropped.
    const other: Probe = { name: `${name}, another`, filter: filterOf(neighbour(id)), isUnknown: true }
    const isSingle = punches.every((punch) => idOf(punch, key) === id)
    return [id === 0 ? undefined : own, isSingle ? other : undefined].filter((probe) => probe !== undefined)
  })

/** Windows of one instant: they show whether both ends are sent and inclusive. */
const windowProbes = (sample: TimePunch, shown: Criteria): ReadonlyArray<Probe> => {
  const at = sample.clockedIn
  const out = Option.getOrUndefined(sample.clockedOut)
  const exact = (gte: DateTime.Utc) => ({ gte, lte: gte })
  const wider = (gte: DateTime.Utc) => ({ gte, lte: DateTime.add(gte, { seconds: 1 }) })
  const around = {
    gte: DateTime.subtract(at, { milliseconds: widestOffset }),
    lte: DateTime.add(at, { milliseconds: widestOffset })
  }
  return [
    {
      name: "clocked_in",
      filter: { ...shown, clockedIn: exact(at) },
      finds: sample,
      wider: { ...shown, clockedIn: wider(at) }
    },
    ...(out === undefined ? [] : [{
      name: "clocked_out",
      filter: { ...shown, clockedOut: exact(out) },
      finds: sample,
      wider: { ...shown, clockedOut: wider(out) }
    }]),
    // Wherever the punch is, its wall clock is at most 14 hours from UTC.
    { name: "localize_search_time", filter: { ...shown, clockedIn: around, localizeSearchTime: true }, finds: sample }
  ]
}

const modifiedAt = (punches: ReadonlyArray<TimePunch>): ReadonlyArray<number> =>
  [...new Set(punches.flatMap(({ modified }) => Option.toArray(modified)).map((at) => at.epochMilliseconds))]
    .toSorted((a, b) => b - a)

/** The smallest step from one change to the next that is worth a probe, in milliseconds. */
const smallestStep = 3000

/**
 * Just before the latest change, between the two closest changes, and after all: a service that drops the parameter, or
 * reads it in another zone, sends punches that were modified earlier, or omits the latest.
 */
const modifiedProbes = (punches: ReadonlyArray<TimePunch>, now: DateTime.Utc): ReadonlyArray<Probe> => {
  const times = modifiedAt(punches)
  const [latest] = times
  const since = (millis: number, isFuture = false): PunchFilter => {
    const at = DateTime.makeUnsafe(millis)
    return { modifiedSince: isFuture ? DateTime.add(at, { days: 1 }) : DateTime.subtract(at, { seconds: 1 }) }
  }
  const [closest] = times
    .map((at, index) => ({ at, step: at - (times[index + 1] ?? -Infinity) }))
    .filter(({ step }) => step >= smallestStep)
    .toSorted((a, b) => a.step - b.step)
  return [
    ...(latest === undefined ? [] : [{ name: "modified_since", filter: since(latest) }]),
    ...(closest === undefined || closest.at === latest
      ? []
      : [{ name: "modified_since, earlier", filter: since(closest.at) }]),
    { name: "modified_since, future", filter: since(Math.max(now.epochMilliseconds, latest ?? 0), true) }
  ]
}

/** A time of day before which no zone has the next date yet, and one after which none has the previous date. */
const sureHours = { before: 10 * hour, from: 18 * hour } as const

/**
 * The service alone knows the zone of a business date. The dates that the sample may have must find it; the date after
 * that of an early clock-in, and the date before that of a late one, must not find those.
 */
const dateProbes = (
  sample: TimePunch,
  punches: ReadonlyArray<TimePunch>,
  shown: Criteria
): ReadonlyArray<Probe> => {
  const inScope = punches.filter(({ deleted }) => deleted === sample.deleted)
    .toSorted((a, b) => timeOfDay(a.clockedIn) - timeOfDay(b.clockedIn))
  const [early, late] = [inScope.at(0)?.clockedIn, inScope.at(-1)?.clockedIn]
  const on = (name: string, at: DateTime.Utc, days: number): Probe => {
    const date = BusinessDate.make(DateTime.formatIsoDateUtc(DateTime.add(at, { days })))
    return { name, filter: { ...shown, businessDate: { start: date, end: date } } }
  }
  return [
    { name: "business_date", filter: { ...shown, businessDate: possibleDates(sample.clockedIn) }, finds: sample },
    ...(early !== undefined && timeOfDay(early) < sureHours.before ? [on("business_date, day after", early, 1)] : []),
    ...(late !== undefined && timeOfDay(late) >= sureHours.from ? [on("business_date, day before", late, -1)] : [])
  ]
}
