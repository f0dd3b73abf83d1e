/** What a response adds to its status: the problem in its body, the wait and the name of the request in its headers. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { printable } from "../text/printable.ts"
import { contentType, isJson, parseJson, readBytes } from "./body.ts"
import { scrub } from "./secret.ts"

/** A `Retry-After` in seconds or as a date. Any other text counts as none. */
export const retryAfterOf = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Option.Option<Duration.Duration>> =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    Option.fromUndefinedOr(response.headers["retry-after"]).pipe(
      Option.flatMap((text) => Result.getSuccess(Headers.parseRetryAfter(text))),
      Option.map((retryAfter) => Headers.retryAfterDelay(retryAfter, now))
    ))

/** The longest name of a request that is kept. */
const longestRequestId = 200

/** The service's name for a request, without the secrets that it may echo. */
export const requestIdOf = (
  headers: Headers.Headers,
  secrets: () => ReadonlyArray<Redacted.Redacted>
): Option.Option<string> => {
  const id = headers["x-request-id"]?.trim() || headers["request-id"]?.trim()
  return id === undefined || id === "" ? Option.none() : Option.some(shortened(printable(scrub(id, secrets()))))
}

const shortened = (text: string): string =>
  text.length > longestRequestId ? `${text.slice(0, longestRequestId - 1)}…` : text

const problemCap = 64 * 1024

/** How long a problem body may take: the status is known already and must not wait for it. */
const problemTimeout = Duration.seconds(5)

/** Reads a problem body. A body that is not a problem, is cut or is late makes an empty problem, never another error. */
export const readProblem = (
  response: HttpClientResponse.HttpClientResponse,
  secrets: ReadonlyArray<Redacted.Redacted>
): Effect.Effect<ProblemMembers> => {
  const { type } = contentType(response)
  if (type !== "" && !isJson(type)) return Effect.succeed(none)
  return readBytes(response, problemCap).pipe(
    Effect.map((bytes) => toProblem(Result.getOrElse(parseJson(bytes), () => undefined), secrets)),
    Effect.orElseSucceed(() => none),
    Effect.timeoutOrElse({ duration: problemTimeout, orElse: () => Effect.succeed(none) })
  )
}

/** Keeps the members that are well-typed. An older body says `error` for the title and `message` for the detail. */
const toProblem = (json: unknown, secrets: ReadonlyArray<Redacted.Redacted>) => {
  const body = Predicate.isObject(json) ? json : {}
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

type ProblemMembers = ReturnType<typeof toProblem>

const none: ProblemMembers = {}

/** Reads no inherited member, so that `__proto__` in a body has no effect. */
const read = (body: object, name: string): unknown => Object.getOwnPropertyDescriptor(body, name)?.value
