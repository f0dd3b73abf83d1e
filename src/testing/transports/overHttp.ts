/** The fake service behind a real `HttpServer`: it serves this machine only, and resets or cuts sockets. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpServer from "effect/http/HttpServer"
import type { HttpServerError } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type { Scope } from "effect/Scope"
import { foreignCaller, isLoopbackAddress } from "../../internal/page/guard.ts"
import { answerText } from "../../internal/page/serve.ts"
import { bytesOf, type FakeResponse, joinBytes } from "../base/message.ts"
import { cutSurplus, type Exchange, toServerResponse } from "./serverResponse.ts"

/**
 * Serves until the scope of the layer closes. A client that disconnects interrupts its request. On a loopback address,
 * a request from elsewhere gets status 403 and does not reach the service. `withPage` answers the requests of a page, which do
 * not reach it either.
 */
export const serve = (
  exchange: Exchange,
  withPage: (others: Handler) => Handler = identity
): Layer.Layer<never, never, HttpServer.HttpServer> =>
  Layer.unwrap(HttpServer.HttpServer.useSync(({ address }) => serveTo(exchange, withPage, isLoopbackAddress(address))))

type Handler = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  HttpServerError,
  HttpServerRequest.HttpServerRequest | Scope
>

const serveTo = (exchange: Exchange, withPage: (others: Handler) => Handler, toThisMachine: boolean) => {
  const ofService = answerText(Effect.fnUntraced(function*(body) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers, method, url } = request
    const response = yield* exchange.respond({ method, url, headers: { ...headers }, body })
    return yield* deliver(exchange, request, response)
  }))
  const all = withPage(ofService)
  return HttpServer.serve(
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const refusal = toThisMachine ? foreignCaller(headers) : undefined
      return refusal === undefined ? all : Effect.succeed(HttpServerResponse.text(`${refusal}\n`, { status: 403 }))
    }).pipe(Effect.interruptible)
  )
}

/** The part of a `node:net` socket that faults use. */
interface RawSocket {
  readonly write: (bytes: Uint8Array) => unknown
  readonly end: () => unknown
  readonly resetAndDestroy: () => unknown
}

const isRawSocket = (value: unknown): value is RawSocket =>
  Predicate.hasProperty(value, "write") && Predicate.isFunction(value.write) &&
  Predicate.hasProperty(value, "end") && Predicate.isFunction(value.end) &&
  Predicate.hasProperty(value, "resetAndDestroy") && Predicate.isFunction(value.resetAndDestroy)

/** The socket of a request. A server without one cannot inject faults of the connection. */
const socketOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<RawSocket> => {
  const { source } = request
  const socket = Predicate.hasProperty(source, "socket") ? source.socket : undefined
  return isRawSocket(socket)
    ? Effect.succeed(socket)
    : Effect.die(new Error("FakeService: this HttpServer has no socket to reset or to cut"))
}

/** Raw HTTP/1.1: headers that announce more than the whole body, and the first bytes of it. */
const cutBytes = ({ body, headers, status }: FakeResponse, bytes: number): Uint8Array => {
  const content = bytesOf(body)
  const lines = Object.entries({ ...headers, "content-length": String(content.length + cutSurplus) })
  const head = `HTTP/1.1 ${status} Cut\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
  return joinBytes([bytesOf(head), content.subarray(0, bytes)])
}

/** Writes to the socket directly. The end of the connection interrupts the handler, so it never has to return. */
const raw = (request: HttpServerRequest.HttpServerRequest, write: (socket: RawSocket) => void) =>
  Effect.flatMap(socketOf(request), (socket) => {
    write(socket)
    return Effect.never
  })

const deliver = (
  exchange: Exchange,
  request: HttpServerRequest.HttpServerRequest,
  response: FakeResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { delivery } = response
  switch (delivery._tag) {
    case "Reset":
      return raw(request, (socket) => socket.resetAndDestroy())
    case "Cut":
      return raw(request, (socket) => {
        socket.write(cutBytes(response, delivery.bytes))
        socket.end()
      })
    case "Silence":
      return exchange.track(Effect.never)
    default:
      return Effect.succeed(toServerResponse(exchange, response))
  }
}
