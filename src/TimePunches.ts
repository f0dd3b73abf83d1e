/** START HERE. The time punches of a company, as a stream over cursor pages (spec 4.1, 4.3). */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type InvalidPunch, InvalidRequest, type ListError } from "./ApiError.ts"
import { ApiVersion } from "./ApiVersion.ts"
import { type BackfillError, type BackfillFilter, type BackfillOptions } from "./Backfill.ts"
import { planBackfill } from "./backfill/request.ts"
import { backfill } from "./backfill/workers.ts"
import type { Company } from "./Company.ts"
import { Credentials } from "./Credentials.ts"
import { Endpoints } from "./Endpoints.ts"
import type { CompanyId } from "./Ids.ts"
import { secureClient } from "./internal/http/client.ts"
import { streamSpan } from "./internal/telemetry/metrics.ts"
import { type Client, fetchRows, makePolicy, startRun } from "./listing/fetch.ts"
import { buildQuery, privateParameters, type Query, startAt } from "./listing/request.ts"
import { type Decode, decodePunches, decodeResults } from "./listing/rows.ts"
import { type Step, walk } from "./listing/walk.ts"
import type { ListOptions, PageOptions } from "./ListOptions.ts"
import type { Page } from "./Page.ts"
import type { PunchFilter } from "./PunchFilter.ts"
import { RetryPolicy } from "./RetryPolicy.ts"
import type { TimePunch } from "./TimePunch.ts"
import { TracePropagation } from "./TracePropagation.ts"

/** A listing as a stream of `A`. */
type Listing<A, R = never> = (
  company: CompanyId | Company,
  filter?: PunchFilter,
  options?: ListOptions
) => Stream.Stream<A, ListError, R>

/**
 * Lists the time punches of a company.
 *
 * On data at rest every matching punch comes once, in the service's order; while data changes, every punch that was
 * there throughout comes at least once. A run ends where the service says so, or fails with an error whose
 * `resumeFrom` continues it: it never stops early in silence. Nothing is requested before it is consumed.
 *
 * @since 0.1.0
 */
export class TimePunches extends Context.Service<TimePunches, {
  /** Every matching punch. */
  readonly list: Listing<TimePunch>
  /** The same, a page at a time, with its cursors. */
  readonly pages: Listing<Page>
  /** The same, with a row that cannot be read as a value; a bad envelope still fails. */
  readonly listResults: Listing<Result.Result<TimePunch, InvalidPunch>>
  /** One page: the first, or the one at `cursor`, which may be a `next` or a `prev`. */
  readonly page: (
    company: CompanyId | Company,
    filter?: PunchFilter,
    options?: PageOptions
  ) => Effect.Effect<Page, ListError>
  /**
   * Every matching punch of a long range, read in windows side by side. Each comes exactly once on data at rest, in no
   * order between windows unless asked for; a failure names the parts that are unfinished.
   */
  readonly backfill: (
    company: CompanyId | Company,
    filter: BackfillFilter,
    options: BackfillOptions
  ) => Stream.Stream<TimePunch, BackfillError>
}>()("effect-time-punches/TimePunches") {
  /** Builds the client from what is in the context. @since 0.1.0 */
  static get make(): Effect.Effect<
    TimePunches["Service"],
    never,
    HttpClient.HttpClient | Credentials | Endpoints
  > {
    return makeService
  }

  /**
   * Needs an `HttpClient`, `Credentials` and `Endpoints`. Reads `ApiVersion`, `RetryPolicy` and `TracePropagation` while
   * it is built: provide them *to* this layer; beside it they are not seen.
   *
   * @since 0.1.0
   */
  static readonly layer: Layer.Layer<TimePunches, never, HttpClient.HttpClient | Credentials | Endpoints> = Layer
    .effect(
      TimePunches,
      Effect.suspend(() => makeService)
    )

  /** Everything from the environment; see the table in the README. @since 0.1.0 */
  static readonly layerFromConfig: Layer.Layer<TimePunches, Config.ConfigError, HttpClient.HttpClient> = Layer.suspend(
    () =>
      TimePunches.layer.pipe(
        Layer.provide(Credentials.layerFromConfig),
        Layer.provide(Endpoints.layerFromConfig),
        Layer.provide(ApiVersion.layerFromConfig)
      )
  )

  /** A stand-in with the given members; the others die with a message that names them. @since 0.1.0 */
  static readonly layerMock = (members: Partial<TimePunches["Service"]>): Layer.Layer<TimePunches> =>
    Layer.succeed(TimePunches, { ...absent, ...members })

  /** `list` of the service in the context. @since 0.1.0 */
  static readonly list: Listing<TimePunch, TimePunches> = (...args) => streamOf((service) => service.list(...args))

  /** `pages` of the service in the context. @since 0.1.0 */
  static readonly pages: Listing<Page, TimePunches> = (...args) => streamOf((service) => service.pages(...args))

  /** `listResults` of the service in the context. @since 0.1.0 */
  static readonly listResults: Listing<Result.Result<TimePunch, InvalidPunch>, TimePunches> = (...args) =>
    streamOf((service) => service.listResults(...args))

  /** `page` of the service in the context. @since 0.1.0 */
  static readonly page = (
    ...args: Parameters<TimePunches["Service"]["page"]>
  ): Effect.Effect<Page, ListError, TimePunches> => TimePunches.use((service) => service.page(...args))

  /** `backfill` of the service in the context. @since 0.1.0 */
  static readonly backfill = (
    ...args: Parameters<TimePunches["Service"]["backfill"]>
  ): Stream.Stream<TimePunch, BackfillError, TimePunches> => streamOf((service) => service.backfill(...args))
}

