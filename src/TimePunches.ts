/** START HERE. The time punches of a company, as a stream over cursor pages. */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { InvalidPunch, ListError } from "./ApiError.ts"
import { ApiVersion } from "./ApiVersion.ts"
import type { BackfillError, BackfillFilter, BackfillOptions } from "./Backfill.ts"
import { planBackfill } from "./backfill/request.ts"
import { backfill } from "./backfill/workers.ts"
import type { Company } from "./Company.ts"
import { Credentials } from "./Credentials.ts"
import { Endpoints } from "./Endpoints.ts"
import type { CompanyId } from "./Ids.ts"
import { secureClient } from "./internal/http/client.ts"
import { streamSpan } from "./internal/telemetry/tracing.ts"
import { makeListings } from "./listing/list.ts"
import { privateParameters } from "./listing/parameters.ts"
import { type Client, makePolicy, startRun } from "./listing/run.ts"
import { type ListOptions, type PageOptions, PageSize } from "./ListOptions.ts"
import type { Page } from "./Page.ts"
import type { PunchFilter } from "./PunchFilter.ts"
import { type RetryOptions, RetryPolicy } from "./RetryPolicy.ts"
import type { TimePunch } from "./TimePunch.ts"
import { TracePropagation } from "./TracePropagation.ts"

/** A listing as a stream of `A`. */
export type Listing<A, R = never> = (
  company: CompanyId | Company,
  filter?: PunchFilter,
  options?: ListOptions
) => Stream.Stream<A, ListError, R>

/**
 * The operations of a client, over the services and settings that are in the context when it is built. `transform` changes
 * the client that sends the page requests, inside its guards.
 */
const makeOperations = Effect.fnUntraced(
  function*(transform?: ClientOptions<unknown, unknown>["transformClient"]) {
    const { baseUrl } = yield* Endpoints
    const { sign } = yield* Credentials
    const propagate = yield* TracePropagation
    const retry = yield* RetryPolicy
    const client: Client = {
      baseUrl,
      version: yield* ApiVersion,
      pageSize: yield* PageSize,
      sign,
      send: secureClient(yield* HttpClient.HttpClient, {
        propagate: (context) => Context.getOrUndefined(context, TracePropagation) ?? propagate,
        privateParameters,
        transform
      }),
      retry,
      policy: makePolicy(retry),
      spellings: new Map(),
      budgets: new WeakMap()
    }
    return {
      ...makeListings(client),
      backfill: (company: CompanyId | Company, filter: BackfillFilter, options: BackfillOptions) => {
        const punches = Stream.unwrap(Effect.gen(function*() {
          const planned = planBackfill(client, yield* Effect.context(), company, { ...filter }, { ...options })
          const { readerOf, segments, settings, ...bounds } = yield* Effect.fromResult(planned)
          return backfill(readerOf(yield* startRun(client, settings)), segments, bounds)
        }))
        return streamSpan(punches, "TimePunches.backfill")
      }
    }
  }
)

/**
 * Lists the time punches of a company.
 *
 * On data that does not change, every matching punch is emitted exactly once, in the service's order. While data
 * changes, every punch that exists throughout is emitted at least once, if no edit moves a cursor (see `list`). A run ends
 * when the service says so, or fails with an error whose `resumeFrom` continues it: it never stops early in silence. No
 * request is sent before its page is pulled.
 *
 * **Example** (Print the punches of last week)
 *
 * ```ts
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import { Console, DateTime, Effect, Layer, Stream } from "effect"
 * import { CompanyId, TimePunches } from "effect-time-punches"
 * import { NodeTransport } from "effect-time-punches/node"
 *
 * const program = Effect.gen(function*() {
 *   const weekAgo = DateTime.subtract(yield* DateTime.now, { days: 7 })
 *   const punches = TimePunches.list(CompanyId.make(4021), { clockedIn: { gte: weekAgo } })
 *   yield* Stream.runForEach(punches, ({ clockedIn, userId }) => Console.log(userId, DateTime.formatIso(clockedIn)))
 * })
 *
 * program.pipe(
 *   Effect.provide(TimePunches.layerFromConfig.pipe(Layer.provide(NodeTransport.layer()))),
 *   NodeRuntime.runMain
 * )
 * ```
 */
