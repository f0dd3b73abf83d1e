/**
 * START HERE. A long range, in windows that are read at once. From a call of `backfill` to the segments and queries to read:
 * everything is validated before anything is sent.
 */
import type * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { BackfillError, type BackfillFilter, type BackfillOptions, BackfillSegment } from "../Backfill.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { buildQuery, checkOptions, invalid, validateCount } from "../listing/request.ts"
import { decodePunches } from "../listing/rows.ts"
import { type Client, pageSizeOf, type Run, runOptions, settingsOf } from "../listing/run.ts"
import { spelledPages } from "../listing/spelling.ts"
import type { Fetch } from "../listing/walk.ts"
import type { PunchFilter } from "../PunchFilter.ts"
import { fingerprint, type Segment, segmentOf, textOf } from "../Segment.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { Reader } from "./workers.ts"

/** Beyond this many requests at once a service sees an attack rather than a client. */
const maxConcurrency = 64

/** A backfill decides the order, the zone and the windows of its queries itself. */
const reservedFields = ["sortBy", "localizeSearchTime", "clockedOut"] as const

const decodeTexts = Schema.decodeUnknownOption(Schema.Array(BackfillSegment))

/** Tells the filters of backfills apart. A filter that is refused has 0, so that no other one takes its segments. */
export const filterOf = (company: CompanyId | Company, filter: BackfillFilter): number =>
  Result.match(buildQuery(company, filter), { onFailure: () => 0, onSuccess: ({ target }) => fingerprint(target) })

/** The whole range as one segment; none if the filter has no closed range. */
const wholeRange = ({ clockedIn }: BackfillFilter): ReadonlyArray<Segment> => {
  const { gte, lt, lte } = clockedIn ?? {}
  const until = lt ?? lte
  return !DateTime.isDateTime(gte) || !DateTime.isDateTime(until)
    ? []
    : [{ gte: DateTime.toUtc(gte), until: DateTime.toUtc(until), inclusive: lt === undefined, cursor: Option.none() }]
}

/** Validates a call and prepares how its windows are read. After a refused call everything is unfinished. */
export const planBackfill = (
  client: Client,
  context: Context.Context<never>,
  company: CompanyId | Company,
  filter: BackfillFilter,
  options: BackfillOptions
) =>
  Result.mapError(validateCall(client, context, company, filter, options), (cause) => {
    const all = () => wholeRange(filter).map((segment) => toText(filterOf(company, filter), segment))
    // Texts that cannot be read may have been anything: to name none of it would say that the range is read.
    const unfinished = Option.getOrElse(decodeTexts(options.segments), all)
    return new BackfillError({ cause, unfinished })
  })

export const toText = (filter: number, segment: Segment): BackfillSegment =>
  BackfillSegment.make(textOf(filter, segment), { disableChecks: true })

const knownOptions: { readonly [K in keyof BackfillOptions]-?: true } = {
  concurrency: true,
  pageSize: true,
  order: true,
  segments: true,
  ...runOptions
}

