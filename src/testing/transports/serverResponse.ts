/** A plain response as an `HttpServerResponse`, which both transports can turn into theirs. */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { FakeResponse } from "../base/message.ts"
import type { FakeService } from "../FakeService.ts"

/** Larger bodies go out in pieces of this size, so that a client that counts bytes can stop in time. */
const piece = 65_536

const encode = (body: string | Uint8Array) => typeof body === "string" ? new TextEncoder().encode(body) : body

const piecesOf = function*(bytes: Uint8Array) {
  for (let from = 0; from < bytes.length; from += piece) yield bytes.subarray(from, from + piece)
}

/** The bytes and then spaces up to `total`. One piece of spaces serves for all, so that even a huge body takes no room. */
const paddedPieces = function*(bytes: Uint8Array, total: number) {
  yield* piecesOf(bytes)
  const spaces = new Uint8Array(piece).fill(0x20)
  for (let left = total - bytes.length; left > 0; left -= piece) yield spaces.subarray(0, Math.min(left, piece))
}

// One piece at a time: the default would gather thousands of them before the first is sent.
const streamOf = (pieces: Iterable<Uint8Array>) => Stream.fromIterable(pieces, { chunkSize: 1 })

/** Gives the response the content type that it names and no other. */
const typed = (response: FakeResponse, built: HttpServerResponse.HttpServerResponse) =>
  (response.headers["content-type"] ?? "") === "" ? HttpServerResponse.removeHeader(built, "content-type") : built

const whole = (response: FakeResponse) => {
  const { body, headers, status } = response
  if (body.length === 0) return HttpServerResponse.empty({ status, headers })
  if (body.length > piece) {
    const bytes = encode(body)
    const contentLength = bytes.length
    const contentType = headers["content-type"]
    return HttpServerResponse.stream(Stream.suspend(() => streamOf(piecesOf(bytes))), {
      status,
      headers,
      contentLength,
      contentType
    })
  }
  return typeof body === "string"
    ? HttpServerResponse.text(body, { status, headers })
    : HttpServerResponse.uint8Array(body, { status, headers })
}

const padded = ({ body, headers, status }: FakeResponse, total: number) => {
  const bytes = encode(body)
  return HttpServerResponse.stream(Stream.suspend(() => streamOf(paddedPieces(bytes, total))), {
    status,
    headers,
    contentLength: total === Infinity ? undefined : Math.max(total, bytes.length),
    contentType: headers["content-type"]
  })
}

/** Bytes that a cut body announces beyond the whole, so that even a body that is all there is too short. */
export const cutSurplus = 16

/** The first bytes of a body that is announced whole, then `rest`. */
const partial = (response: FakeResponse, bytes: number, surplus: number, rest: Stream.Stream<never, Error>) => {
  const body = encode(response.body)
  return HttpServerResponse.stream(Stream.concat(Stream.make(body.subarray(0, bytes)), rest), {
    status: response.status,
    headers: response.headers,
    contentLength: body.length + surplus,
    contentType: response.headers["content-type"]
  })
}

/** The error that undici and fetch know a broken-off body by. */
const closed = () => Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })

/** A response whose headers arrive. What never gets so far (a reset, silence) is for the transport. */
export const toServerResponse = (
  service: FakeService["Service"],
  response: FakeResponse
): HttpServerResponse.HttpServerResponse => {
  switch (response.delivery._tag) {
    case "Padded":
      return padded(response, response.delivery.bytes)
    case "Stall":
      return partial(response, response.delivery.bytes, 0, Stream.fromEffect(service.track(Effect.never)))
    case "Cut":
      return partial(response, response.delivery.bytes, cutSurplus, Stream.suspend(() => Stream.fail(closed())))
    default:
      return typed(response, whole(response))
  }
}
