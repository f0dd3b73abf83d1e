/** An `HttpClient` that hands its requests to the fake service directly: no socket, no promise, so `TestClock` sees it all. */
import * as Effect from "effect/Effect"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { FakeResponse } from "../base/message.ts"
import type { FakeService } from "../FakeService.ts"
import { toServerResponse } from "./serverResponse.ts"

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
      return Effect.fail(new Error(`the fake service cannot read a body of kind ${body._tag}`))
  }
}

/** What a reset looks like to the clients that have sockets. */
const reset = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({
      request,
      cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" })
    })
  })

const deliver = (
  service: FakeService["Service"],
  request: HttpClientRequest.HttpClientRequest,
  response: FakeResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
  switch (response.delivery._tag) {
    case "Reset":
      return Effect.fail(reset(request))
    case "Silence":
      return service.track(Effect.never)
    default:
      return Effect.succeed(HttpServerResponse.toClientResponse(toServerResponse(service, response), { request }))
  }
}

/** The client of a service. Interrupting a request takes it out of flight. */
export const makeClient = (service: FakeService["Service"]): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    bodyText(request.body).pipe(
      Effect.mapError((cause) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, cause }) })
      ),
      Effect.flatMap((body) =>
        service.respond({ method: request.method, url: url.href, headers: { ...request.headers }, body })
      ),
      Effect.flatMap((response) => deliver(service, request, response))
    )
  )
