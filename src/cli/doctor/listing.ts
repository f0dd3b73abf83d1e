/** The checks of a listing as a whole: first answer, clock, page size, cursors, order. */
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
import * as Stream from "effect/Stream"
import { isRefused, type ListError } from "../../ApiError.ts"
import type { Company } from "../../Company.ts"
import { markText } from "../../internal/wire/mark.ts"
import { versionWarning } from "../../internal/wire/version.ts"
import { maxPageSize } from "../../listing/parameters.ts"
import type { Page, PageResponse } from "../../Page.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { knownKeys } from "../flags/connection.ts"
import { counted, countedPunches } from "../print/format.ts"
import { type CheckResult, failedAtFirst, makeCheck, ok, unreliable, warn } from "./report.ts"

/** Some pages of a listing from its start. */
interface Listing {
  readonly pages: ReadonlyArray<Page>
  readonly punches: ReadonlyArray<TimePunch>
  /** Whether the service said that no page follows. */
  readonly isWhole: boolean
}

/** The first punches of a filter. */
export interface Answer extends Listing {
  /** The check that it is for. */
  readonly name: string
  readonly filter: PunchFilter
}

/** What the checks share. */
export interface Survey {
  readonly company: Company
  /** The filter as it was given. */
  readonly filter: PunchFilter
  readonly pageSize: number
  /** The largest page of the filter. */
  readonly known: Listing & { readonly size: number }
  /** The answers to other filters; the checks add to it. */
  readonly answers: Array<Answer>
}

const toListing = (pages: ReadonlyArray<Page>): Listing => ({
  pages,
  punches: pages.flatMap(({ items }) => items),
  isWhole: pages.slice(-1).every(({ cursor }) => Option.isNone(cursor.next))
})

/** Reads at most this number of pages. */
const readPages = (company: Company, filter: PunchFilter, pageSize: number, pages: number) =>
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

/** The largest page of a filter, in the largest of four sizes that the service takes. */
export const readKnown = (company: Company, filter: PunchFilter) => {
  const read = (size: number) => Effect.map(readFirst(company, filter, size), (known) => ({ ...known, size }))
  return [100, 50, 20].reduce(
    (tried, size) => Effect.catchIf(tried, isSizeRefused, () => read(size)),
    read(maxPageSize)
  )
}

/** Whether it may be the page size that was refused: some services do not name the parameter. */
const isSizeRefused = (error: ListError): boolean =>
  isRefused(error) && "problem" in error && (error.problem.param === undefined || error.problem.param === "limit")

export const idsOf = (punches: ReadonlyArray<TimePunch>): ReadonlyArray<number> => punches.map(({ id }) => id)

/** Whether the punch is among these, with equal fields. */
export const isAmong = (punch: TimePunch, punches: ReadonlyArray<TimePunch>): boolean =>
  punches.some((other) => other.id === punch.id && Equal.equals(other, punch))

/** Reports for each response how far this machine's clock is ahead of its `Date`, in milliseconds. */
export const layerClockSkew = (onSkew: (skew: number) => void) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.tap(client, (response) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const date = Option.flatMap(
            Headers.get(response.headers, "date"),
            (text) =>
              Result.getSuccess(Headers.parseHttpDate(text))
          )
          if (Option.isSome(date)) onSkew(now - date.value.epochMilliseconds)
        })))
  )

/** Milliseconds. A `Date` has whole seconds, and a response takes time: smaller differences mean nothing. */
const skewTolerance = 30_000

const clock = makeCheck("clock", "clock")