const validateCall = (
  client: Client,
  context: Context.Context<never>,
  company: CompanyId | Company,
  filter: BackfillFilter,
  options: BackfillOptions
) =>
  Result.gen(function*() {
    const { concurrency, order = "asCompleted" } = options
    const pageSize = pageSizeOf(client, context, options)
    const query = yield* buildQuery(company, filter, pageSize)
    const companyId = query.company.id
    yield* checkOptions(companyId, options, knownOptions)
    const untyped: PunchFilter = filter
    for (const field of reservedFields) {
      if (untyped[field] !== undefined) return yield* invalid(companyId, field, "cannot go with a backfill")
    }
    const [range] = wholeRange(filter)
    if (range === undefined || (filter.clockedIn.lt !== undefined && filter.clockedIn.lte !== undefined)) {
      return yield* invalid(companyId, "clockedIn", "must have gte, and one of lte and lt")
    }
    yield* validateCount(companyId, "concurrency", concurrency, 1, maxConcurrency)
    if (order !== "asCompleted" && order !== "byTime")
      return yield* invalid(companyId, "order", "must be asCompleted or byTime")
    const id = filterOf(company, filter)
    const texts: unknown = options.segments
    const segments = texts === undefined
      ? Option.some([range])
      : Array.isArray(texts)
      ? Option.all(texts.map((text) => segmentOf(id, text)))
      : Option.none()
    if (Option.isNone(segments) || !areWithin(segments.value, range)) {
      return yield* invalid(
        companyId,
        "segments",
        "must be what a backfill of the same company and filter left unfinished"
      )
    }

    const settings = yield* settingsOf(client, context, companyId, options)

    // Of the windows a backfill owns each row itself.
    const { contradicted } = yield* buildQuery(company, { ...filter, clockedIn: undefined }, pageSize)

    const fetchWith =
      (run: Run) => (gte: DateTime.Utc, lte: DateTime.Utc, direction: "asc" | "desc"): Fetch<TimePunch> => {
        const part = buildQuery(
          company,
          { ...filter, clockedIn: { gte, lte }, sortBy: [["clockedIn", direction]] },
          pageSize
        )
        if (Result.isFailure(part)) return () => Effect.fail(part.failure)
        return spelledPages(run, context, decodePunches, { ...part.success, contradicted })
      }
    const readerOf = (run: Run): Reader => {
      const fetch = fetchWith(run)
      const firstPage = (direction: "asc" | "desc") => fetch(range.gte, range.until, direction)(Option.none(), 0)
      return {
        companyId,
        textOf: (segment) => toText(id, segment),
        fetch: ({ gte, queriedUntil }) => fetch(DateTime.makeUnsafe(gte), DateTime.makeUnsafe(queriedUntil), "asc"),
        survey: Effect.map(
          Effect.all([firstPage("asc"), firstPage("desc")], { concurrency: 2 }),
          ([first, descending]) => {
            const last = descending.rows.toReversed()
            const isSmall = Option.isNone(first.cursor.next)
            const ordered = isOrdered(first.rows, last)
            const isUsable = isUnread(segments.value, range) && (isSmall || ordered)
            return { isSmall, ordered, pages: isUsable ? { first, last } : undefined }
          }
        )
      }
    }
    return { readerOf, settings, segments: segments.value, workers: concurrency, pageSize, order }
  })

/** Whether the segments are the whole range, of which nothing was read. */
const isUnread = ([segment, ...others]: ReadonlyArray<Segment>, range: Segment): boolean =>
  segment !== undefined && others.length === 0 && Option.isNone(segment.cursor) && segment.unordered !== true &&
  DateTime.Equivalence(segment.gte, range.gte) && DateTime.Equivalence(segment.until, range.until) &&
  segment.inclusive === range.inclusive

/** Whether rows rise from the first to the last. A service that ignores `sort_by` sends the same rows for both ends. */
const isOrdered = (first: ReadonlyArray<TimePunch>, last: ReadonlyArray<TimePunch>): boolean => {
  const isRising = (rows: ReadonlyArray<TimePunch>) =>
    rows.every((row, index) => DateTime.isLessThanOrEqualTo(rows[index - 1]?.clockedIn ?? row.clockedIn, row.clockedIn))
  const [lowest, highest] = [first[0], last.at(-1)]
  return lowest !== undefined && highest !== undefined &&
    DateTime.isLessThan(lowest.clockedIn, highest.clockedIn) && isRising(first) && isRising(last)
}

/** Whether the segments lie within the range and share no instant, so that no row is emitted twice. */
const areWithin = (segments: ReadonlyArray<Segment>, range: Segment): boolean => {
  const inOrder = segments.toSorted((a, b) => a.gte.epochMilliseconds - b.gte.epochMilliseconds)
  return inOrder.every(({ gte, inclusive, queriedUntil, until }, index) => {
    const next = inOrder[index + 1]
    const limit = next === undefined ? range : { until: next.gte, inclusive: false }
    return DateTime.isGreaterThanOrEqualTo(gte, range.gte) && DateTime.isLessThanOrEqualTo(gte, until) &&
      DateTime.isGreaterThanOrEqualTo(queriedUntil ?? until, until) &&
      (DateTime.isLessThan(until, limit.until) ||
        (DateTime.Equivalence(until, limit.until) && (!inclusive || limit.inclusive)))
  })
}
