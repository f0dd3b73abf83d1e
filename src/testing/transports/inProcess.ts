/**
 * START HERE. The fake service in process, or over HTTP. An `HttpClient` that calls the fake service directly: no socket, no
 * promise, so `TestClock` controls its time.
 */
import * as Effect from "effect/Effect"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { FakeResponse } from "../base/message.ts"
import { type Exchange, toServerResponse } from "./serverResponse.ts"

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const bodyText = (body: HttpBody.HttpBody): Effect.Effect<string, unknown> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed("")
    case "Uint8Array":
      return Effect.succeed(body.text ?? decode(body.body))
    case "Stream":
      return Effect.map(Stream.mkUint8Array(body.stream), decode)
    default:
      return Effect.fail(`the fake service cannot read a body of kind ${body._tag}`)
  }
}

/** The error that clients with sockets report for a reset. */
const reset = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({
      request,
      cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" })
    })
  })

const deliver = (
  exchange: Exchange,
  request: HttpClientRequest.HttpClientRequest,
  response: FakeResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
  switch (response.delivery._tag) {
    case "Reset":
      return Effect.fail(reset(request))
    case "Silence":
      return exchange.track(Effect.never)
    default:
      return Effect.succeed(HttpServerResponse.toClientResponse(toServerResponse(exchange, response), { request }))
  }
}

/** The client of an exchange. An interrupted request is no longer in flight. */
export const makeClient = (exchange: Exchange): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    bodyText(request.body).pipe(
      Effect.mapError((cause) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, cause }) })
      ),
      Effect.flatMap((body) =>
        exchange.respond({ method: request.method, url: url.href, headers: { ...request.headers }, body })
      ),
      Effect.flatMap((response) => deliver(exchange, request, response))
    )
  )
