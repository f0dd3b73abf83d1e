/** One page, whatever it takes within its limits: sign, send, read, decode; deadline, retry, one replay after a 401. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import { InvalidRequest, type ListError, TokenError } from "../ApiError.ts"
import type { Credentials, Signed } from "../Credentials.ts"
import type { Cursor } from "../Ids.ts"
import type { RetryOptions } from "../RetryPolicy.ts"
import type { Failure, Where } from "./failure.ts"
import { faultOf, timedOut } from "./fault.ts"
import { pageRequest, type Query } from "./request.ts"
import { elsewhere, failure, fromFault, readPage } from "./response.ts"
import { type Budget, makeBudget, persist } from "./retry.ts"
import type { Decode, Rows } from "./rows.ts"
import { secretsOf } from "./secret.ts"
import { pageRead, retrying, span } from "./telemetry.ts"
import type { Send } from "./transport.ts"

/** What every page request of a client shares. */
export interface Client {
  readonly baseUrl: string
  readonly version: Option.Option<string>
  readonly sign: Credentials["Service"]["sign"]
  readonly send: Send
  readonly policy: Policy
}

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
  client: Client,
  decode: Decode<A>,
  query: Query,
  cursor: Option.Option<Cursor>,
  pagesCompleted: number
): Effect.Effect<Rows<A>, ListError> =>
  Effect.suspend(() => {
    const { policy } = client
    const page = unsigned(client, query, cursor)
    let sent = 0
    let replayed = false

    const exchange = Effect.fnUntraced(
      function*({ request, secrets = [] }: Signed) {
        sent++
        const response = yield* Effect.mapError(client.send(request), (error) => fromFault(faultOf(error, "headers")))
        if (hasMoved(request.url, response.url)) return yield* Effect.fail(elsewhere(response.status))
        return yield* readPage(response, [...secrets, ...secretsOf(request)])
      },
      Effect.scoped,
      Effect.timeoutOrElse({
        duration: policy.attemptTimeout,
        orElse: () => Effect.fail(fromFault(timedOut))
      })
    )

    const once: Effect.Effect<Rows<A>, Failure> = Effect.gen(function*() {
      const signed = yield* Effect.mapError(client.sign(page, query.company), unsignable)
      const json = yield* Effect.catch(
        exchange(signed),
        Effect.fnUntraced(function*(failed) {
          if (!failed.unauthorized || replayed || !(yield* signed.rejected)) return yield* Effect.fail(failed)
          replayed = true
          return yield* exchange(yield* Effect.mapError(client.sign(page, query.company), unsignable))
        })
      )
      return yield* Effect.fromResult(decode(json, query.company.id))
    })

    const where = (): Where => ({ companyId: query.company.id, resumeFrom: cursor, pagesCompleted, attempts: sent })
    const rows = Clock.monotonicTimeNanos.pipe(
      Effect.flatMap((started) =>
        Effect.tap(
          persist({
            once,
            retryOf: (failed) => failed.retry,
            limits: policy,
            budget: policy.budget,
            onRetry: (retry, delay) => retrying("page", retry.kind, delay)
          }),
          (page) => pageRead(page.rows.length, started)
        )
      ),
      Effect.timeoutOrElse({ duration: policy.total, orElse: () => Effect.fail(fromFault(timedOut)) }),
      Effect.mapError((failed) => failed.error(where()))
    )
    return span(rows, "TimePunches.page", {
      "time_punches.page": pagesCompleted,
      "time_punches.api_version": Option.getOrElse(client.version, () => "token default")
    })
  })

const unsigned = ({ baseUrl, version }: Client, query: Query, cursor: Option.Option<Cursor>) => {
  const request = HttpClientRequest.setHeader(
    pageRequest(baseUrl, query, cursor),
    "accept",
    "application/json, application/problem+json"
  )
  return Option.isNone(version) ? request : HttpClientRequest.setHeader(request, "x-api-version", version.value)
}

/** A transport that followed a redirect by itself ends at another origin than the one that was asked. */
const hasMoved = (asked: string, answered: string): boolean =>
  answered !== "" && !answered.startsWith(`${new URL(asked).origin}/`)

/** A credential's own error, told again with its place in the run. */
const unsignable = (error: TokenError | InvalidRequest): Failure =>
  failure((at) =>
    error._tag === "TokenError"
      ? new TokenError({ ...at, reason: error.reason, status: error.status })
      : new InvalidRequest({ ...at, field: error.field, detail: error.detail })
  )
