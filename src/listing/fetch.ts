/** One page, with all its attempts: sign, send, read, decode; deadlines, retries, one replay after a 401. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { ListError } from "../ApiError.ts"
import type { SignedRequest } from "../Credentials.ts"
import type { Cursor } from "../Ids.ts"
import { wasRedirected } from "../internal/http/client.ts"
import { requestIdOf } from "../internal/http/problem.ts"
import { secretsOf } from "../internal/http/secret.ts"
import { transportFailureOf } from "../internal/http/transportFailure.ts"
import { AttemptWatch, type Queued, timed, type Watch } from "../internal/resilience/deadline.ts"
import { retry } from "../internal/resilience/retry.ts"
import { pageRead, retrying } from "../internal/telemetry/metrics.ts"
import { span } from "../internal/telemetry/tracing.ts"
import { unreadOf } from "../internal/wire/unknown.ts"
import { userAgent } from "../internal/wire/userAgent.ts"
import { readVersion } from "../internal/wire/version.ts"
import type { PageResponse } from "../Page.ts"
import { deadlineFailure, type Failure, foreignOrigin, signFailure, transportFailure } from "./failure.ts"
import { pageRequest, type Query } from "./request.ts"
import { type Decode, type FetchedPage, readPage } from "./rows.ts"
import type { Run } from "./run.ts"
import { noteVersion } from "./version.ts"

/**
 * Fetches the page at `cursor`. Fails with one listing error, whose `resumeFrom` is that cursor; a page that fails
 * gives no row.
 */
export const fetchRows = <A>(
  run: Run,
  decode: Decode<A>,
  query: Query,
  cursor: Option.Option<Cursor>,
  pagesCompleted: number
): Effect.Effect<FetchedPage<A>, ListError> => {
  const { deadlines, end, policy } = run
  const rows = Effect.flatMap(Clock.monotonicTimeNanos, (started) => {
    const page: Fetching = {
      run,
      query,
      cursor,
      pagesCompleted,
      attempts: 0,
      requestId: Option.none(),
      isReplayed: false
    }
    const at = Number(started) / 1e6
    if (at >= end) return Effect.fail(locate(deadlineFailure, page))
    const total = Math.min(policy.total, end - at)
    const queued: Queued = { waited: 0, latest: end }
    const attempt = (watch: Watch) =>
      Effect.flatMap(
        readOnce(page, watch),
        ({ json, receipt }) =>
          Effect.fromResult(Result.map(decode(json, query.company.id, query.contradicted), (rows) => ({
            ...rows,
            ...unreadOf(json),
            receipt
          })))
      )
    const attempts = retry({
      attempt: deadlines.bounded(at + total, attempt, queued),
      started,
      uncounted: () => queued.waited,
      retryOf: (failure) => failure.retry,
      limits: total === policy.total ? policy : { ...policy, total },
      budget: policy.budget,
      onRetry: ({ kind }, next) => retrying({ what: "page", reason: kind, ...next })
    })
    return Effect.matchEffect(attempts, {
      onSuccess: ({ receipt, ...decoded }) =>
        Effect.as(
          Option.isNone(receipt.apiVersion)
            ? pageRead(decoded.rows.length, started)
            : Effect.andThen(
              pageRead(decoded.rows.length, started),
              noteVersion(run.versions, receipt.apiVersion.value, run.version)
            ),
          {
            ...decoded,
            index: pagesCompleted,
            sent: cursor,
            response: { ...receipt, attempts: page.attempts, askedVersion: run.version }
          }
        ),
      onFailure: (failure) => Effect.fail(locate(failure, page))
    })
  })
  return span(rows, "TimePunches.page", {
    // From 1, as in messages.
    "time_punches.page": pagesCompleted + 1,
    "time_punches.api_version": Option.getOrElse(run.version, () => "token default")
  })
}

/** A page while it is fetched, with what is counted over its attempts. */
interface Fetching {
  readonly run: Run
  readonly query: Query
  readonly cursor: Option.Option<Cursor>
  readonly pagesCompleted: number
  attempts: number
  /** Of the last request, if its response began. */
  requestId: Option.Option<string>
  isReplayed: boolean
}

/** The listing error of a failure, with its place in the run. */
const locate = (failure: Failure, { attempts, cursor, pagesCompleted, query, requestId, run }: Fetching): ListError =>
  failure.error(
    { companyId: query.company.id, resumeFrom: cursor, pagesCompleted, attempts, requestId },
    Option.fromUndefinedOr(URL.parse(run.baseUrl)?.origin)
  )