export const checkClock = (skew: number): CheckResult => {
  if (Math.abs(skew) < skewTolerance) return clock.ok("agrees with the service's")
  return clock.warn(
    `${Duration.format(Duration.seconds(Math.round(Math.abs(skew) / 1000)))} ${
      skew > 0 ? "ahead of" : "behind"
    } the service's`,
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

const answeredBy = makeCheck("version of the answer", "version")

/** Compares the version that answered with the one that was requested; without one, says which one the token has. */
const checkAnswered = ({ apiVersion, askedVersion }: PageResponse): CheckResult => {
  if (Option.isNone(apiVersion)) return answeredBy.ok("the service does not name it")
  const answered = apiVersion.value
  const warning = versionWarning({ answered, asked: askedVersion })
  if (warning === undefined) return answeredBy.ok(Option.isNone(askedVersion) ? `${answered}, of the token` : answered)
  return Option.exists(askedVersion, (asked) => answered > asked)
    ? answeredBy.warn(warning, "Set TIME_PUNCHES_API_VERSION to this version, if it reads your punches right.")
    : answeredBy.fail(warning, "Set TIME_PUNCHES_API_VERSION to a version that the service knows.")
}

/** Reads the first punches; the other checks need them. */
export const checkFirstPage = Effect.fnUntraced(
  function*(company: Company, filter: PunchFilter, pageSize: number, isFiltered: boolean) {
    const [took, first] = yield* Effect.timed(Effect.result(readFirst(company, filter, pageSize)))
    if (Result.isFailure(first)) return { results: [failedAtFirst(first.failure)], first: Option.none<Listing>() }
    const results = [
      checkTime(Math.round(Duration.toMillis(took))),
      ok("access", `the credential may list company ${company.id}`),
      ...first.success.pages.slice(0, 1).map(({ response }) => checkAnswered(response)),
      checkCount(first.success, isFiltered)
    ]
    return { results, first: Option.some(first.success) }
  }
)

const sizes = makeCheck("page size", "answer")

/** Compares the pages with the sizes that were requested; `usual` is that of other commands. Only a warning: no row is lost. */
export const checkPageSize = (
  first: Listing,
  pageSize: number,
  known: Listing & { readonly size: number },
  usual: number
): CheckResult => {
  const { size } = known
  if (size < maxPageSize) {
    const detail = `pages of ${maxPageSize} are refused, of ${size} taken`
    return usual <= size
      ? sizes.ok(`${detail}; ${usual} is set`)
      : sizes.warn(detail, `Set TIME_PUNCHES_PAGE_SIZE=${size}: no other command can read the service.`)
  }
  const requested = [[first, pageSize], [known, maxPageSize]] as const
  const larger = requested.find(([{ pages }, size]) => pages.some(({ items }) => items.length > size))
  if (larger !== undefined) {
    const [{ punches }, size] = larger
    return sizes.warn(
      `${countedPunches(punches.length)} for a page size of ${size}`,
      "The service ignores the page size: expect large pages."
    )
  }
  const last = known.pages.at(-1)
  const rows = last === undefined ? 0 : Option.getOrElse(last.cursor.count, () => last.items.length)
  return known.isWhole || rows >= maxPageSize
    ? sizes.ok(known.isWhole ? "no page is larger than requested" : `${maxPageSize} punches for ${maxPageSize}`)
    : sizes.warn(
      `${countedPunches(rows)} for a page size of ${maxPageSize}, and more follow`,
      "The service sends smaller pages than requested: expect more requests."
    )
}

/** A removed break that the service still lists must be marked, or it is subtracted from the hours. */
export const checkBreaks = ({ punches }: Listing): CheckResult => {
  const breaks = punches.flatMap(({ breaks }) => breaks)
  return ok("breaks", `${counted(breaks.length, "break")}, ${breaks.filter(({ deleted }) => deleted).length} deleted`)
}

/** The fields that may take punches away, without those that the settings call harmless. */
export const checkMarks = Effect.fnUntraced(function*({ pages }: Listing) {
  const harmless = yield* knownKeys
  return pages.flatMap(({ marks = [] }) => marks).filter(({ path }) => !harmless.includes(path)).map((mark) =>
    warn(
      "marks",
      markText(mark),
      "answer",
      "Look at that punch. If the field is harmless, name it in TIME_PUNCHES_KNOWN_KEYS."
    )
  )
})

const pagesToWalk = 4

/** A walk with these pages has no more punches than the page that it is compared with. */
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
        return known.isWhole === again.isWhole && Equal.equals(known.punches, again.punches)
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

const cursors = makeCheck("cursors", "cursors")

/** Walks some pages forward, and compares them with one large page. */
export const checkCursors = Effect.fnUntraced(
  function*(survey: Survey) {
    let { known } = survey
    for (let round = 1;; round++) {
      const walk = yield* readWalk(survey)
      const found = contradiction(walk, known)
      if (found === undefined) {
        return cursors.ok(
          `${counted(walk.pages.length, "page")} forward, ${countedPunches(walk.punches.length)}, none twice`
        )
      }
      const again = yield* readKnown(survey.company, survey.filter)
      if (yield* isConfirmed(survey, found, known, again))
        return cursors.fail(found.detail, unreliable)
      if (round === rounds) return cursors.changed()
      known = again
    }
  },
  cursors.orFailed
)

/** Whether some punch of a list has an earlier instant than the one before it. */
const descends = (
  punches: ReadonlyArray<TimePunch>,
  of: (punch: TimePunch) => Option.Option<DateTime.Utc>
): boolean => {
  const times = punches.flatMap((punch) => Option.toArray(of(punch))).map(({ epochMilliseconds }) => epochMilliseconds)
  return times.some((time, at) => time < (times[at - 1] ?? -Infinity))
}

const isClockedInBack = (punches: ReadonlyArray<TimePunch>): boolean =>
  descends(punches, ({ clockedIn }) => Option.some(clockedIn))

/** Whether the order of these punches, which is the service's own, is by id and by nothing that an edit changes. */
const isById = (own: ReadonlyArray<TimePunch>): boolean =>
  own.every(({ id }, at) => at === 0 || id > (own[at - 1]?.id ?? 0)) &&
  isClockedInBack(own) && descends(own, ({ modified }) => modified)

/** Filters whose first two punches by id may be clocked in the other way round: of all, and of some users. */
const narrowings = ({ filter, known }: Survey): ReadonlyArray<PunchFilter> => {
  const sorted: PunchFilter = { ...filter, sortBy: [["id", "asc"]] }
  const users = [...new Set(known.punches.map(({ userId }) => userId))]
  const promising = users.filter((userId) =>
    isClockedInBack(
      known.punches.filter((punch) => punch.userId === userId).toSorted((a, b) => a.id - b.id).slice(0, 2)
    )
  )
  return [sorted, ...promising.slice(0, 3).map((userId): PunchFilter => Object.assign({}, sorted, { userId }))]
}

/**
 * Whether one punch and its `next` are the first two punches by id, as a page of two gives them. Only two punches show it
 * that are clocked in the other way round and do not follow each other in the service's own order; else `undefined`.
 */
const keepsOrder = Effect.fnUntraced(
  function*(survey: Survey, own: ReadonlyArray<TimePunch>) {
    for (const filter of narrowings(survey)) {
      const readBoth = Effect.map(TimePunches.page(survey.company, filter, { pageSize: 2 }), ({ items }) => items)
      const both = yield* readBoth
      const [first, second] = both
      const following = own.filter(({ userId }) => filter.userId === undefined || userId === filter.userId)
      const after = following[following.findIndex(({ id }) => id === first?.id) + 1]
      if (second === undefined || !isClockedInBack(both) || after?.id === second.id) continue
      const single = yield* readPages(survey.company, filter, 1, 2)
      if (idsOf(both).join() === idsOf(single.punches).join()) return "kept"
      return Equal.equals(both, yield* readBoth) ? "dropped" : "changed"
    }
    return undefined
  },
  (effect) =>
    Effect.catchIf(
      effect,
      isRefused,
      () => Effect.succeed("refused" as const)
    )
)

const order = makeCheck("order", "cursors")

/**
 * The premises of `time-punches sync`. If a cursor names a record, an edit that moves the record hides rows behind it:
 * the service's own order must be one in which no edit moves a row, or it must keep `sort_by=id.asc` in its cursors.
 */
export const checkOrderById = Effect.fnUntraced(
  function*(survey: Survey) {
    const own = survey.filter.sortBy === undefined
      ? survey.known.punches
      : (yield* readKnown(survey.company, { ...survey.filter, sortBy: undefined })).punches
    if (isById(own)) return order.ok("by id, which no edit changes: sync needs no --sort-by-id")
    const kept = yield* keepsOrder(survey, own)
    switch (kept) {
      case undefined:
        return order.ok("not checked: no two punches are clocked in the other way round than by id")
      case "changed":
        return order.changed()
      case "kept":
        return order.warn(
          "not by id, but sort_by=id.asc is kept with a cursor",
          "Run time-punches sync with --sort-by-id: without it, an edit between two pages may hide punches."
        )
      default:
        return order.warn(
          `not by id, and sort_by=id.asc is ${kept === "refused" ? "refused" : "dropped with a cursor"}`,
          "Run time-punches sync without --sort-by-id, when few punches are edited: an edit between two pages may hide " +
            "punches until a sweep, and a sweep may mark them as missing."
        )
    }
  },
  order.orFailed
)
