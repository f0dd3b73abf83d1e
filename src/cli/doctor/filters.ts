/** The checks of the filters: each is sent with values of known punches, and the answers are compared with each other. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { isRefused } from "../../ApiError.ts"
import { BusinessDate } from "../../Ids.ts"
import { timePunchNames } from "../../internal/wire/names.ts"
import { twoListings, usualSpelling } from "../../internal/wire/spelling.ts"
import { idKeys, idOf } from "../../listing/parameters.ts"
import type { Page } from "../../Page.ts"
import type { PunchCriteria, PunchFilter } from "../../PunchFilter.ts"
import { look } from "../../sync/look.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { countedPunches } from "../print/format.ts"
import {
  hour,
  idsOf,
  isAmong,
  isShown,
  mismatches,
  mustMatch,
  possibleDates,
  readKnown,
  type Survey,
  timeOfDay,
  widestOffset
} from "./listing.ts"
import { changed, type CheckResult, fail, failed, ok, orFailed, warn } from "./report.ts"

/** A filter to send. */
interface Probe {
  readonly name: string
  readonly filter: PunchFilter
  /** A punch that it must find beside those for which `mustMatch` says so. */
  readonly finds?: TimePunch
  /** A filter that allows for digits which the punch does not show. It finds `finds` if only those are the reason. */
  readonly wider?: PunchFilter
  /** Whether the filter has an id that the service may not know: it may reject that. */
  readonly isUnknown?: boolean
}

const notApplied = "The service does not apply these filters as sent: check the rows yourself, and report it."

const omits = "The service omits matching punches: do not rely on these filters, and report it."

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
const readProbe = Effect.fnUntraced(function*(survey: Survey, filter: PunchFilter) {
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
}, (effect, _, { name }) => orFailed(`filter ${name}`, "filters")(effect))

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

type Deleted = NonNullable<PunchFilter["deleted"]>

/** A punch of one kind must be found among both kinds, by a filter that is narrowed to it. */
const narrowedTo = (punch: TimePunch, deleted: Deleted): PunchFilter => ({
  deleted,
  userId: punch.userId,
  clockedIn: { gte: punch.clockedIn, lte: DateTime.add(punch.clockedIn, { seconds: 1 }) }
})

/** What `include` says of a punch that `own`, the value for its kind, gives. */
const findIncluded = Effect.fnUntraced(function*(survey: Survey, punch: TimePunch, own: Deleted) {
  const both = yield* readProbe(survey, narrowedTo(punch, "include"))
  if (both.items.some(({ id }) => id === punch.id)) return "found"
  if (Option.isSome(both.cursor.next)) return "unknown"
  const control = yield* readProbe(survey, narrowedTo(punch, own))
  return isAmong(punch, control.items) ? "omitted" : "unknown"
})

const included = "filter deleted=include"

/** Without a deleted punch to narrow to: a deleted punch of `include` contradicts an `only` that has none. */
const checkBoth = Effect.fnUntraced(function*(survey: Survey, only: Page) {
  const both = yield* readProbe(survey, { deleted: "include" })
  const found = both.items.find(({ deleted }) => deleted)
  if (found === undefined || Option.isSome(only.cursor.next)) return ok(included, "no deleted punch to check it with")
  const again = yield* readProbe(survey, { deleted: "only" })
  const confirmed = yield* readProbe(survey, { deleted: "include" })
  return again.items.length === 0 && isAmong(found, confirmed.items)
    ? fail(included, `deleted punch ${found.id} is in it, and not in deleted=only`, "filters", omits)
    : changed(included, "filters")
})

const checkIncluded = Effect.fnUntraced(
  function*(survey: Survey, exclude: Page, only: Page) {
    const kinds = [[only, "only", true], [exclude, "exclude", false]] as const
    const samples = kinds.flatMap(([{ items }, own, isDeleted]) => {
      const punch = items.find(({ deleted }) => deleted === isDeleted)
      return punch === undefined ? [] : [{ punch, own }]
    })
    for (const { own, punch } of samples) {
      const answer = yield* findIncluded(survey, punch, own)
      if (answer === "omitted") {
        return fail(included, `it omits punch ${punch.id}, which deleted=${own} gives`, "filters", omits)
      }
      if (answer === "unknown") {
        return warn(
          included,
          `could not be checked: user_id and clocked_in do not find punch ${punch.id}`,
          "filters",
          "Check again when fewer punches change."
        )
      }
    }
    return only.items.length === 0
      ? yield* checkBoth(survey, only)
      : ok(included, `has what deleted=only and deleted=exclude have, narrowed to ${countedPunches(samples.length)}`)
  },
  orFailed(included, "filters")
)

/** `exclude`, `only` and `include`, each compared with the others. */
export const checkDeleted = Effect.fnUntraced(function*(survey: Survey) {
  const results: Array<CheckResult> = []
  const pages: Array<Page> = []
  for (const deleted of ["exclude", "only"] as const) {
    const filter: PunchFilter = { deleted }
    const page = yield* Effect.result(readProbe(survey, filter))
    if (page._tag === "Failure") return [...results, failed(`filter deleted=${deleted}`, page.failure, "filters")]
    results.push(checkRows(`deleted=${deleted}`, filter, page.success.items))
    pages.push(page.success)
  }
  const [exclude, only] = pages
  if (exclude !== undefined && only !== undefined) results.push(yield* checkIncluded(survey, exclude, only))
  return results
})

const deletions = "deleted punches"

