/** The checks of `doctor` that need the service, in their order, and when the others are given up. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Company } from "../../Company.ts"
import type { Page } from "../../Page.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { maxPageSize } from "../flags/paging.ts"
import { counted, countedPunches } from "../terminal/format.ts"
import {
  checkOrder,
  checkRows,
  confirm,
  idsOf,
  isAmong,
  isSame,
  type Listing,
  mismatches,
  mustMatch,
  notApplied,
  omits,
  probesOf,
  readFirst,
  readKnown,
  readPages,
  readProbe,
  runProbe,
  type Survey
} from "./probes.ts"
import { changed, type CheckResult, fail, failed, failedAtFirst, ok, warn } from "./report.ts"

// MERGED cursors.ts: The checks of `doctor` on cursors: forward, backward, with a filter, and whether the listing ends where it says.

const report = "Do not rely on listings of this service until it is fixed: report it."

const pagesToWalk = 4

/** So that a walk has no more punches than the page that it is compared with. */
const largestWalkPage = 50

/** A listing that fits one page makes three pages, so that its end is seen too. */
const walkSize = ({ known, pageSize }: Survey): number =>
  known.isWhole ? Math.max(1, Math.ceil(known.punches.length / 3)) : Math.min(pageSize, largestWalkPage)

/** What two answers to one query say of each other that cannot be, and the punches that show it. */
interface Contradiction {
  readonly kind: "repeated" | "omitted" | "extra"
  readonly detail: string
  readonly punches: ReadonlyArray<TimePunch>
}

const contradiction = (walk: Listing, known: Listing): Contradiction | undefined => {
  const pages = counted(walk.pages.length, "page")
  const [all, inKnown] = [walk.punches.length, countedPunches(known.punches.length)]
  const firsts = new Map(walk.punches.toReversed().map((punch) => [punch.id, punch]))
  const repeated = walk.punches.filter((punch) => firsts.get(punch.id) !== punch)
  if (repeated.length > 0) {
    const detail = `${countedPunches(repeated.length)} of ${all} are repeated within ${pages}`
    return { kind: "repeated", punches: repeated, detail }
  }
  const extra = without(walk.punches, known.punches)
  if (known.isWhole && extra.length > 0) {
    const detail = `a page of ${maxPageSize} says that ${inKnown} are all, and ${pages} have ${extra.length} more`
    return { kind: "extra", punches: extra, detail }
  }
  // The walk has passed every punch that stands before one of its punches.
  const last = walk.isWhole
    ? known.punches.length
    : known.punches.findLastIndex((punch) => isAmong(punch, walk.punches))
  const omitted = without(known.punches.slice(0, Math.max(0, last)), walk.punches)
  const [first] = omitted
  if (first === undefined) return undefined
  const detail = walk.isWhole
    ? `the listing ends after ${pages} with ${countedPunches(all)}, and a page of ${maxPageSize} has ${inKnown}`
    : `${pages} omit punch ${first.id}, which a page of ${maxPageSize} has`
  return { kind: "omitted", punches: omitted, detail }
}

const without = (punches: ReadonlyArray<TimePunch>, others: ReadonlyArray<TimePunch>): ReadonlyArray<TimePunch> => {
  const ids = new Set(idsOf(others))
  return punches.filter(({ id }) => !ids.has(id))
}

const readWalk = (survey: Survey) => readPages(survey.company, survey.filter, walkSize(survey), pagesToWalk)

/** Whether a contradiction remains if punches may have changed: what appears or disappears in between shows none. */
const isConfirmed = Effect.fnUntraced(
  function*(survey: Survey, { kind, punches }: Contradiction, known: Listing, again: Listing) {
    switch (kind) {
      case "repeated":
        return isSame(known, again)
      case "omitted":
        return punches.some((punch) => isAmong(punch, again.punches))
      case "extra": {
        const absent = again.isWhole ? without(punches, again.punches) : []
        if (absent.length === 0) return false
        const walk = yield* readWalk(survey)
        return absent.some((punch) => isAmong(punch, walk.punches))
      }
    }
  }
)

/** How often a contradiction is looked for while punches change. */
const rounds = 2

