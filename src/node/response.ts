/** The response of the transport, as the core's other transports make it, but strict: text that is not UTF-8 fails. */
import * as Effect from "effect/Effect"
import * as Cookies from "effect/http/Cookies"
import * as Headers from "effect/http/Headers"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as UrlParams from "effect/http/UrlParams"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import { pipeArguments } from "effect/Pipeable"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ReleaseBody } from "../internal/http/body.ts"
import type { Incoming } from "./exchange.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })
const form = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** A response with the body that is on its way. `maxBodySize` limits the reads of the whole body. */
export class NodeResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId] = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId] = HttpClientResponse.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly url: string
  readonly headers: Headers.Headers
  readonly #incoming: Incoming
  readonly #maxBodySize: number

  constructor(request: HttpClientRequest.HttpClientRequest, url: URL, incoming: Incoming, maxBodySize: number) {
    super()
    this.request = request
    this.url = url.hash === "" ? url.href : url.href.slice(0, -url.hash.length)
    this.headers = Headers.fromInput(incoming.headers)
    this.#incoming = incoming
    this.#maxBodySize = maxBodySize
  }

  get status(): number {
    return this.#incoming.status
  }

  get cookies(): Cookies.Cookies {
    const set = this.#incoming.headers["set-cookie"]
    return set === undefined ? Cookies.empty : Cookies.fromSetCookie(set)
  }

  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }

  get stream(): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> {
    return Stream.mapError(this.#incoming.body.parts, (cause) => this.#decodeError(cause))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, HttpClientError.HttpClientError> {
    return Effect.withFiber((fiber) => {
      const cap = fiber.getRef(HttpIncomingMessage.MaxBodySize)
      const whole = this.#incoming.body.whole(
        cap === undefined ? this.#maxBodySize : Number(cap),
        fiber.getRef(ReleaseBody)
      )
      return Effect.mapError(whole, (cause) => this.#decodeError(cause))
    })
  }

  get text(): Effect.Effect<string, HttpClientError.HttpClientError> {
    return this.#read((bytes) => utf8.decode(bytes))
  }

  get json(): Effect.Effect<Schema.Json, HttpClientError.HttpClientError> {
    return this.#read((bytes) => bytes.byteLength === 0 ? null : JSON.parse(utf8.decode(bytes)))
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, HttpClientError.HttpClientError> {
    // `URLSearchParams` would drop a "?" at the start of a form, as if a query followed.
    return this.#read((bytes) => UrlParams.fromInput(new URLSearchParams(form.decode(bytes).replace(/^\?/, "%3F"))))
  }

  get formData(): Effect.Effect<FormData, HttpClientError.HttpClientError> {
    return Effect.flatMap(this.arrayBuffer, (bytes) =>
      Effect.tryPromise({
        try: () => new Response(bytes, { headers: this.headers }).formData(),
        catch: (cause) => this.#decodeError(cause)
      }))
  }

  /** A request for an upgrade goes through the core's client, so that no response of this one has a connection to hand over. */
  get upgrade(): Effect.Effect<never, HttpClientError.HttpClientError> {
    return Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.StatusCodeError({
          request: this.request,
          response: this,
          description: "expected 101 Switching Protocols"
        })
      })
    )
  }

  override toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "effect/http/HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  #read<A>(parse: (bytes: ArrayBuffer) => A): Effect.Effect<A, HttpClientError.HttpClientError> {
    return Effect.flatMap(
      this.arrayBuffer,
      (bytes) => Effect.try({ try: () => parse(bytes), catch: (cause) => this.#decodeError(cause) })
    )
  }

  #decodeError(cause: unknown): HttpClientError.HttpClientError {
    return new HttpClientError.HttpClientError({
      reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
    })
  }
}