/** How a sync asks for deleted punches and others alike, and whether the answers show the deleted ones. */
export const checkDeletions = Effect.fnUntraced(
  function*({ company }: Survey) {
    const punches = yield* TimePunches
    const both = yield* Effect.result(punches.page(company, { deleted: "include" }, { pageSize: 1 }))
    if (Result.isFailure(both)) {
      if (!isRefused(both.failure)) return yield* both.failure
      yield* punches.page(company, { deleted: "only" }, { pageSize: 1 })
      return warn(deletions, `no way to ask for them with others is taken, ${twoListings} is`, "filters", readTwice)
    }
    const { spelling = usualSpelling } = both.success
    const seen = yield* look(punches, company, spelling)
    switch (seen._tag) {
      case "shown":
        return ok(deletions, `${spelling} shows them`)
      case "nothing":
        return ok(deletions, `${spelling} is taken; no punch is deleted, so none shows it`)
      case "unclear":
        return warn(
          deletions,
          `${spelling} is taken; whether it shows them is unclear`,
          "filters",
          "Check again when fewer punches change: a service that hides deleted punches makes a copy keep them."
        )
      case "hidden":
        return warn(deletions, `${spelling} hides them, ${seen.proven} shows them`, "filters", sweepAll)
    }
  },
  orFailed(deletions, "filters")
)

const readTwice =
  "A sync makes two listings of it by itself: twice as many requests. list --deleted include cannot work."

const sweepAll = "A sync finds this by itself. Sweep copies that were made before: time-punches copy sync --sweep all."

/** A closed punch with as many ids as any, in the middle of its kind: others are before and after it. */
const sampleOf = (punches: ReadonlyArray<TimePunch>): TimePunch | undefined => {
  const closed = punches.filter((punch) => Option.isSome(punch.clockedOut))
  const idsOf = (punch: TimePunch): number => idKeys.filter((key) => idOf(punch, key) !== 0).length
  const most = Math.max(...closed.map(idsOf))
  const full = closed.filter((punch) => idsOf(punch) === most)
  const kind = full.length > 0 ? full : punches
  return kind.toSorted((a, b) => a.clockedIn.epochMilliseconds - b.clockedIn.epochMilliseconds)[kind.length >> 1]
}

/** One probe for every filter whose effect a punch shows. */
export const probesOf = (punches: ReadonlyArray<TimePunch>, now: DateTime.Utc): ReadonlyArray<Probe> => {
  const sample = sampleOf(punches)
  if (sample === undefined) return []
  // Includes a punch with this mark, and as few others as possible.
  const shown: PunchCriteria = sample.deleted ? { deleted: "only" } : {}
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
    // If all have the same id, only another one, close to it, shows that the filter is dropped.
    const other: Probe = { name: `${name}, another`, filter: filterOf(id > 1 ? id - 1 : id + 1), isUnknown: true }
    const isSingle = punches.every((punch) => idOf(punch, key) === id)
    return [id === 0 ? undefined : own, isSingle ? other : undefined].filter((probe) => probe !== undefined)
  })

/** Windows of one instant: they show whether both ends are sent and inclusive. */
const windowProbes = (sample: TimePunch, shown: PunchCriteria): ReadonlyArray<Probe> => {
  const at = sample.clockedIn
  const out = Option.getOrUndefined(sample.clockedOut)
  const exact = (gte: DateTime.Utc) => ({ gte, lte: gte })
  const wider = (gte: DateTime.Utc) => ({ gte, lte: DateTime.add(gte, { seconds: 1 }) })
  const offsetsAround = {
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
    {
      name: "localize_search_time",
      filter: { ...shown, clockedIn: offsetsAround, localizeSearchTime: true },
      finds: sample
    }
  ]
}

/** The smallest step from one change to the next that is worth a probe, in milliseconds. */
const smallestStep = 3000

/**
 * Just before the latest change, between the two closest changes, and after all: a service that drops the parameter, or
 * reads it in another zone, sends punches that were modified earlier, or omits the latest.
 */
const modifiedProbes = (punches: ReadonlyArray<TimePunch>, now: DateTime.Utc): ReadonlyArray<Probe> => {
  const modified = punches.flatMap(({ modified }) => Option.toArray(modified))
  const times = [...new Set(modified.map((at) => at.epochMilliseconds))].toSorted((a, b) => b - a)
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
 * Only the service knows the zone of a business date. The dates that the sample may have must find it. The day after an
 * early clock-in must not find it, nor must the day before a late one.
 */
const dateProbes = (
  sample: TimePunch,
  punches: ReadonlyArray<TimePunch>,
  shown: PunchCriteria
): ReadonlyArray<Probe> => {
  const inScope = punches.filter(({ deleted }) => deleted === sample.deleted)
    .toSorted((a, b) => timeOfDay(a.clockedIn) - timeOfDay(b.clockedIn))
  const [early, late] = [inScope.at(0)?.clockedIn, inScope.at(-1)?.clockedIn]
  const probeOn = (name: string, at: DateTime.Utc, days: number): Probe => {
    const date = BusinessDate.make(DateTime.formatIsoDateUtc(DateTime.add(at, { days })))
    return { name, filter: { ...shown, businessDate: { first: date, last: date } } }
  }
  return [
    { name: "business_date", filter: { ...shown, businessDate: possibleDates(sample.clockedIn) }, finds: sample },
    ...(early !== undefined && timeOfDay(early) < sureHours.before
      ? [probeOn("business_date, day after", early, 1)]
      : []),
    ...(late !== undefined && timeOfDay(late) >= sureHours.from ? [probeOn("business_date, day before", late, -1)] : [])
  ]
}