/** Walks some pages forward, and compares them with one large page. */
export const checkCursors = Effect.fnUntraced(
  function*(survey: Survey) {
    let { known } = survey
    for (let round = 1;; round++) {
      const walk = yield* readWalk(survey)
      const found = contradiction(walk, known)
      const end = (result: CheckResult) => ({ result, walk: Option.some(walk) })
      if (found === undefined) {
        const detail = `${counted(walk.pages.length, "page")} forward, ${
          countedPunches(walk.punches.length)
        }, none twice`
        return end(ok("cursors", detail))
      }
      const again = yield* readKnown(survey.company, survey.filter)
      if (yield* isConfirmed(survey, found, known, again)) return end(fail("cursors", found.detail, "cursors", report))
      if (round === rounds) return end(changed("cursors", "cursors"))
      known = again
    }
  },
  Effect.catch((error) => Effect.succeed({ result: failed("cursors", error, "cursors"), walk: Option.none<Listing>() }))
)

const forwardOnly = "Do not page backward on this service; paging forward is not affected."

/** Going back from the second page must give the first one again. */
export const checkBackward = Effect.fnUntraced(
  function*(survey: Survey, walk: Listing) {
    const { company, filter } = survey
    const [first, second] = walk.pages
    if (first === undefined || second === undefined) return ok("back", "there is only one page")
    if (Option.isNone(second.cursor.prev)) {
      return warn("back", "the second page has no cursor back", "cursors", forwardOnly)
    }
    const pageSize = walkSize(survey)
    const readBack = TimePunches.page(company, filter, { pageSize, cursor: second.cursor.prev })
    const back = yield* readBack
    const [wanted, got] = [idsOf(first.items), idsOf(back.items)]
    if (wanted.join() === got.join()) {
      return ok("back", `from page 2 back to page 1: the same ${countedPunches(got.length)}`)
    }
    if (wanted.toSorted().join() === got.toSorted().join()) {
      return warn("back", "going back from page 2 gives page 1 in another order", "cursors", forwardOnly)
    }
    const again = yield* readPages(company, filter, pageSize, 2)
    const stays = Equal.equals([...first.items, ...second.items], again.punches) &&
      Equal.equals(back.items, (yield* readBack).items)
    return stays
      ? fail("back", "going back from page 2 does not give page 1", "cursors", forwardOnly)
      : changed("back", "cursors")
  },
  Effect.catch((error) => Effect.succeed(failed("back", error, "cursors")))
)

/** The filters that a later page is checked with, those first that divide the punches best. */
const candidates = (punch: TimePunch): ReadonlyArray<PunchFilter> => [
  { approved: punch.approved },
  { locationId: punch.locationId },
  { roleId: punch.roleId },
  { userId: punch.userId }
]

/** A filter that some known punches match and others do not, and how many match. */
const dividing = (punches: ReadonlyArray<TimePunch>) =>
  punches.flatMap((punch) => candidates(punch)).map((filter) => {
    const within: PunchFilter = { ...filter, deleted: "include" }
    return { filter, count: punches.filter((punch) => mustMatch(within, punch)).length }
  }).find(({ count }) => count > 1 && count < punches.length)

/** Later pages must match the filter of the first one: a cursor carries it, or the service repeats it. */
export const checkFilteredCursors = Effect.fnUntraced(
  function*({ company, filter, known, pageSize }: Survey) {
    const check = "cursors with a filter"
    const found = dividing(known.punches)
    if (found === undefined) return ok(check, "no filter divides the punches")
    const sent: PunchFilter = { ...found.filter, deleted: filter.deleted }
    const { pages } = yield* readPages(company, sent, Math.max(1, Math.min(pageSize, Math.floor(found.count / 2))), 3)
    const wrong = pages.map(({ items }) => items.filter((punch) => mismatches(sent, punch).length > 0).length)
    const [onFirst = 0] = wrong
    const at = wrong.findIndex((count) => count > 0)
    if (onFirst > 0) return ok(check, "not checked: the first page does not match its filter")
    return at === -1
      ? ok(check, `${counted(pages.length, "page")}, all match`)
      : fail(check, `${countedPunches(wrong[at] ?? 0)} of page ${at + 1} do not match its filter`, "cursors", report)
  },
  Effect.catch((error) => Effect.succeed(failed("cursors with a filter", error, "cursors")))
)