export class TimePunches extends Context.Service<TimePunches, {
  /**
   * Streams every punch that matches the filter, page after page, in the service's order. Fails with a `ListError`
   * whose `resumeFrom` continues the run.
   */
  readonly list: Listing<TimePunch>
  /** Streams the listing a page at a time, with the cursors of each page. Fails with a `ListError`. */
  readonly pages: Listing<Page>
  /**
   * Streams the listing row by row, with a row that is not a punch as a failed `Result` in its place. A bad
   * envelope, or a row of another company, still fails the run with a `ListError`.
   */
  readonly listResults: Listing<Result.Result<TimePunch, InvalidPunch>>
  /**
   * Reads one page: the first one, or the one at `options.cursor`, which may be a `next` or a `prev` of another page.
   * Fails with a `ListError`.
   */
  readonly page: (
    company: CompanyId | Company,
    filter?: PunchFilter,
    options?: PageOptions
  ) => Effect.Effect<Page, ListError>
  /**
   * Streams every punch of a long range, which is read in windows concurrently. On data that does not change, each
   * punch is emitted exactly once; windows are emitted as they complete unless `order` is `"byTime"`. Fails with a
   * `BackfillError` that names the unfinished parts, which `segments` takes.
   */
  readonly backfill: (
    company: CompanyId | Company,
    filter: BackfillFilter,
    options: BackfillOptions
  ) => Stream.Stream<TimePunch, BackfillError>
}>()("effect-time-punches/TimePunches") {
  /**
   * Builds the client as a value, for a program that holds its services itself. Its settings
   * are the `ApiVersion`, `RetryPolicy` and `TracePropagation` that it is run with; a run may have others.
   */
  static readonly make: Effect.Effect<TimePunches["Service"], never, HttpClient.HttpClient | Credentials | Endpoints> =
    makeOperations()

  /**
   * The client over an `HttpClient`, `Credentials` and `Endpoints`. Its settings are the
   * `ApiVersion`, `RetryPolicy` and `TracePropagation` that it is provided with; a run that is provided with others has those.
   *
   * **Example** (Wire the client from values)
   *
   * ```ts
   * import { Layer, Redacted } from "effect"
   * import { Credentials, Endpoints, RetryPolicy, TimePunches } from "effect-time-punches"
   * import { NodeTransport } from "effect-time-punches/node"
   *
   * export const layer = TimePunches.layer.pipe(
   *   Layer.provide(Credentials.layerAccessToken(Redacted.make("an access token"))),
   *   Layer.provide(Endpoints.layer({ baseUrl: "https://api.example.com" })),
   *   Layer.provide(RetryPolicy.layer({ attempts: 6 })),
   *   Layer.provide(NodeTransport.layer())
   * )
   * ```
   */
  static readonly layer: Layer.Layer<TimePunches, never, HttpClient.HttpClient | Credentials | Endpoints> = Layer
    .effect(TimePunches, makeOperations())

  /**
   * The client with its settings as options, over an `HttpClient` and what the credentials need besides. A bad setting
   * fails with the `ConfigError` of the layer that it stands for.
   *
   * **Example** (Wire the client with options)
   *
   * ```ts
   * import { Layer, Redacted } from "effect"
   * import { Credentials, TimePunches } from "effect-time-punches"
   * import { NodeTransport } from "effect-time-punches/node"
   * import { HttpClient, HttpClientRequest } from "effect/http"
   *
   * export const layer = TimePunches.layerWith({
   *   baseUrl: "https://api.example.com",
   *   credentials: Credentials.layerAccessToken(Redacted.make("an access token")),
   *   retry: { attempts: 6 },
   *   transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("user-agent", "payroll/1.0"))
   * }).pipe(Layer.provide(NodeTransport.layer()))
   * ```
   */
  static readonly layerWith = <E, R>(
    options: ClientOptions<E, R>
  ): Layer.Layer<TimePunches, E | Config.ConfigError, HttpClient.HttpClient | Exclude<R, Endpoints>> =>
    Layer.effect(TimePunches, makeOperations(options.transformClient)).pipe(
      Layer.provide(options.retry === undefined ? Layer.empty : RetryPolicy.layer(options.retry)),
      Layer.provide(versionLayer(options.apiVersion)),
      // Fresh: of two clients with one credentials value, each signs with its own address.
      Layer.provide(Layer.fresh(options.credentials)),
      Layer.provide(Endpoints.layer(options))
    )

  /**
   * The client with credentials, endpoints and API version from `Config`, by default the environment; `docs/commands.md` lists
   * the variables. Fails with a `ConfigError` that names a missing or malformed variable, never its value.
   *
   * **Example** (Wire the client from the environment)
   *
   * ```ts
   * import { Layer } from "effect"
   * import { TimePunches } from "effect-time-punches"
   * import { NodeTransport } from "effect-time-punches/node"
   *
   * export const layer = TimePunches.layerFromConfig.pipe(Layer.provide(NodeTransport.layer()))
   * ```
   */
  static readonly layerFromConfig: Layer.Layer<TimePunches, Config.ConfigError, HttpClient.HttpClient> = TimePunches
    .layer.pipe(
      Layer.provide(Credentials.layerFromConfig),
      Layer.provide(Endpoints.layerFromConfig),
      Layer.provide(ApiVersion.layerFromConfig)
    )

  /**
   * Streams every punch that matches the filter, page after page, in the service's order. Fails with a `ListError`
   * whose `resumeFrom` continues the run.
   *
   * An edit can move a cursor: if the cursor names a record, and the order is by a field of it that is edited between two
   * pages. The rows between the old and the new place of the record are then skipped or come twice, without an error.
   * `sortBy: [["id", "asc"]]` avoids this, if the service keeps that order with a cursor; otherwise only a second run shows it.
   *
   * **Example** (Resume a run that failed)
   *
   * ```ts
   * import { Effect, type Option, Stream } from "effect"
   * import { CompanyId, type Cursor, type TimePunch, TimePunches } from "effect-time-punches"
   *
   * const run = (save: (punch: TimePunch) => Effect.Effect<void>, cursor?: Option.Option<Cursor>) =>
   *   Stream.runForEach(TimePunches.list(CompanyId.make(4021), { approved: true }, { cursor }), save)
   *
   * export const copy = (save: (punch: TimePunch) => Effect.Effect<void>) =>
   *   Effect.catchTag(run(save), "ServiceUnavailable", ({ resumeFrom }) => run(save, resumeFrom))
   * ```
   */
  static readonly list: Listing<TimePunch, TimePunches> = (...args) => streamOf((service) => service.list(...args))

  /**
   * Streams the listing a page at a time, with the cursors of each page. A page without punches is emitted too. Fails
   * with a `ListError`.
   *
   * **Example** (Save each page with the cursor of the next one)
   *
   * ```ts
   * import { Effect, Option, Stream } from "effect"
   * import { CompanyId, type Cursor, type TimePunch, TimePunches } from "effect-time-punches"
   *
   * export const copy = (
   *   save: (punches: ReadonlyArray<TimePunch>, next: Option.Option<Cursor>) => Effect.Effect<void>,
   *   checkpoint: Option.Option<Cursor>
   * ) =>
   *   TimePunches.pages(CompanyId.make(4021), {}, { cursor: checkpoint }).pipe(
   *     Stream.runForEach(({ cursor, items }) => save(items, cursor.next))
   *   )
   * ```
   */
  static readonly pages: Listing<Page, TimePunches> = (...args) => streamOf((service) => service.pages(...args))

  /**
   * Streams the listing row by row, with a row that is not a punch as a failed `Result` in its place. A bad envelope, or
   * a row of another company, still fails the run with a `ListError`.
   */
  static readonly listResults: Listing<Result.Result<TimePunch, InvalidPunch>, TimePunches> = (...args) =>
    streamOf((service) => service.listResults(...args))

  /**
   * Reads one page: the first one, or the one at `options.cursor`, which may be a `next` or a `prev` of another page.
   * Fails with a `ListError`.
   */
  static readonly page = (
    ...args: Parameters<TimePunches["Service"]["page"]>
  ): Effect.Effect<Page, ListError, TimePunches> => TimePunches.use((service) => service.page(...args))

  /**
   * Streams every punch of a long range, which is read in windows concurrently. On data that does not change, each punch
   * is emitted exactly once; windows are emitted as they complete unless `order` is `"byTime"`. Fails with a
   * `BackfillError` that names the unfinished parts, which `segments` takes.
   *
   * **Example** (Read a year with eight requests in flight)
   *
   * ```ts
   * import { DateTime, Effect, Stream } from "effect"
   * import { CompanyId, type BackfillSegment, type TimePunch, TimePunches } from "effect-time-punches"
   *
   * const clockedIn = {
   *   gte: DateTime.makeUnsafe("2025-01-01T00:00:00Z"),
   *   lt: DateTime.makeUnsafe("2026-01-01T00:00:00Z")
   * }
   *
   * export const copy = (save: (punch: TimePunch) => Effect.Effect<void>, unfinished?: ReadonlyArray<BackfillSegment>) =>
   *   TimePunches.backfill(CompanyId.make(4021), { clockedIn }, { concurrency: 8, segments: unfinished }).pipe(
   *     Stream.runForEach(save),
   *     Effect.as<ReadonlyArray<BackfillSegment>>([]),
   *     Effect.catch((error) => Effect.succeed(error.unfinished))
   *   )
   * ```
   */
  static readonly backfill = (
    ...args: Parameters<TimePunches["Service"]["backfill"]>
  ): Stream.Stream<TimePunch, BackfillError, TimePunches> => streamOf((service) => service.backfill(...args))
}

