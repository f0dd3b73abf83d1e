/** From a response to a page of rows or to the failure that it is. The only file that knows what a status means. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as ApiError from "../ApiError.ts"
import { contentType, isEncoded, isJson, parseJson, readBytes, tooLarge } from "../internal/http/body.ts"
import { scrub } from "../internal/http/secret.ts"
import { overflowed, type TransportFailure, transportFailureOf } from "../internal/http/transportFailure.ts"
import type { Retry } from "../internal/resilience/retry.ts"
import type { Failure } from "./failure.ts"

/** 200 punches are a tenth of a megabyte or two; a page past this is not a page. */
const pageCap = 8 * 1024 * 1024
const problemCap = 64 * 1024

export const failure = (error: Failure["error"], retry?: Retry): Failure => ({ error, retry, unauthorized: false })

export const fromFault = ({ code, reason, retry }: TransportFailure): Failure =>
  failure((at) => new ApiError.TransportError({ ...at, code, reason }), retry)

/** The failure of a 200 that is not what it should be; `limit` is how often it is worth another try. */
export const decodeFailure = (
  reason: ApiError.DecodeError["reason"],
  found: { readonly path?: string; readonly detail?: string; readonly punchId?: Option.Option<number> } = {},
  limit = 0
): Failure =>
  failure(
    (at) => new ApiError.DecodeError({ ...at, ...found, reason }),
    limit === 0 ? undefined : { kind: reason, limit, throttled: false, retryAfter: Option.none() }
  )

export const paginationFailure = (reason: ApiError.PaginationError["reason"]): Failure =>
  failure((at) => new ApiError.PaginationError({ ...at, reason }))

/** The JSON of a 200, or why there is none; any other status is its failure, with what its body adds. */
export const readPage = (
  response: HttpClientResponse.HttpClientResponse,
  secrets: () => ReadonlyArray<Redacted.Redacted>
): Effect.Effect<unknown, Failure> =>
  statusOf(response.status) === "ok" ? readJson(response) : refused(response, secrets())

/** A 200 that another origin gave: a client of the caller's own has followed a redirect. */
export const foreignOrigin = (status: number): Failure =>
  failure((at) => new ApiError.UnexpectedStatus({ ...at, status, problem: {} }))

const readJson = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<unknown, Failure> => {
  const { headers } = response
  const { charset, type } = contentType({ headers })
  if (type !== "" && !isJson(type)) return Effect.fail(decodeFailure("ContentType", { detail: "Expected JSON" }, 1))
  if (charset !== "" && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
    return Effect.fail(decodeFailure("Charset", { detail: "Expected UTF-8" }))
  }
  return Effect.flatMap(Effect.mapError(readBytes(response, pageCap, headers), bodyFailure), (bytes) => {
    const json = parseJson(bytes)
    if (Result.isSuccess(json)) return Effect.succeed(json.success)
    // What nobody has decoded is no text; a text that breaks off was decoded, and cut before that.
    if (json.failure === "Charset" && isEncoded(response)) {
      return Effect.fail(decodeFailure("ContentEncoding", { detail: "Expected a plain body" }))
    }
    return Effect.fail(decodeFailure(json.failure, {}, { Charset: 0, Empty: 1, NotJson: 2 }[json.failure]))
  })
}

const bodyFailure = (error: HttpClientError.HttpClientError | typeof tooLarge): Failure =>
  fromFault(error === tooLarge ? overflowed : transportFailureOf(error, "body"))

const refused = Effect.fnUntraced(function*(
  response: HttpClientResponse.HttpClientResponse,
  secrets: ReadonlyArray<Redacted.Redacted>
) {
  const problem = yield* readProblem(response, secrets)
  const retryAfter = yield* retryAfterOf(response)
  return yield* Effect.fail(statusFailure(response.status, problem, retryAfter))
})

/** What a status says of the request, for either endpoint. */
export type StatusKind = "ok" | "unauthorized" | "forbidden" | "unprocessable" | "throttled" | "transient" | "other"

