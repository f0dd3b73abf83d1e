/** The checks of `doctor` that send one filter each and compare the rows with it. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import { BusinessDate } from "../../Ids.ts"
import { timePunchNames } from "../../internal/wire/names.ts"
import { idKeys } from "../../listing/parameters.ts"
import type { Page } from "../../Page.ts"
import type { DateRange, InstantRange, PunchCriteria, PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { maxPageSize } from "../flags/paging.ts"
import { countedPunches } from "../terminal/format.ts"
import { changed, type CheckResult, fail, failed, ok, warn } from "./report.ts"

// MERGED answers.ts: What the service answered so far, and the requests that confirm a contradiction before it counts as one.

/** Some pages of a listing from its start. */
export interface Listing {
  readonly pages: ReadonlyArray<Page>
  readonly punches: ReadonlyArray<TimePunch>
  /** Whether the service said that no page follows. */
  readonly isWhole: boolean
}

/** A punch of an answer, and the filter that was sent for it. */
export interface Sighting {
  readonly punch: TimePunch
  readonly filter: PunchFilter
}

/** What the checks share. */
export interface Survey {
  readonly company: Company
  /** The filter as it was given. */
  readonly filter: PunchFilter
  readonly pageSize: number
  /** The largest page of the filter. */
  readonly known: Listing
  /** Every punch of the answers to other filters; the checks add to it. */
  readonly sightings: Array<Sighting>
}

const toListing = (pages: ReadonlyArray<Page>): Listing => ({
  pages,
  punches: pages.flatMap(({ items }) => items),
  isWhole: pages.every(({ cursor }, at) => at < pages.length - 1 || Option.isNone(cursor.next))
})

/** Reads at most so many pages. */
export const readPages = (company: Company, filter: PunchFilter, pageSize: number, pages: number) =>
  TimePunches.pages(company, filter, { pageSize }).pipe(
    Stream.take(pages),
    Stream.runCollect,
    Effect.map(toListing)
  )

/** A service may send a few empty pages before the first punch. */
const mostEmptyPages = 5

/** Reads up to the first page that has a punch. */
export const readFirst = (company: Company, filter: PunchFilter, pageSize: number) =>
  TimePunches.pages(company, filter, { pageSize }).pipe(
    Stream.take(mostEmptyPages),
    Stream.takeUntil(({ items }) => items.length > 0),
    Stream.runCollect,
    Effect.map(toListing)
  )

/** The largest page of a filter. */
export const readKnown = (company: Company, filter: PunchFilter) => readFirst(company, filter, maxPageSize)

export const idsOf = (punches: ReadonlyArray<TimePunch>): ReadonlyArray<number> => punches.map(({ id }) => id)

/** Whether the punch is among these, with equal fields. */
export const isAmong = (punch: TimePunch, punches: ReadonlyArray<TimePunch>): boolean =>
  punches.some((other) => other.id === punch.id && Equal.equals(other, punch))

/** Whether two answers have the same punches in the same order, and end alike. */
export const isSame = (a: Listing, b: Listing): boolean =>
  a.isWhole === b.isWhole && a.punches.length === b.punches.length &&
  a.punches.every((punch, at) => Equal.equals(punch, b.punches[at]))

/**
 * Those of the punches that the filter still gives, unchanged. A punch that an earlier answer had, that this one has,
 * and that an answer between them omits, was omitted although it matched.
 */
export const confirm = (punches: ReadonlyArray<TimePunch>, company: Company, filter: PunchFilter, pageSize: number) =>
  Effect.map(
    readFirst(company, filter, pageSize),
    (listing) => punches.filter((punch) => isAmong(punch, listing.punches))
  )

// MERGED matching.ts: Compares punches with a filter, as far as a punch shows whether it matches. Pure.

const hour = 3_600_000

const day = 24 * hour

/** The largest offset of any zone, by which a wall-clock time may differ from UTC. */
export const widestOffset = 14 * hour

/** The most by which a business day starts after midnight UTC: the zone of -12 hours, and a day that starts at 6. */
const latestStart = 18 * hour

/** The instants between which the digits may lie that a punch does not show. */
const hiddenDigits = 1000

/** `tolerance` widens both ends if the service reads the window in a zone that the punch does not show. */
const isWithin = (at: DateTime.Utc | undefined, { gte, lt, lte }: InstantRange, tolerance: number): boolean => {
  if (gte === undefined && lte === undefined && lt === undefined) return true
  if (at === undefined) return false
  const millis = at.epochMilliseconds
  return (gte === undefined || millis >= gte.epochMilliseconds - tolerance) &&
    (lte === undefined || millis <= lte.epochMilliseconds + tolerance) &&
    (lt === undefined || millis < lt.epochMilliseconds + tolerance)
}

/**
 * The business date is the date of the clock-in in a zone that only the service knows, on a day that may start later
 * than midnight.
 */
