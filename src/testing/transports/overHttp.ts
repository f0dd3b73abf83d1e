/** The fake service behind a real `HttpServer`, down to the reset and the cut of its sockets. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type { FakeResponse } from "../base/message.ts"
import type { FakeService } from "../FakeService.ts"
import { cutSurplus, toServerResponse } from "./serverResponse.ts"

/** What a fault needs of a socket of `node:net`. */
interface RawSocket {
  readonly write: (bytes: Uint8Array) => unknown
  readonly end: () => unknown
  readonly resetAndDestroy: () => unknown
}

const isRawSocket = (value: unknown): value is RawSocket =>
  Predicate.hasProperty(value, "write") && Predicate.isFunction(value.write) &&
  Predicate.hasProperty(value, "end") && Predicate.isFunction(value.end) &&
  Predicate.hasProperty(value, "resetAndDestroy") && Predicate.isFunction(value.resetAndDestroy)

/** The socket under a request, where the server has one to give; others cannot speak faults of the connection. */
const socketOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<RawSocket> => {
  const { source } = request
  const socket = Predicate.hasProperty(source, "socket") ? source.socket : undefined
  return isRawSocket(socket)
    ? Effect.succeed(socket)
    : Effect.die(new Error("FakeService: this HttpServer has no socket to reset or to cut"))
}

/** Headers that announce the whole body, and the part of it that is sent, as they go over the wire. */
const cutBytes = ({ body, headers, status }: FakeResponse, bytes: number): Uint8Array => {
  const encoder = new TextEncoder()
  const content = typeof body === "string" ? encoder.encode(body) : body
  const lines = Object.entries({ ...headers, "content-length": String(content.length + cutSurplus) })
  const head = encoder.encode(
    `HTTP/1.1 ${status} Cut\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
  )
  const sent = content.subarray(0, bytes)
  const all = new Uint8Array(head.length + sent.length)
  all.set(head)
  all.set(sent, head.length)
  return all
}

/** The end of the connection interrupts the handler, so waiting for ever is how a raw answer ends. */
const raw = (request: HttpServerRequest.HttpServerRequest, speak: (socket: RawSocket) => void) =>
  Effect.flatMap(socketOf(request), (socket) => {
    speak(socket)
    return Effect.never
  })

const deliver = (
  service: FakeService["Service"],
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
      return service.track(Effect.never)
    default:
      return Effect.succeed(toServerResponse(service, response))
  }
}

/** Serves until the layer is closed. A client that goes away interrupts its request. */
export const serve = (service: FakeService["Service"]): Layer.Layer<never, never, HttpServer.HttpServer> =>
  HttpServer.serve(
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const body = yield* request.text
      const { method, url } = request
      const response = yield* service.respond({ method, url, headers: { ...request.headers }, body })
      return yield* deliver(service, request, response)
    }).pipe(Effect.interruptible)
  )
