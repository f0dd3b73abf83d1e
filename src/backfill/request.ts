/** From a call of `backfill` to what is read: everything checked before anything is sent. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../ApiError.ts"
import { BackfillError, type BackfillFilter, type BackfillOptions, Segment } from "../Backfill.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { fetchRows, type Run } from "../listing/fetch.ts"
import { buildQuery, maxPageSize } from "../listing/request.ts"
import { decodePunches } from "../listing/rows.ts"
import type { Fetch } from "../listing/walk.ts"
import type { PunchFilter } from "../PunchFilter.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { Reader } from "./workers.ts"

/** The most windows that may be read at once: past this a service sees an attack rather than a client. */
const mostWorkers = 64

const decodeSegments = Schema.decodeUnknownOption(Schema.Array(Segment))

/** The whole range as one segment; none where the filter has no such range. */
const wholeOf = ({ clockedIn }: BackfillFilter): ReadonlyArray<Segment> => {
  const { gte, lt, lte } = clockedIn ?? {}
  const until = lt ?? lte
  return !DateTime.isDateTime(gte) || !DateTime.isDateTime(until)
    ? []
    : [{ gte: DateTime.toUtc(gte), until: DateTime.toUtc(until), inclusive: lt === undefined, cursor: Option.none() }]
}

/** Checks a call, and prepares how its tasks are read. Of a call that is refused everything is unfinished. */
export const planBackfill = (
  run: Run,
  company: CompanyId | Company,
  filter: BackfillFilter,
  options: BackfillOptions
) =>
  Result.mapError(checked(run, company, filter, options), (cause) => {
    const unfinished = decodeSegments(options.resume ?? wholeOf(filter))
    return new BackfillError({ cause, unfinished: Option.getOrElse(unfinished, () => []) })
  })

const checked = (run: Run, company: CompanyId | Company, filter: BackfillFilter, options: BackfillOptions) =>
  Result.gen(function*() {
    const { concurrency, order = "asCompleted", pageSize = maxPageSize } = options
    const query = yield* buildQuery(company, filter, pageSize)
    const companyId = query.company.id
    const invalid = (field: string, detail: string) => Result.fail(new InvalidRequest({ companyId, field, detail }))
    const untyped: PunchFilter = filter
    for (const field of ["sortBy", "localizeSearchTime", "clockedOut"] as const) {
      if (untyped[field] !== undefined) return yield* invalid(field, "cannot go with a backfill")
    }
    const [range] = wholeOf(filter)
    if (range === undefined || (filter.clockedIn.lt !== undefined && filter.clockedIn.lte !== undefined)) {
      return yield* invalid("clockedIn", "must have gte, and one of lte and lt")
    }
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > mostWorkers) {
      return yield* invalid("concurrency", `must be a whole number from 1 to ${mostWorkers}`)
    }
    if (order !== "asCompleted" && order !== "byTime") return yield* invalid("order", "must be asCompleted or windows")
    const segments = decodeSegments(options.resume ?? [range])
    if (Option.isNone(segments) || !areWithin(segments.value, range)) {
      return yield* invalid("resume", "must be what a backfill of this very range left unfinished")
    }

    const fetch = (gte: DateTime.Utc, lte: DateTime.Utc, direction: "asc" | "desc"): Fetch<TimePunch> => {
      const part = buildQuery(
        company,
        { ...filter, clockedIn: { gte, lte }, sortBy: [["clockedIn", direction]] },
        pageSize
      )
      return (cursor, index) =>
        Effect.flatMap(Effect.fromResult(part), (query) => fetchRows(run, decodePunches, query, cursor, index))
    }
    const edge = (direction: "asc" | "desc") => fetch(range.gte, range.until, direction)(Option.none(), 0)

    const reader: Reader = {
      companyId,
      open: ({ asked, gte }) => fetch(DateTime.makeUnsafe(gte), DateTime.makeUnsafe(asked), "asc"),
      survey: Effect.map(Effect.all([edge("asc"), edge("desc")], { concurrency: 2 }), ([up, down]) => ({
        isSmall: Option.isNone(up.cursor.next),
        ordered: isOrdered(up.rows, down.rows.toReversed())
      }))
    }
    return { reader, segments: segments.value, workers: concurrency, pageSize, order }
  })

/** Whether rows rise from the first to the last. A service that is deaf to the order asked for begins both ways alike. */
const isOrdered = (first: ReadonlyArray<TimePunch>, last: ReadonlyArray<TimePunch>): boolean => {
  const isRising = (rows: ReadonlyArray<TimePunch>) =>
    rows.every((row, index) => DateTime.isLessThanOrEqualTo(rows[index - 1]?.clockedIn ?? row.clockedIn, row.clockedIn))
  const [lowest, highest] = [first[0], last.at(-1)]
  return lowest !== undefined && highest !== undefined &&
    DateTime.isLessThan(lowest.clockedIn, highest.clockedIn) && isRising(first) && isRising(last)
}

/** Whether parts lie within a range and share no instant, so that no row comes twice. */
const areWithin = (parts: ReadonlyArray<Segment>, range: Segment): boolean => {
  const inOrder = parts.toSorted((a, b) => a.gte.epochMilliseconds - b.gte.epochMilliseconds)
  return inOrder.every((part, index) => {
    const { gte, inclusive, until } = part
    const next = inOrder[index + 1]
    const limit = next === undefined ? range : { until: next.gte, inclusive: false }
    return DateTime.isGreaterThanOrEqualTo(gte, range.gte) && DateTime.isLessThanOrEqualTo(gte, until) &&
      (DateTime.isLessThan(until, limit.until) ||
        (DateTime.Equivalence(until, limit.until) && (!inclusive || limit.inclusive)))
  })
}