/** The options of `TimePunches.layerWith`. An `undefined` counts as absent. */
export interface ClientOptions<E, R> {
  /** The base URL of the listing, as in `Endpoints.layer`. */
  readonly baseUrl: string | URL
  /** The base URL of the token endpoint; `baseUrl` by default. */
  readonly authUrl?: string | URL | undefined
  /** One of the layers of `Credentials`, or your own. `Endpoints` is provided to it. */
  readonly credentials: Layer.Layer<Credentials, E, R>
  /** Changes of the default retry policy, as in `RetryPolicy.layer`. Absent: the `RetryPolicy` of the context. */
  readonly retry?: RetryOptions | undefined
  /**
   * The version that requests name, a date as `YYYY-MM-DD`; `Option.none()` sends none, so that the version of the access
   * token applies. Absent: the `ApiVersion` of the context.
   */
  readonly apiVersion?: string | Option.Option<string> | undefined
  /**
   * Changes the client that sends the page requests; it never sees a token request. It works inside the guards: whatever it
   * sets, no redirect is followed and no trace header sent. Its own retries and waits are part of one attempt, and count
   * against `attemptTimeout`. It sees the credential in the headers, so trust it as you trust the transport.
   */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
}

const streamOf = <A, E>(f: (service: TimePunches["Service"]) => Stream.Stream<A, E>) =>
  Stream.unwrap(Effect.map(TimePunches, f))

const versionLayer = (version: string | Option.Option<string> | undefined): Layer.Layer<never, Config.ConfigError> => {
  if (version === undefined) return Layer.empty
  const date = Option.isOption(version) ? Option.getOrUndefined(version) : version
  return date === undefined ? ApiVersion.layerTokenDefault : ApiVersion.layer(date)
}
