/** START HERE. The client for programs without Effect: promises and `for await`, over the same layers. */
import * as Cause from "effect/Cause"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { InvalidRequest } from "../ApiError.ts"
import { type BackfillFilter as RangeFilter, BackfillSegment } from "../Backfill.ts"
import { Credentials as Main } from "../Credentials.ts"
import type { Endpoints } from "../Endpoints.ts"
import { invalidSetting } from "../internal/setting/setting.ts"
import { maxPageSize } from "../listing/parameters.ts"
import { checkOptions, invalid, startAt, validateCount, validCompany, validFilter } from "../listing/request.ts"
import { PageSize } from "../ListOptions.ts"
import type { PunchFilter as Filter } from "../PunchFilter.ts"
import { RateLimit } from "../RateLimit.ts"
import { type Listing, TimePunches } from "../TimePunches.ts"
import { OAuthScope } from "../TokenEndpoint.ts"
import { ClientClosed } from "./errors.ts"
import { instantsOf, orThrow, plainError, plainPage, plainPunch } from "./plain.ts"
import type {
  BackfillFilter,
  BackfillOptions,
  CallOptions,
  ClientOptions,
  Credentials,
  ListOptions,
  Page,
  PageOptions,
  PunchFilter,
  TimePunch
} from "./values.ts"

/**
 * A client of the service. Each call rejects with a `TimePunchesError`, or with the reason of its signal. Each loop over a value of
 * `list`, `pages` or `backfill` is a separate run from the start, also after an error: to continue, pass its `resumeFrom`. What
 * the client logs, such as a retry, it writes to `console.error`.
 */
export interface TimePunchesClient extends AsyncDisposable {
  /** Every punch that matches, in the service's order. A page is requested when the loop reaches it; leaving the loop ends the run. */
  readonly list: (filter?: PunchFilter, options?: ListOptions) => AsyncIterable<TimePunch>
  /** The listing a page at a time, with the cursors of each page. */
  readonly pages: (filter?: PunchFilter, options?: ListOptions) => AsyncIterable<Page>
  /** One page: the first one, or the one at `cursor`. */
  readonly page: (filter?: PunchFilter, options?: PageOptions) => Promise<Page>
  /** Every punch of a long range, which is read in windows at once. Rejects with a `BackfillError` that names what is not read. */
  readonly backfill: (filter: BackfillFilter, options: BackfillOptions) => AsyncIterable<TimePunch>
  /** Ends every run and releases what the client holds. A call that runs, or comes later, rejects with `ClientClosed`. */
  readonly close: () => Promise<void>
}

const isScopes = Schema.is(Schema.Array(OAuthScope))

/** The credential that is named. A caller without types may name none, or several. */
const credentialsLayer = (
  credentials: Credentials
): Layer.Layer<Main, Config.ConfigError, HttpClient.HttpClient | Endpoints> => {
  const named = (["accessToken", "clientId", "sessionCookie"] as const).filter((key) =>
    Predicate.isObject(credentials) && credentials[key] !== undefined
  )
  if (named.length !== 1) {
    return Layer.unwrap(
      invalidSetting("credentials", "{ accessToken }, { clientId, clientSecret } or { sessionCookie }")
    )
  }
  const { accessToken, sessionCookie } = credentials
  if (accessToken !== undefined) return Main.layerAccessToken(Redacted.make(accessToken))
  if (sessionCookie !== undefined) return Main.layerSessionCookie(Redacted.make(sessionCookie))
  const { clientId, clientSecret, scopes } = credentials
  return scopes === undefined || isScopes(scopes)
    ? Main.layerOAuth({ clientId, clientSecret: Redacted.make(clientSecret), scopes })
    : Layer.unwrap(invalidSetting("scopes", "names of scopes"))
}

const knownOptions: { readonly [K in keyof ClientOptions]-?: true } = {
  baseUrl: true,
  authUrl: true,
  credentials: true,
  companyId: true,
  companyGuid: true,
  apiVersion: true,
  pageSize: true,
  attempts: true,
  requestsPerSecond: true,
  fetch: true
}

/** Keeps warnings out of what a program prints. */
const toStderr = Logger.LogToStderr.context(true)

const versionOf = (version: string | null | undefined) => version === null ? Option.none() : version

const clientLayer = (options: ClientOptions) => {
  const { apiVersion, attempts, authUrl, baseUrl, credentials, fetch = globalThis.fetch, pageSize = 200 } = options
  const { requestsPerSecond } = options
  const transport = FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)))
  return TimePunches.layerWith({
    baseUrl,
    authUrl,
    credentials: credentialsLayer(credentials),
    retry: { attempts },
    apiVersion: versionOf(apiVersion)
  }).pipe(
    Layer.provide(Layer.succeed(PageSize, pageSize)),
    Layer.provide(
      requestsPerSecond === undefined
        ? transport
        : RateLimit.layer({ perSecond: requestsPerSecond }).pipe(Layer.provide(transport))
    ),
    Layer.provide(Layer.succeedContext(toStderr))
  )
}

/** The company of a call; its guid is that of the client only where the company is. */
const companyOf = (client: ClientOptions, { companyGuid, companyId = client.companyId }: CallOptions) =>
  validCompany({
    id: companyId,
    guid: companyGuid ?? (companyId === client.companyId ? client.companyGuid : undefined)
  })

const isRange = (filter: Filter): filter is Filter & RangeFilter =>
  filter.clockedIn?.gte !== undefined && (filter.clockedIn.lte === undefined) !== (filter.clockedIn.lt === undefined)