const isOnDates = (at: DateTime.Utc, { end, start }: DateRange): boolean =>
  (start === undefined || dateOf(at, widestOffset) >= start) && (end === undefined || dateOf(at, -latestStart) <= end)

/** The date of an instant in UTC, moved by some milliseconds. */
const dateOf = (at: DateTime.Utc, millis: number): string =>
  DateTime.formatIsoDateUtc(DateTime.add(at, { milliseconds: millis }))

/** The first and last business date that an instant may have. */
export const possibleDates = (at: DateTime.Utc) => ({
  start: BusinessDate.make(dateOf(at, -latestStart)),
  end: BusinessDate.make(dateOf(at, widestOffset))
})

/** Milliseconds since midnight UTC. */
export const timeOfDay = (at: DateTime.Utc): number => ((at.epochMilliseconds % day) + day) % day

/** A punch shows only `auto_clocked_out`; the service alone knows the other flags. */
const hasFlag = (punch: TimePunch, flags: PunchFilter["flags"]): boolean =>
  flags === undefined || flags.some((flag) => flag !== "auto_clocked_out") || punch.autoClockedOut

const matchesDeleted = (punch: TimePunch, deleted: PunchFilter["deleted"]): boolean =>
  deleted === "include" || punch.deleted === (deleted === "only")

const isUnsetOr = <A>(wanted: A | undefined, value: A | undefined): boolean => wanted === undefined || wanted === value

/** The id that a punch has under a key; 0, as on the wire, for none. */
export const idOf = (punch: TimePunch, key: typeof idKeys[number]): number => {
  const id: number | Option.Option<number> = punch[key]
  return Option.isOption(id) ? Option.getOrElse(id, () => 0) : id
}

/** The wire names of the conditions of the filter that the punch does not meet. */
export const mismatches = (filter: PunchFilter, punch: TimePunch): ReadonlyArray<string> => {
  const tolerance = filter.localizeSearchTime === true ? widestOffset : 0
  const modified = Option.getOrUndefined(punch.modified)
  const matches: Record<string, boolean> = {
    ...Object.fromEntries(idKeys.map((key) => [timePunchNames[key], isUnsetOr<number>(filter[key], idOf(punch, key))])),
    approved: isUnsetOr(filter.approved, punch.approved),
    deleted: matchesDeleted(punch, filter.deleted),
    // The spec says "after"; a punch modified at exactly this instant passes too.
    // A punch without it may be one that the service always sends.
    modified_since: modified === undefined || isWithin(modified, { gte: filter.modifiedSince }, 0),
    clocked_in: isWithin(punch.clockedIn, filter.clockedIn ?? {}, tolerance),
    clocked_out: isWithin(Option.getOrUndefined(punch.clockedOut), filter.clockedOut ?? {}, tolerance),
    business_date: isOnDates(punch.clockedIn, filter.businessDate ?? {}),
    flags: hasFlag(punch, filter.flags)
  }
  return Object.keys(matches).filter((name) => matches[name] === false)
}

/** Whether a punch shows every condition of the filter. */
export const isShown = (filter: PunchFilter): boolean =>
  filter.employeeApprovalStatuses === undefined &&
  filter.localizeSearchTime !== true &&
  filter.businessDate === undefined &&
  (filter.flags ?? []).every((flag) => flag === "auto_clocked_out")

/**
 * Whether the service must send the punch for the filter, whatever digits the punch does not show. Where this is false,
 * the punch may still match.
 */
export const mustMatch = (filter: PunchFilter, punch: TimePunch): boolean => {
  const { clockedIn, clockedOut, modifiedSince } = filter
  return isShown(filter) &&
    mismatches(filter, punch).length === 0 &&
    (modifiedSince === undefined ||
      Option.exists(punch.modified, (at) => at.epochMilliseconds > modifiedSince.epochMilliseconds)) &&
    isSurelyBefore(punch.clockedIn, clockedIn) &&
    isSurelyBefore(Option.getOrUndefined(punch.clockedOut), clockedOut)
}

const isSurelyBefore = (at: DateTime.Utc | undefined, { lt, lte }: InstantRange = {}): boolean =>
  at === undefined ||
  [lt, lte].every((end) => end === undefined || at.epochMilliseconds + hiddenDigits <= end.epochMilliseconds)

/** Whether the punches are in the order of their clock-ins, latest first. */
export const isLatestFirst = (punches: ReadonlyArray<TimePunch>): boolean =>
  punches.every((punch, at) => {
    const next = punches[at + 1]
    return next === undefined || next.clockedIn.epochMilliseconds <= punch.clockedIn.epochMilliseconds
  })

/** A filter to send. */
export interface Probe {
  readonly name: string
  readonly filter: PunchFilter
  /** A punch that it must find beside those for which `mustMatch` says so. */
  readonly finds?: TimePunch
  /** A filter that allows for digits which the punch does not show. It finds `finds` if only those are the reason. */
  readonly wider?: PunchFilter
  /** Whether the filter has an id that the service may not know: it may reject that. */
  readonly isUnknown?: boolean
}