/** Where the service says that a page is the last one, no other answer may have a punch that belongs to the listing. */
export const checkEnd = Effect.fnUntraced(
  function*({ company, filter, known, sightings }: Survey) {
    if (!known.isWhole) return ok("end", `not checked: more than ${known.punches.length} punches`)
    const ids = new Set(idsOf(known.punches))
    const extra = sightings.find(({ punch }) => !ids.has(punch.id) && mustMatch(filter, punch))
    if (extra === undefined) return ok("end", `${countedPunches(known.punches.length)}, and no other answer has more`)
    const again = yield* readKnown(company, filter)
    const stays = again.isWhole && !idsOf(again.punches).includes(extra.punch.id)
    if (!stays) return changed("end", "cursors")
    const [confirmed] = yield* confirm([extra.punch], company, extra.filter, maxPageSize)
    return confirmed !== undefined
      ? fail(
        "end",
        `the listing ends after ${
          countedPunches(known.punches.length)
        } without punch ${extra.punch.id}, which another filter gives`,
        "cursors",
        report
      )
      : changed("end", "cursors")
  },
  Effect.catch((error) => Effect.succeed(failed("end", error, "cursors")))
)

// MERGED exclusive.ts: The checks of `doctor` on filters whose values divide the punches: `deleted`, and the employee's approval.

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
  Effect.catch((error) => Effect.succeed(failed(included, error, "filters")))
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

const statuses = "filter employee_approval_statuses"

/** A punch shows no approval of the employee, but it has one: it cannot be in the answers to two. */
export const checkStatuses = Effect.fnUntraced(
  function*(survey: Survey) {
    const pending: PunchFilter = { employeeApprovalStatuses: ["pending"] }
    const first = yield* readProbe(survey, pending)
    const second = yield* readProbe(survey, { employeeApprovalStatuses: ["approved"] })
    const twice = first.items.find((punch) => isAmong(punch, second.items))
    const pages = `${countedPunches(first.items.length)} pending, ${countedPunches(second.items.length)} approved`
    if (twice === undefined) return ok(statuses, `${pages}, none both; a punch does not show it`)
    const again = yield* readProbe(survey, pending)
    return isAmong(twice, again.items)
      ? fail(statuses, `punch ${twice.id} is both pending and approved`, "filters", notApplied)
      : changed(statuses, "filters")
  },
  Effect.catch((error) => Effect.succeed(failed(statuses, error, "filters")))
)

// MERGED service.ts: The checks of `doctor` on the service as a whole: its first answer, its page size, its clock.

/** Reports for each response how far this machine's clock is ahead of its `Date`, in milliseconds. */
export const layerClockSkew = (onSkew: (skew: number) => void) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.tap(client, (response) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const date = Option.map(Headers.get(response.headers, "date"), Date.parse)
          if (Option.isSome(date) && Number.isFinite(date.value))
            onSkew(now - date.value)
        })))
  )

/** Milliseconds. A `Date` has whole seconds, and a response takes time: smaller differences mean nothing. */
const skewTolerance = 30_000

export const checkClock = (skew: number): CheckResult => {
  if (Math.abs(skew) < skewTolerance) return ok("clock", "agrees with the service's")
  return warn(
    "clock",
    `${Duration.format(Duration.seconds(Math.round(Math.abs(skew) / 1000)))} ${
      skew > 0 ? "ahead of" : "behind"
    } the service's`,
    "clock",
    "Set this machine's clock, or windows that end now leave punches out. If it is right, the service's is wrong."
  )
}

/** Milliseconds after which an answer counts as slow. */
const slow = 5000

const checkTime = (millis: number): CheckResult =>
  millis < slow
    ? ok("service", `answered in ${millis} ms`)
    : warn("service", `answered in ${millis} ms`, "reachability", "The service is slow: allow long runs more time.")

const checkCount = ({ pages, punches }: Listing, isFiltered: boolean): CheckResult => {
  if (punches.length > 0) return ok("rows", `${countedPunches(punches.length)} could be read`)
  const advice = isFiltered
    ? "Give fewer filters: the other checks need punches."
    : "Give a company that has punches: the other checks need some."
  return warn(
    "rows",
    pages.length > 1 ? `the first ${pages.length} pages are empty` : "no punch matches",
    "answer",
    advice
  )
}

