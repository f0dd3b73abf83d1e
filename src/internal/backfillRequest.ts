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
import { type Client, fetchRows } from "./attempt.ts"
import type { Reader } from "./backfill.ts"
import { compile, maxPageSize } from "./request.ts"
import { decodePunches } from "./rows.ts"
import type { Task } from "./windows.ts"

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
    if (untyped.sortBy !== undefined) return yield* invalid("sortBy", "is the backfill's own")
    if (untyped.localizeSearchTime !== undefined) return yield* invalid("localizeSearchTime", "cannot be backfilled")
    const [range] = wholeOf(filter)
    if (range === undefined || (filter.clockedIn.lt !== undefined && filter.clockedIn.lte !== undefined)) {
      return yield* invalid("clockedIn", "must have gte, and one of lte and lt")
    }
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > mostWorkers) {
      return yield* invalid("concurrency", `must be a whole number from 1 to ${mostWorkers}`)
    }
    if (order !== "asLanded" && order !== "windows") return yield* invalid("order", "must be asLanded or windows")
    const segments = decodeSegments(options.resume ?? [range])
    if (Option.isNone(segments) || segments.value.some((part) => !isWithin(part, range))) {
      return yield* invalid("resume", "must be what a backfill of this very range left unfinished")
    }

    const queryOf = (gte: number, lte: number, direction: "asc" | "desc", size: number) =>
      compile(company, {
        ...filter,
        clockedIn: { gte: DateTime.makeUnsafe(gte), lte: DateTime.makeUnsafe(lte) },
        sortBy: [["clockedIn", direction]]
      }, size)

    const edge = (direction: "asc" | "desc") =>
      Effect.flatMap(
        Effect.fromResult(queryOf(range.gte.epochMilliseconds, range.end.epochMilliseconds, direction, 1)),
        (first) =>
          Effect.map(fetchRows(client, decodePunches, first, Option.none(), 0), ({ rows }) => rows[0]?.clockedIn)
      )

    const reader: Reader = {
      companyId,
      open: ({ asked, gte }: Task) =>
        Effect.map(
          Effect.fromResult(queryOf(gte, asked, "asc", pageSize)),
          (part) => (cursor, index) => fetchRows(client, decodePunches, part, cursor, index)
        ),
      // One row from each end: a service that ignores what it is asked for answers both with the same one.
      keepsOrder: Effect.map(
        Effect.all([edge("asc"), edge("desc")], { concurrency: 2 }),
        ([first, last]) => first !== undefined && last !== undefined && DateTime.isLessThan(first, last)
      )
    }
    return { reader, segments: segments.value, workers: concurrency, pageSize, order }
  })

const isWithin = ({ end, gte, inclusive }: Segment, range: Segment): boolean =>
  DateTime.isGreaterThanOrEqualTo(gte, range.gte) && DateTime.isLessThanOrEqualTo(gte, end) &&
  (DateTime.isLessThan(end, range.end) || (DateTime.Equivalence(end, range.end) && (!inclusive || range.inclusive)))
