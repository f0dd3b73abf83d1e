/** What a transport needs of the service, and a plain response as the `HttpServerResponse` that each transport sends on. */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { bytesOf, type FakeRequest, type FakeResponse } from "../base/message.ts"

/** What a transport needs of the fake service. */
export interface Exchange {
  /** Handles a request and counts it as in flight until the response is there. */
  readonly respond: (request: FakeRequest) => Effect.Effect<FakeResponse>
  /** Counts a request as in flight while an effect runs. */
  readonly track: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** A response whose headers arrive. The transport handles `Reset` and `Silence`. */
export const toServerResponse = (
  exchange: Exchange,
  response: FakeResponse
): HttpServerResponse.HttpServerResponse => {
  switch (response.delivery._tag) {
    case "Padded":
      return padded(response, response.delivery.bytes)
    case "Stall":
      return partial(response, response.delivery.bytes, 0, Stream.fromEffect(exchange.track(Effect.never)))
    case "Cut":
      return partial(response, response.delivery.bytes, cutSurplus, Stream.suspend(() => Stream.fail(closed())))
    default:
      return withoutDefaultType(response, whole(response))
  }
}

/** Size in bytes of the chunks of a larger body, so that a client that counts bytes can stop early. */
const chunkSize = 65_536

const chunksOf = function*(bytes: Uint8Array) {
  for (let from = 0; from < bytes.length; from += chunkSize) yield bytes.subarray(from, from + chunkSize)
}

/** The bytes and then spaces up to `total`. All chunks of spaces share one buffer: a huge body needs no memory. */
const paddedChunks = function*(bytes: Uint8Array, total: number) {
  yield* chunksOf(bytes)
  const spaces = new Uint8Array(chunkSize).fill(0x20)
  for (let left = total - bytes.length; left > 0; left -= chunkSize) yield spaces.subarray(0, Math.min(left, chunkSize))
}

// One at a time: by default the stream would collect thousands of chunks before it sends the first.
const streamOf = (chunks: Iterable<Uint8Array>) => Stream.fromIterable(chunks, { chunkSize: 1 })

/** Removes the content type that the platform adds if the response names none. */
const withoutDefaultType = (response: FakeResponse, built: HttpServerResponse.HttpServerResponse) =>
  (response.headers["content-type"] ?? "") === "" ? HttpServerResponse.removeHeader(built, "content-type") : built

const whole = (response: FakeResponse) => {
  const { body, headers, status } = response
  if (body.length === 0) return HttpServerResponse.empty({ status, headers })
  if (body.length > chunkSize) {
    const bytes = bytesOf(body)
    return streamed(response, bytes.length, Stream.suspend(() => streamOf(chunksOf(bytes))))
  }
  return typeof body === "string"
    ? HttpServerResponse.text(body, { status, headers })
    : HttpServerResponse.uint8Array(body, { status, headers })
}

const padded = (response: FakeResponse, total: number) => {
  const bytes = bytesOf(response.body)
  const contentLength = total === Infinity ? undefined : Math.max(total, bytes.length)
  return streamed(response, contentLength, Stream.suspend(() => streamOf(paddedChunks(bytes, total))))
}

/** Bytes that the headers of a cut body announce beyond the whole, so that even a complete body is too short. */
export const cutSurplus = 16

/** The first bytes of a body whose headers announce all of it and `surplus` more, then `rest`. */
const partial = (response: FakeResponse, bytes: number, surplus: number, rest: Stream.Stream<never, Error>) => {
  const body = bytesOf(response.body)
  return streamed(response, body.length + surplus, Stream.concat(Stream.make(body.subarray(0, bytes)), rest))
}

const streamed = (
  { headers, status }: FakeResponse,
  contentLength: number | undefined,
  stream: Stream.Stream<Uint8Array, Error>
) => HttpServerResponse.stream(stream, { status, headers, contentLength, contentType: headers["content-type"] })

/** The error that undici and fetch report for a truncated body. */
const closed = () => Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })
