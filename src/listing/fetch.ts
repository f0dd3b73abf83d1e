/** One page, whatever it takes within its limits: sign, send, read, decode; deadline, retry, one replay after a 401. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import { InvalidRequest, type ListError, TokenError } from "../ApiError.ts"
import type { Credentials, Signed } from "../Credentials.ts"
import type { Cursor } from "../Ids.ts"
import { type Exchange, wasRedirected } from "../internal/http/client.ts"
import { secretsOf } from "../internal/http/secret.ts"
import { timedOut, transportFailureOf } from "../internal/http/transportFailure.ts"
import { type Deadlines, makeDeadlines, timed, type Watch } from "../internal/resilience/deadline.ts"
import { type Budget, makeBudget, retry } from "../internal/resilience/retry.ts"
import { pageRead, retrying } from "../internal/telemetry/metrics.ts"
import { span } from "../internal/telemetry/tracing.ts"
import type { RetryOptions } from "../RetryPolicy.ts"
import type { Failure, Where } from "./failure.ts"
import { pageRequest, type Query } from "./request.ts"
import { failure, foreignOrigin, fromFault, readPage } from "./response.ts"
import type { Decode, Fetched, Rows } from "./rows.ts"

/** What every page request of a client shares. */
export interface Client {
  readonly baseUrl: string
  readonly version: Option.Option<string>
  readonly sign: Credentials["Service"]["sign"]
  readonly send: Exchange
  readonly policy: Policy
}

/** A client with what the pages of one run share. */
export interface Run extends Client {
  readonly deadlines: Deadlines<Failure>
}

export const startRun = (client: Client) =>
  Effect.map(makeDeadlines(client.policy.attemptTimeout, expired), (deadlines): Run => ({ ...client, deadlines }))

/** `RetryPolicy` in milliseconds, with the budget that all pages of a client share. */
export interface Policy {
  readonly attempts: number
  readonly attemptTimeout: number
  readonly total: number
  readonly baseDelay: number
  readonly throttleDelay: number
  readonly maxDelay: number
  readonly retryAfterCap: number
  readonly budget: Budget
}

export const makePolicy = (options: RetryOptions): Policy => ({
  attempts: options.attempts,
  attemptTimeout: Duration.toMillis(options.attemptTimeout),
  total: Duration.toMillis(options.pageTimeout),
  baseDelay: Duration.toMillis(options.baseDelay),
  throttleDelay: Duration.toMillis(options.throttleDelay),
  maxDelay: Duration.toMillis(options.maxDelay),
  retryAfterCap: Duration.toMillis(options.retryAfterCap),
  budget: makeBudget(options.budget)
})

/**
 * Fetches the page at `cursor`. Whatever goes wrong is one listing error that says where the run can go on; no row of
 * a page that failed is given out.
 */
export const fetchRows = <A>(
  run: Run,
  decode: Decode<A>,
  query: Query,
  cursor: Option.Option<Cursor>,
  pagesCompleted: number
): Effect.Effect<Fetched<A>, ListError> =>
  Effect.suspend(() => {
    const { deadlines, policy } = run
    const page = unsigned(run, query, cursor)
    let sent = 0
    let replayed = false

    const exchange = ({ request, secrets = [] }: Signed, watch: Watch) =>
      Effect.suspend(() => {
        sent++
        return timed(
          watch,
          run.send(request, {
            error: (error) => fromFault(transportFailureOf(error, "headers")),
            response: (response) =>
              wasRedirected(request.url, response.url)
                ? Effect.fail(foreignOrigin(response.status))
                : readPage(response, () => [...secrets, ...secretsOf(request)])
          })
        )
      })

    const signed = Effect.mapError(run.sign(page, query.company), unsignable)

    const read = (json: unknown) => Effect.fromResult(decode(json, query.company.id))

    const attempt = (watch: Watch): Effect.Effect<Rows<A>, Failure> =>
      Effect.flatMap(signed, (first) =>
        Effect.matchEffect(exchange(first, watch), {
          onSuccess: read,
          onFailure: (failed) => {
            if (!failed.unauthorized || replayed) return Effect.fail(failed)
            watch.pause()
            return Effect.flatMap(first.onUnauthorized, (again) => {
              if (!again) return Effect.fail(failed)
              replayed = true
              return Effect.flatMap(signed, (second) => Effect.flatMap(exchange(second, watch), read))
            })
          }
        }))

    const where = (): Where => ({ companyId: query.company.id, resumeFrom: cursor, pagesCompleted, attempts: sent })
    const rows = Effect.flatMap(Clock.monotonicTimeNanos, (started) => {
      const end = Number(started) / 1e6 + policy.total
      return Effect.matchEffect(
        retry({
          attempt: deadlines.bounded(end, attempt),
          started,
          retryOf: (failed) => failed.retry,
          limits: policy,
          budget: policy.budget,
          onRetry: (retry, delay) => retrying("page", retry.kind, delay)
        }),
        {
          onSuccess: ({ cursor, rows }) => Effect.as(pageRead(rows.length, started), { rows, cursor, attempts: sent }),
          onFailure: (failed) => Effect.fail(failed.error(where()))
        }
      )
    })
    return span(rows, "TimePunches.page", {
      "time_punches.page": pagesCompleted,
      "time_punches.api_version": Option.getOrElse(run.version, () => "token default")
    })
  })

const expired = Effect.fail(fromFault(timedOut))

const unsigned = ({ baseUrl, version }: Client, query: Query, cursor: Option.Option<Cursor>) => {
  const request = HttpClientRequest.setHeader(
    pageRequest(baseUrl, query, cursor),
    "accept",
    "application/json, application/problem+json"
  )
  return Option.isNone(version) ? request : HttpClientRequest.setHeader(request, "x-api-version", version.value)
}

/** A credential's own error, told again with its place in the run. */
const unsignable = (error: TokenError | InvalidRequest): Failure =>
  failure((at) =>
    error._tag === "TokenError"
      ? new TokenError({ ...at, reason: error.reason, status: error.status })
      : new InvalidRequest({ ...at, field: error.field, detail: error.detail })
  )