/** Reads the first punches; the other checks need them. */
export const checkFirstPage = Effect.fnUntraced(
  function*(company: Company, filter: PunchFilter, pageSize: number, isFiltered: boolean) {
    const [took, first] = yield* Effect.timed(Effect.result(readFirst(company, filter, pageSize)))
    if (Result.isFailure(first)) return { results: [failedAtFirst(first.failure)], first: Option.none<Listing>() }
    const results = [
      checkTime(Math.round(Duration.toMillis(took))),
      ok("access", `the credential may list company ${company.id}`),
      checkCount(first.success, isFiltered)
    ]
    return { results, first: Option.some(first.success) }
  }
)

/** Compares the pages with the sizes that were requested. Only a warning: no row is lost. */
export const checkPageSize = (first: Listing, pageSize: number, known: Listing): CheckResult => {
  const requested = [[first, pageSize], [known, maxPageSize]] as const
  const larger = requested.find(([{ pages }, size]) => pages.some(({ items }) => items.length > size))
  if (larger !== undefined) {
    const [{ punches }, size] = larger
    return warn(
      "page size",
      `${countedPunches(punches.length)} for a page size of ${size}`,
      "answer",
      "The service ignores the page size: expect large pages."
    )
  }
  const last = known.pages.at(-1)
  const rows = last === undefined ? 0 : Option.getOrElse(last.cursor.count, () => last.items.length)
  return known.isWhole || rows >= maxPageSize
    ? ok("page size", known.isWhole ? "no page is larger than requested" : `${maxPageSize} punches for ${maxPageSize}`)
    : warn(
      "page size",
      `${countedPunches(rows)} for a page size of ${maxPageSize}, and more follow`,
      "answer",
      "The service sends smaller pages than requested: expect more requests."
    )
}

/** After so many checks that found no service, the others are given up: each would wait as long. */
const mostOutages = 3

export const checkService = Effect.fnUntraced(function*<E, R>(options: {
  readonly company: Company
  readonly filter: PunchFilter
  readonly pageSize: number
  readonly isFiltered: boolean
  /** By how many milliseconds this machine's clock was ahead of the service's at the last response. */
  readonly skew: () => number | undefined
  readonly report: (...results: ReadonlyArray<CheckResult>) => Effect.Effect<void, E, R>
}) {
  const { company, filter, isFiltered, pageSize } = options
  let outages = 0
  let isRefused = false
  const report = (...results: ReadonlyArray<CheckResult>) => {
    const failures = results.filter(({ status }) => status === "FAIL")
    outages += failures.filter(({ reason }) => reason?.cause === "reachability").length
    isRefused ||= failures.some(({ reason }) => reason?.cause === "credential")
    return options.report(...results)
  }

  const { first, results } = yield* checkFirstPage(company, filter, pageSize, isFiltered)
  yield* report(...results)
  const skew = options.skew()
  if (skew !== undefined) yield* report(checkClock(skew))
  if (Option.isNone(first) || first.value.punches.length === 0) return

  const largest = yield* Effect.result(readKnown(company, filter))
  if (Result.isFailure(largest)) yield* report(failed("page size", largest.failure, "answer"))
  const known = Result.getOrElse(largest, () => first.value)
  if (Result.isSuccess(largest)) yield* report(checkPageSize(first.value, pageSize, known))
  const survey: Survey = { company, filter, pageSize, known, sightings: [] }

  const { result, walk } = yield* checkCursors(survey)
  yield* report(result)
  if (Option.isSome(walk)) yield* report(yield* checkBackward(survey, walk.value))
  if (isFiltered) yield* report(checkRows("as given", filter, known.punches))
  const one = <E2, R2>(check: Effect.Effect<CheckResult, E2, R2>) => Effect.map(check, (result) => [result])
  const checks = [
    one(checkFilteredCursors(survey)),
    checkDeleted(survey),
    ...probesOf(known.punches, yield* DateTime.now).map((probe) => one(runProbe(survey, probe))),
    one(checkStatuses(survey)),
    one(checkOrder(survey)),
    one(checkEnd(survey))
  ]
  for (const [index, check] of checks.entries()) {
    if (isRefused || outages >= mostOutages) {
      const left = checks.length - index
      return yield* options.report(
        warn("other checks", `${left} were given up`, isRefused ? "credential" : "reachability", "Check again later.")
      )
    }
    yield* report(...(yield* check))
  }
})