const areSegments = Schema.is(Schema.Array(BackfillSegment))

/**
 * A client of the service. Throws a `ConfigError` or an `InvalidRequest` that names the option that cannot be used. A timeout, a
 * retry and a cursor behave as in the main entry.
 *
 * **Example** (Print the punches of a week in New York, whose clocks change on its last day)
 *
 * ```ts
 * import { makeClient } from "effect-time-punches/promise"
 *
 * export const print = async (accessToken: string): Promise<void> => {
 *   await using client = makeClient({
 *     baseUrl: "https://api.example.com",
 *     companyId: 4021,
 *     credentials: { accessToken }
 *   })
 *   const week = { gte: new Date("2026-03-02T05:00:00Z"), lt: new Date("2026-03-09T04:00:00Z") }
 *   for await (const punch of client.list({ clockedIn: week })) {
 *     console.log(punch.userId, punch.clockedIn, punch.clockedOut)
 *   }
 * }
 * ```
 */
export const makeClient = (options: ClientOptions): TimePunchesClient => {
  const settings = { ...options }
  orThrow(Effect.fromResult(checkOptions(undefined, options, knownOptions)))
  orThrow(Effect.fromResult(companyOf(settings, {})))
  const { fetch, pageSize = maxPageSize } = settings
  if (fetch !== undefined && !Predicate.isFunction(fetch)) {
    orThrow(Effect.fromResult(invalid(undefined, "fetch", "must be a function")))
  }
  orThrow(Effect.fromResult(validateCount(undefined, "pageSize", pageSize, 1, maxPageSize)))
  const scope = Scope.makeUnsafe()
  const { backfill, list, page, pages } = Context.get(
    orThrow(Layer.buildWithScope(clientLayer(settings), scope)),
    TimePunches
  )
  const closing = new AbortController()
  const close = async (): Promise<void> => {
    closing.abort(new ClientClosed())
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }

  const signalOf = ({ signal }: CallOptions) =>
    signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal])

  const run = async function*<A, B, E>(
    options: CallOptions,
    rows: Result.Result<Stream.Stream<A, E>, InvalidRequest>,
    plain: (value: A) => B
  ): AsyncGenerator<B, void, undefined> {
    const signal = signalOf(options)
    const iterable = Stream.toAsyncIterableWith(Stream.unwrap(Effect.fromResult(rows)), toStderr)
    const iterator = iterable[Symbol.asyncIterator]()
    // Ends the request in flight. A run that is ended so looks as if it were whole.
    const end = () => iterator.return?.()
    signal.addEventListener("abort", end, { once: true })
    try {
      signal.throwIfAborted()
      for await (const value of { [Symbol.asyncIterator]: () => iterator }) {
        yield plain(value)
        signal.throwIfAborted()
      }
      signal.throwIfAborted()
    } catch (error) {
      signal.throwIfAborted()
      throw plainError(error)
    } finally {
      signal.removeEventListener("abort", end)
    }
  }

  /** A generator alone would be empty in a second loop, as if the listing were. */
  const iterate = <A, B, E>(...call: Parameters<typeof run<A, B, E>>): AsyncIterable<B> => ({
    [Symbol.asyncIterator]: () => run(...call)
  })

  /** A call with its company, its filter and its start, or the first of them that is refused. */
  const prepared = (filter: PunchFilter | undefined, options: ListOptions) =>
    Result.gen(function*() {
      const company = yield* companyOf(settings, options)
      const valid = yield* validFilter(company.id, instantsOf(filter ?? {}))
      const { companyGuid: _guid, companyId: _id, cursor, signal: _signal, ...rest } = options
      return { company, filter: valid, options: rest, cursor: yield* startAt(company.id, cursor) }
    })

  const listing =
    <A, B>(read: Listing<A>, plain: (value: A) => B) => (filter?: PunchFilter, options: ListOptions = {}) =>
      iterate(
        options,
        Result.map(prepared(filter, options), (call) =>
          read(call.company, call.filter, { ...call.options, cursor: call.cursor })),
        plain
      )

  return {
    list: listing(list, plainPunch),
    pages: listing(pages, plainPage),
    page: async (filter, options = {}) => {
      const signal = signalOf(options)
      signal.throwIfAborted()
      const call = Effect.flatMap(
        Effect.fromResult(prepared(filter, options)),
        ({ company, cursor, filter, options }) =>
          page(company, filter, { ...options, cursor: Option.getOrElse(cursor, () => "start" as const) })
      )
      const exit = await Effect.runPromiseExitWith(toStderr)(call, { signal })
      if (Exit.isSuccess(exit)) return plainPage(exit.value)
      signal.throwIfAborted()
      throw plainError(Cause.squash(exit.cause))
    },
    backfill: (filter, options) => {
      const { concurrency, order, segments, ...rest } = options
      const rows = Result.gen(function*() {
        const { company, filter: valid, options: run } = yield* prepared(filter, rest)
        if (!isRange(valid)) return yield* invalid(company.id, "clockedIn", "must have gte, and one of lte and lt")
        if (segments !== undefined && !areSegments(segments))
          return yield* invalid(company.id, "segments", "must be texts that a backfill left unfinished")
        return backfill(company, valid, { ...run, concurrency, order, segments })
      })
      return iterate(options, rows, plainPunch)
    },
    close,
    [Symbol.asyncDispose]: close
  }
}
