/** From a call of `backfill` to what is read: everything checked before anything is sent. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../ApiError.ts"
import { type BackfillFilter, type BackfillOptions, Segment } from "../Backfill.ts"
import type { Company, Filter } from "../Filter.ts"
import type { CompanyId } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type Client, fetchRows } from "./attempt.ts"
import type { Reader } from "./backfill.ts"
import { compile, maxPageSize } from "./request.ts"
import { decodePunches } from "./rows.ts"
import type { Fetch } from "./walk.ts"

/** The most windows that may be read at once: past this a service sees an attack rather than a client. */
const mostWorkers = 64

const decodeSegments = Schema.decodeUnknownOption(Schema.Array(Segment))

/** The whole range as one segment; none where the filter has no such range. */
export const wholeOf = ({ clockedIn }: BackfillFilter): ReadonlyArray<Segment> => {
  const { gte, lt, lte } = clockedIn ?? {}
  const end = lt ?? lte
  return !DateTime.isDateTime(gte) || !DateTime.isDateTime(end)
    ? []
    : [{ gte: DateTime.toUtc(gte), end: DateTime.toUtc(end), inclusive: lt === undefined, from: Option.none() }]
}

/** Checks a call, and prepares how its tasks are read. */
export const planBackfill = (
  client: Client,
  company: CompanyId | Company,
  filter: BackfillFilter,
  options: BackfillOptions
) =>
  Result.gen(function*() {
    const { concurrency, order = "asLanded", pageSize = maxPageSize } = options
    const query = yield* compile(company, filter, pageSize)
    const companyId = query.company.id
    const invalid = (field: string, detail: string) => Result.fail(new InvalidRequest({ companyId, field, detail }))
    const untyped: Filter = filter
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
    if (order !== "asLanded" && order !== "windows") return yield* invalid("order", "must be asLanded or windows")
    const segments = decodeSegments(options.resume ?? [range])
    if (Option.isNone(segments) || !areWithin(segments.value, range)) {
      return yield* invalid("resume", "must be what a backfill of this very range left unfinished")
    }

    const fetch = (gte: DateTime.Utc, lte: DateTime.Utc, direction: "asc" | "desc", size: number): Fetch<TimePunch> => {
      const part = compile(company, { ...filter, clockedIn: { gte, lte }, sortBy: [["clockedIn", direction]] }, size)
      return (cursor, index) =>
        Effect.flatMap(Effect.fromResult(part), (query) => fetchRows(client, decodePunches, query, cursor, index))
    }

    const reader: Reader = {
      companyId,
      open: ({ asked, gte }) => fetch(DateTime.makeUnsafe(gte), DateTime.makeUnsafe(asked), "asc", pageSize),
      // A service that ignores the order that it is asked for begins with the same row both ways.
      survey: Effect.map(
        Effect.all([
          fetch(range.gte, range.end, "asc", pageSize)(Option.none(), 0),
          fetch(range.gte, range.end, "desc", 1)(Option.none(), 0)
        ], { concurrency: 2 }),
        ([{ cursor, rows: [first] }, { rows: [last] }]) => ({
          isSmall: Option.isNone(cursor.next),
          ordered: first !== undefined && last !== undefined && DateTime.isLessThan(first.clockedIn, last.clockedIn)
        })
      )
    }
    return { reader, segments: segments.value, workers: concurrency, pageSize, order }
  })

/** Whether parts lie within a range and share no instant, so that no row comes twice. */
const areWithin = (parts: ReadonlyArray<Segment>, range: Segment): boolean => {
  const inOrder = parts.toSorted((a, b) => a.gte.epochMilliseconds - b.gte.epochMilliseconds)
  return inOrder.every((part, index) => {
    const { end, gte, inclusive } = part
    const next = inOrder[index + 1]
    const limit = next === undefined ? range : { end: next.gte, inclusive: false }
    return DateTime.isGreaterThanOrEqualTo(gte, range.gte) && DateTime.isLessThanOrEqualTo(gte, end) &&
      (DateTime.isLessThan(end, limit.end) || (DateTime.Equivalence(end, limit.end) && (!inclusive || limit.inclusive)))
  })
}