/** A page before it is decoded. */
interface Received {
  readonly json: unknown
  readonly receipt: Receipt
}

/**
 * One attempt for a page, up to its JSON. Once a page, a 401 that a fresh credential may cure is sent again within it. Not
 * a generator: that keeps what it was last resumed with, and one that waited long outlives the page.
 */
const readOnce = (page: Fetching, watch: Watch): Effect.Effect<Received, Failure> =>
  Effect.flatMap(sign(page), (signed) =>
    Effect.catch(sendOnce(page, signed, watch), (failure) => {
      if (!failure.unauthorized || page.isReplayed) return Effect.fail(failure)
      watch.pause()
      return Effect.flatMap(signed.onUnauthorized, (isFresh) => {
        if (!isFresh) return Effect.fail(failure)
        page.isReplayed = true
        return Effect.flatMap(sign(page), (renewed) => sendOnce(page, renewed, watch))
      })
    }))

const sign = (page: Fetching): Effect.Effect<SignedRequest, Failure> => {
  const { cursor, query, run: { baseUrl, sign, version } } = page
  const request = HttpClientRequest.setHeaders(pageRequest(baseUrl, query, cursor), {
    ...userAgent(),
    accept: "application/json, application/problem+json",
    ...(Option.isNone(version) ? undefined : { "x-api-version": version.value })
  })
  return Effect.mapError(sign({ request, company: query.company }), signFailure)
}

/** Sends a signed request and reads its response. The time of the attempt runs from here; waits for a token do not count. */
const sendOnce = (
  page: Fetching,
  { request, secrets = [] }: SignedRequest,
  watch: Watch
): Effect.Effect<Received, Failure> =>
  Effect.flatMap(beginReceipt, (takeReceipt) => {
    page.attempts++
    page.requestId = Option.none()
    const secretsOfRequest = () => [...secrets, ...secretsOf(request)]
    return timed(
      watch,
      Effect.provideService(
        page.run.send(request, {
          error: (error) => transportFailure(transportFailureOf(error, "Headers")),
          response: (response) =>
            wasRedirected(request.url, response.url)
              ? Effect.fail(foreignOrigin(response.status))
              : Effect.flatMap(
                takeReceipt(response.headers, secretsOfRequest),
                (receipt) => {
                  page.requestId = receipt.requestId
                  return Effect.map(readPage(response, secretsOfRequest), (json) => ({ json, receipt }))
                }
              )
        }),
        AttemptWatch,
        watch
      )
    )
  })

/** The facts of the request that brought a page; the attempts are counted elsewhere. */
export type Receipt = Omit<PageResponse, "attempts" | "askedVersion">

/** Reads the headers when they arrive; `secrets` are removed from the texts that are kept. */
export type TakeReceipt = (
  headers: Headers.Headers,
  secrets: () => ReadonlyArray<Redacted.Redacted>
) => Effect.Effect<Receipt>

/**
 * Begins with the request. The service read its data after that, so its clock less the time until the headers came is
 * never later than the data. The wall clock may step meanwhile; the monotonic one does not.
 */
export const beginReceipt: Effect.Effect<TakeReceipt> = Effect.zipWith(
  Clock.currentTimeMillis,
  Clock.monotonicTimeNanos,
  (sentAt, started): TakeReceipt => (headers, secrets) =>
    Effect.map(Clock.monotonicTimeNanos, (arrived) => ({
      asOf: Option.map(
        dateOf(headers["date"]),
        ({ epochMilliseconds }) => utc(epochMilliseconds - Math.ceil(Number(arrived - started) / 1e6))
      ),
      sentAt: utc(sentAt),
      requestId: requestIdOf(headers, secrets),
      remaining: countOf(headers["ratelimit-remaining"] ?? headers["x-ratelimit-remaining"]),
      apiVersion: readVersion(headers["x-api-version"])
    }))
)

/** Without a header nothing is parsed: the failure has a stack trace, which costs more than the rest of the receipt. */
const dateOf = (text: string | undefined): Option.Option<DateTime.Utc> =>
  text === undefined ? Option.none() : Result.getSuccess(Headers.parseHttpDate(text))

const utc = (millis: number) => DateTime.toUtc(DateTime.makeUnsafe(millis))

const countOf = (text: string | undefined): Option.Option<number> =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Option.some(Number(text)) : Option.none()