export const notApplied = "The service does not apply these filters as sent: check the rows yourself, and report it."

export const omits = "The service omits matching punches: do not rely on these filters, and report it."

/** Checks whether the rows match the filter that was sent. */
export const checkRows = (name: string, filter: PunchFilter, items: ReadonlyArray<TimePunch>): CheckResult => {
  const check = `filter ${name}`
  const mismatched = items.flatMap((punch) => {
    const names = mismatches(filter, punch)
    return names.length === 0 ? [] : [{ id: punch.id, names }]
  })
  const [first] = mismatched
  if (first !== undefined) {
    const such = `${first.id} (${first.names.join(", ")})`
    const of = countedPunches(items.length)
    return fail(check, `${mismatched.length} of ${of} do not match, such as ${such}`, "filters", notApplied)
  }
  if (items.length === 0) return ok(check, "no punch, which is possible")
  return ok(check, `${countedPunches(items.length)}, all match${isShown(filter) ? "" : " as far as a punch shows it"}`)
}

/** The punches that the answer to a probe must have and does not, if it has all rows. */
const missingFrom = ({ cursor, items }: Page, { filter, finds }: Probe, survey: Survey): ReadonlyArray<TimePunch> => {
  if (Option.isSome(cursor.next)) return []
  const got = new Set(idsOf(items))
  return [
    ...(finds === undefined ? [] : [finds]),
    ...survey.known.punches.filter((punch) => mustMatch(filter, punch))
  ].filter(({ id }) => !got.has(id))
}

/** Reads the first page of a filter, a large one so that most answers are whole, and adds its rows to the sightings. */
export const readProbe = Effect.fnUntraced(function*(survey: Survey, filter: PunchFilter) {
  const page = yield* TimePunches.page(survey.company, filter)
  survey.sightings.push(...page.items.map((punch) => ({ punch, filter })))
  return page
})

/** Sends a probe. A missing punch counts only if the survey's own query still gives it, unchanged. */
export const runProbe = Effect.fnUntraced(function*(survey: Survey, probe: Probe) {
  const check = `filter ${probe.name}`
  const answer = yield* Effect.result(readProbe(survey, probe.filter))
  if (Result.isFailure(answer)) {
    const { failure } = answer
    return probe.isUnknown === true && (failure._tag === "UnprocessableEntity" || failure._tag === "UnexpectedStatus")
      ? ok(check, "an id without punches is rejected")
      : failed(check, failure, "filters")
  }
  const page = answer.success
  const rows = checkRows(probe.name, probe.filter, page.items)
  if (rows.status !== "ok") return rows
  const missing = missingFrom(page, probe, survey)
  return missing.length === 0 ? rows : yield* checkMissing(survey, probe, page, missing)
}, (effect, _, { name }) => Effect.catch(effect, (error) => Effect.succeed(failed(`filter ${name}`, error, "filters"))))

const checkMissing = Effect.fnUntraced(
  function*(survey: Survey, { finds, name, wider }: Probe, page: Page, missing: ReadonlyArray<TimePunch>) {
    const check = `filter ${name}`
    const again = yield* readKnown(survey.company, survey.filter)
    const first = missing.find((punch) => isAmong(punch, again.punches))
    if (first === undefined) return changed(check, "filters")
    if (wider !== undefined && first.id === finds?.id) {
      const widened = yield* readProbe(survey, wider)
      if (idsOf(widened.items).includes(first.id)) {
        return warn(
          check,
          `punch ${first.id} at an end of the window is not found`,
          "filters",
          "An end of the window is exclusive, or instants have hidden digits: let windows overlap by a second."
        )
      }
    }
    const detail = `punch ${first.id} matches, and is not among ${countedPunches(page.items.length)}`
    return fail(check, detail, "filters", omits)
  }
)

/** Only a warning: many services ignore the order, and a complete listing does not depend on it. */
export const checkOrder = (survey: Survey) =>
  readProbe(survey, { sortBy: [["clockedIn", "desc"]] }).pipe(
    Effect.match({
      onFailure: (error) => failed("sort_by", error, "filters"),
      onSuccess: ({ items }) =>
        isLatestFirst(items)
          ? ok("sort_by", "clocked_in.desc gives the latest first")
          : warn("sort_by", "clocked_in.desc does not give the latest first", "filters", "Sort the rows yourself.")
    })
  )

// MERGED probeTable.ts: Which filters `doctor` sends: each is made from known punches so that a service that misreads it must show it. Pure.

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
export const scopeOf = ({ deleted }: TimePunch): PunchCriteria => deleted ? { deleted: "only" } : {}

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
  shown: PunchCriteria
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
const windowProbes = (sample: TimePunch, shown: PunchCriteria): ReadonlyArray<Probe> => {
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
  shown: PunchCriteria
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
