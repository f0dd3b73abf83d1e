/** From a response to the JSON of a page, or to the failure that it means. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { contentType, isEncoded, isJson, parseJson, readBytes, tooLarge } from "../internal/http/body.ts"
import { readProblem, retryAfterOf } from "../internal/http/problem.ts"
import { statusOf } from "../internal/http/status.ts"
import { overflowed, transportFailureOf } from "../internal/http/transportFailure.ts"
import { decodeFailure, type Failure, statusFailure, transportFailure } from "./failure.ts"

/** The most bytes of a page. A full page of 200 punches has a tenth or two of a megabyte. */
const pageCap = 8 * 1024 * 1024

/** The JSON of a 200; any other status fails, with what its body adds. `secrets` are removed from that. */
export const readPage = (
  response: HttpClientResponse.HttpClientResponse,
  secrets: () => ReadonlyArray<Redacted.Redacted>
): Effect.Effect<unknown, Failure> =>
  statusOf(response.status) === "ok" ? readJson(response) : failWithStatus(response, secrets())

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
    // An encoded body that the transport did not decode is not text; one that it did decode may still be cut.
    if (json.failure === "Charset" && isEncoded(response)) {
      return Effect.fail(decodeFailure("ContentEncoding", { detail: "Expected a plain body" }))
    }
    return Effect.fail(decodeFailure(json.failure, {}, { Charset: 0, Empty: 1, NotJson: 2 }[json.failure]))
  })
}

const bodyFailure = (error: HttpClientError.HttpClientError | typeof tooLarge): Failure =>
  transportFailure(error === tooLarge ? overflowed : transportFailureOf(error, "body"))

const failWithStatus = Effect.fnUntraced(function*(
  response: HttpClientResponse.HttpClientResponse,
  secrets: ReadonlyArray<Redacted.Redacted>
) {
  const problem = yield* readProblem(response, secrets)
  const retryAfter = yield* retryAfterOf(response)
  return yield* Effect.fail(statusFailure(response.status, problem, retryAfter))
})
