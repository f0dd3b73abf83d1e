/** START HERE. From a filter to the rows of a page: a stream of what its pages hold, or one page. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { type ListError, retryAfterOf } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { monotonicMillis } from "../internal/resilience/retry.ts"
import { resumed } from "../internal/telemetry/metrics.ts"
import { streamSpan } from "../internal/telemetry/tracing.ts"
import type { ListOptions, PageOptions } from "../ListOptions.ts"
import type { Page } from "../Page.ts"
import type { PunchFilter } from "../PunchFilter.ts"
import type { TimePunch } from "../TimePunch.ts"
import { leniently, RunLenient } from "./contradiction.ts"
import { buildQuery, checkOptions, invalid, pageAt, type Query, startAt, validateCount } from "./request.ts"
import { type Decode, decodePunches, decodeResults, type FetchedPage } from "./rows.ts"
import { type Client, pageSizeOf, runOptions, settingsOf, startRun } from "./run.ts"
import { spelledPages } from "./spelling.ts"
import { walk } from "./walk.ts"

export const makeListings = (client: Client) => {
  const listing =
    <A, B>(decode: Decode<A>, select: (page: FetchedPage<A>, query: Query) => ReadonlyArray<B>) =>
    (company: CompanyId | Company, filter?: PunchFilter, options?: ListOptions): Stream.Stream<B, ListError> =>
      streamSpan(
        Stream.unwrap(Effect.gen(function*() {
          const context = yield* Effect.context()
          const planned = plan(client, context, company, filter, options)
          const { query, resumeSchedule, settings, ...bounds } = yield* Effect.fromResult(planned)
          const run = yield* startRun(client, settings)
          return walk({
            companyId: query.company.id,
            ...bounds,
            fetch: spelledPages<A>(
              run,
              context,
              decode,
              judged(context, query),
              (page) => resumeSchedule === undefined ? page : resuming(page, resumeSchedule, run.end)
            ),
            select: (page) => select(page, query)
          })
        })),
        "TimePunches.list"
      )

  return {
    list: listing(decodePunches, itemsOf),
    pages: listing(decodePunches, (page, query) => [toPage(page, query)]),
    listResults: listing(
      decodeResults,
      ({ rows }, { isInRange }) =>
        isInRange === undefined ? rows : rows.filter((row) => Result.isFailure(row) || isInRange(row.success))
    ),
    page: (company: CompanyId | Company, filter?: PunchFilter, options?: PageOptions): Effect.Effect<Page, ListError> =>
      Effect.gen(function*() {
        const context = yield* Effect.context()
        const query = yield* Effect.fromResult(buildQuery(company, filter, pageSizeOf(client, context, options)))
        yield* Effect.fromResult(checkOptions(query.company.id, options, pageOptions))
        const sent = yield* Effect.fromResult(pageAt(query.company.id, options?.cursor))
        const settings = settingsOf(client, context, query.company.id, { ...options })
        const run = yield* startRun(client, yield* Effect.fromResult(settings))
        return toPage(yield* spelledPages(run, context, decodePunches, judged(context, query))(sent, 0), query)
      }).pipe(Effect.scoped)
  }
}

/**
 * Fetches a page again while time alone may cure its failure. Nothing of the run is repeated: a page that failed gave no
 * row, and has not moved the walk. It never waits past the end of the run: it fails at once instead.
 */
const resuming = <A>(
  fetch: Effect.Effect<A, ListError>,
  schedule: Schedule.Schedule<unknown, ListError>,
  end: number
): Effect.Effect<A, ListError> =>
  Effect.catchIf(fetch, isRetryable, (first) =>
    Effect.flatMap(Schedule.toStep(schedule), (step) => {
      const again = (error: ListError): Effect.Effect<A, ListError> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Pull.matchEffect(step(now, error), {
            onSuccess: ([, delay]) => {
              const wait = Duration.max(delay, retryAfterOf(error))
              const next = resumed(error, wait).pipe(
                Effect.andThen(Effect.sleep(wait)),
                Effect.andThen(Effect.catchIf(fetch, isRetryable, again))
              )
              return Effect.flatMap(
                monotonicMillis,
                (at) => at + Duration.toMillis(wait) < end ? next : Effect.fail(error)
              )
            },
            onFailure: Effect.failCause,
            onDone: () => Effect.fail(error)
          }))
      return again(first)
    }))

const isRetryable = (error: ListError): boolean => error.isRetryable

/** The most pages that may be read ahead. */
const mostPrefetchPages = 100

const pageOptions: { readonly [K in keyof PageOptions]-?: true } = {
  pageSize: true,
  cursor: true,
  ...runOptions
}

const listOptions: { readonly [K in keyof ListOptions]-?: true } = {
  pageSize: true,
  cursor: true,
  maxPages: true,
  prefetchPages: true,
  resumeSchedule: true,
  ...runOptions
}

/** What a run needs, validated before any request. */
const plan = (
  client: Client,
  context: Context.Context<never>,
  company: CompanyId | Company,
  filter: PunchFilter | undefined,
  options: ListOptions | undefined
) =>
  Result.gen(function*() {
    const query = yield* buildQuery(company, filter, pageSizeOf(client, context, options))
    const companyId = query.company.id
    yield* checkOptions(companyId, options, listOptions)
    const from = yield* startAt(companyId, options?.cursor)
    const maxPages = options?.maxPages ?? Infinity
    if (maxPages !== Infinity) yield* validateCount(companyId, "maxPages", maxPages, 1)
    const prefetchPages = options?.prefetchPages ?? 0
    yield* validateCount(companyId, "prefetchPages", prefetchPages, 0, mostPrefetchPages)
    const resumeSchedule = options?.resumeSchedule
    if (resumeSchedule !== undefined && !Schedule.isSchedule(resumeSchedule)) {
      return yield* invalid(companyId, "resumeSchedule", "must be a Schedule")
    }
    const settings = yield* settingsOf(client, context, companyId, { ...options })
    return { query, from, maxPages, prefetchPages, resumeSchedule, settings }
  })

/** The query as the run takes rows that contradict it. */
const judged = (context: Context.Context<never>, query: Query): Query => ({
  ...query,
  contradicted: leniently(query.contradicted, Context.get(context, RunLenient))
})

const itemsOf = ({ rows }: FetchedPage<TimePunch>, { isInRange }: Query): ReadonlyArray<TimePunch> =>
  isInRange === undefined ? rows : rows.filter(isInRange)

const toPage = (page: FetchedPage<TimePunch>, query: Query): Page => ({
  items: itemsOf(page, query),
  index: page.index,
  cursor: { sent: page.sent, ...page.cursor },
  response: page.response,
  unknown: page.unknown,
  ...(page.marks.length === 0 ? undefined : { marks: page.marks }),
  ...(page.spelling === undefined ? undefined : { spelling: page.spelling })
})