const kinds: { readonly [status: number]: StatusKind } = {
  200: "ok",
  401: "unauthorized",
  403: "forbidden",
  408: "transient",
  422: "unprocessable",
  429: "throttled",
  500: "transient",
  502: "transient",
  503: "transient",
  504: "transient"
}

export const statusOf = (status: number): StatusKind => kinds[status] ?? "other"

/** What a status means for a page. The body only adds detail. */
const statusFailure = (
  status: number,
  problem: ApiError.Problem,
  retryAfter: Option.Option<Duration.Duration>
): Failure => {
  const transient: Retry = { kind: `${status}`, limit: Infinity, throttled: false, retryAfter }
  switch (statusOf(status)) {
    case "unauthorized":
      return { ...failure((at) => new ApiError.Unauthorized({ ...at, status, problem })), unauthorized: true }
    case "forbidden":
      return failure((at) => new ApiError.Forbidden({ ...at, status, problem }))
    case "unprocessable":
      return failure((at) => new ApiError.UnprocessableEntity({ ...at, status, problem }))
    case "throttled":
      return failure(
        (at) => new ApiError.RateLimited({ ...at, status, problem, retryAfter }),
        { ...transient, throttled: true }
      )
    case "transient":
      return status === 500
        ? failure((at) => new ApiError.ServerError({ ...at, status, problem }), transient)
        : failure((at) => new ApiError.ServiceUnavailable({ ...at, status, problem }), transient)
    case "ok":
    case "other":
      return failure((at) => new ApiError.UnexpectedStatus({ ...at, status, problem }))
  }
}

/** A `Retry-After` in seconds or as a date; anything else is as good as none. */
export const retryAfterOf = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Option.Option<Duration.Duration>> =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    Option.fromUndefinedOr(response.headers["retry-after"]).pipe(
      Option.flatMap((text) => Result.getSuccess(Headers.parseRetryAfter(text))),
      Option.map((retryAfter) => Headers.retryAfterDelay(retryAfter, now))
    ))

/** How long a problem body may take to come: the status is known and must not wait for it. */
const problemTimeout = Duration.seconds(5)

const readProblem = (
  response: HttpClientResponse.HttpClientResponse,
  secrets: ReadonlyArray<Redacted.Redacted>
): Effect.Effect<ApiError.Problem> => {
  const { type } = contentType(response)
  if (type !== "" && !isJson(type)) return Effect.succeed({})
  return readBytes(response, problemCap).pipe(
    Effect.map((bytes) => toProblem(Result.getOrElse(parseJson(bytes), () => undefined), secrets)),
    // A body that breaks off takes nothing from the status, which is what the caller acts on.
    Effect.catch(() => Effect.succeed({})),
    Effect.timeoutOrElse({ duration: problemTimeout, orElse: () => Effect.succeed({}) })
  )
}

/** Keeps the members that are well-typed. An older body says `error` for the title and `message` for the detail. */
const toProblem = (body: unknown, secrets: ReadonlyArray<Redacted.Redacted>): ApiError.Problem => {
  if (!Predicate.isObject(body)) return {}
  const text = (...names: ReadonlyArray<string>) => {
    const found = names.map((name) => read(body, name)).find(Predicate.isString)
    return found === undefined ? undefined : scrub(found, secrets)
  }
  const number = (name: string) => {
    const found = read(body, name)
    return Number.isFinite(found) && Predicate.isNumber(found) ? found : undefined
  }
  const [type, title, detail, param] = [text("type"), text("title", "error"), text("detail", "message"), text("param")]
  const [status, code] = [number("status"), number("code")]
  return {
    ...(type === undefined ? undefined : { type }),
    ...(title === undefined ? undefined : { title }),
    ...(status === undefined ? undefined : { status }),
    ...(detail === undefined ? undefined : { detail }),
    ...(code === undefined ? undefined : { code }),
    ...(param === undefined ? undefined : { param })
  }
}

const read = (body: object, name: string): unknown => Object.getOwnPropertyDescriptor(body, name)?.value
