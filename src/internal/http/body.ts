/** From a response to its bytes, its text, its JSON: bounded while it is read, and strict about what it is. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/** The body went past its cap; what was read of it is let go. */
export const tooLarge = "TooLarge" as const

/** Why a whole body is not JSON. */
export type NotJson = "Empty" | "Charset" | "NotJson"

/** A response or its headers alone, which some transports put together anew each time that they are asked for. */
type Headed = Pick<HttpClientResponse.HttpClientResponse, "headers">

/** Whether the bytes may not be what they look like: some transports decode such a body, others hand it over as it is. */
export const isEncoded = ({ headers }: Headed): boolean => {
  const encoding = headers["content-encoding"]
  return encoding !== undefined && encoding !== "" && encoding.toLowerCase() !== "identity"
}

/**
 * Reads at most `cap` bytes. Where the framing says how many will come nothing has to be counted; otherwise they are
 * counted as they come, after decompression.
 */
export const readBytes = (
  response: HttpClientResponse.HttpClientResponse,
  cap: number,
  headers = response.headers
): Effect.Effect<Uint8Array, HttpClientError.HttpClientError | typeof tooLarge> => {
  const declared = Number(headers["content-length"] ?? NaN)
  if (declared > cap) return Effect.fail(tooLarge)
  if (declared >= 0 && !isEncoded({ headers }) && headers["transfer-encoding"] === undefined) {
    return Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))
  }
  return Effect.suspend(() => {
    const parts: Array<Uint8Array> = []
    let size = 0
    return Stream.runForEachArray(response.stream, (chunk) => {
      for (const part of chunk) {
        size += part.length
        parts.push(part)
      }
      return size > cap ? Effect.fail(tooLarge) : Effect.void
    }).pipe(Effect.map(() => concat(parts, size)))
  })
}

const concat = (parts: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Parses a body; a byte that is not UTF-8 is refused, since it would turn silently into another character. */
export const parseJson = (bytes: Uint8Array): Result.Result<unknown, NotJson> => {
  if (bytes.length === 0) return Result.fail("Empty")
  const text = Result.try({ try: () => utf8.decode(bytes), catch: (): NotJson => "Charset" })
  return Result.flatMap(
    text,
    (json) => Result.try({ try: (): unknown => JSON.parse(json), catch: (): NotJson => "NotJson" })
  )
}

/** The media type of a body and its charset, both lower case; empty where not said. */
export const contentType = ({ headers }: Headed) => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";")
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="))
  return { type: type.trim(), charset: charset?.slice("charset=".length).replaceAll("\"", "") ?? "" }
}

export const isJson = (type: string): boolean => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(type)