const streamOf = <A, E>(f: (service: TimePunches["Service"]) => Stream.Stream<A, E>) =>
  Stream.unwrap(Effect.map(TimePunches, f))

const makeService = Effect.gen(function*() {
  const { baseUrl } = yield* Endpoints
  const { sign } = yield* Credentials
  const client: Client = {
    baseUrl,
    version: yield* ApiVersion,
    sign,
    send: secureClient(yield* HttpClient.HttpClient, { propagate: yield* TracePropagation, privateParameters }),
    policy: makePolicy(yield* RetryPolicy)
  }
  const listing =
    <A, B>(decode: Decode<A>, select: (page: Step<A>, query: Query) => ReadonlyArray<B>): Listing<B> =>
    (company, filter, options) =>
      streamSpan(
        Stream.unwrap(Effect.gen(function*() {
          const { query, ...bounds } = yield* Effect.fromResult(plan(company, filter, options))
          const run = yield* startRun(client)
          return walk({
            companyId: query.company.id,
            ...bounds,
            fetch: (cursor, index) => fetchRows(run, decode, query, cursor, index),
            select: (page) => select(page, query)
          })
        })),
        "TimePunches.list"
      )

  return TimePunches.of({
    list: listing(decodePunches, (page, query) => itemsOf(page, query)),
    pages: listing(decodePunches, (page, query) => [toPage(page, query)]),
    listResults: listing(
      decodeResults,
      ({ rows }, { isInRange }) =>
        isInRange === undefined ? rows : rows.filter((row) => Result.isFailure(row) || isInRange(row.success))
    ),
    page: (company, filter, options) =>
      Effect.gen(function*() {
        const query = yield* Effect.fromResult(buildQuery(company, filter, options?.pageSize))
        const sent = yield* Effect.fromResult(startAt(query.company.id, "cursor", options?.cursor))
        const page = yield* fetchRows(yield* startRun(client), decodePunches, query, sent, 0)
        return toPage({ ...page, sent, index: 0 }, query)
      }).pipe(Effect.scoped),
    backfill: (company, filter, options) => {
      const punches = Stream.unwrap(Effect.gen(function*() {
        const run = yield* startRun(client)
        const planned = planBackfill(run, company, { ...filter }, { ...options })
        const { reader, segments, ...bounds } = yield* Effect.fromResult(planned)
        return backfill(reader, segments, bounds)
      }))
      return streamSpan(punches, "TimePunches.backfill")
    }
  })
})

/** What a run needs, checked before anything is sent. */
const plan = (company: CompanyId | Company, filter: PunchFilter | undefined, options: ListOptions | undefined) =>
  Result.gen(function*() {
    const query = yield* buildQuery(company, filter, options?.pageSize)
    const from = yield* startAt(query.company.id, "from", options?.from)
    const maxPages = yield* wholeNumber(query, "maxPages", options?.maxPages ?? Infinity, 1, Infinity)
    const prefetchPages = yield* wholeNumber(query, "prefetchPages", options?.prefetchPages ?? 0, 0, 100)
    return { query, from, maxPages, prefetchPages }
  })

const wholeNumber = (query: Query, field: keyof ListOptions, value: number, least: number, most: number) =>
  value >= least && value <= most && (Number.isInteger(value) || value === Infinity)
    ? Result.succeed(value)
    : Result.fail(
      new InvalidRequest({
        companyId: query.company.id,
        field,
        detail: `must be a whole number ${most === Infinity ? `from ${least} on` : `from ${least} to ${most}`}`
      })
    )

const itemsOf = ({ rows }: Step<TimePunch>, { isInRange }: Query): ReadonlyArray<TimePunch> =>
  isInRange === undefined ? rows : rows.filter(isInRange)

const toPage = (page: Step<TimePunch>, query: Query): Page => ({
  items: itemsOf(page, query),
  index: page.index,
  cursor: { sent: page.sent, ...page.cursor }
})

const unmocked = (member: string) =>
  Effect.die(new Error(`TimePunches.${member} was called, but the mock does not have it`))

const absent: TimePunches["Service"] = {
  list: () => Stream.unwrap(unmocked("list")),
  pages: () => Stream.unwrap(unmocked("pages")),
  listResults: () => Stream.unwrap(unmocked("listResults")),
  page: () => unmocked("page"),
  backfill: () => Stream.unwrap(unmocked("backfill"))
}
