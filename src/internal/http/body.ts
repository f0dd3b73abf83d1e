/** From a response to its bytes and its JSON: limited in size, and strict about encoding. */
import * as Bytes from "effect/Bytes"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/**
 * Whether the transport may release a body with its read, since nothing reads it again. The core tracks responses in a way
 * that keeps them for a while: with their bytes, they make the collector work harder than the page is worth.
 */
export class ReleaseBody extends Context.Reference<boolean>("effect-time-punches/internal/http/ReleaseBody", {
  defaultValue: () => false
}) {}

/** The body exceeds its cap; the part that was read is discarded. */
export const tooLarge = "TooLarge" as const

/** Why a whole body is not JSON. */
export type NotJson = "Empty" | "Charset" | "NotJson"

/** A response, or only its headers: some transports build those again at each access. */
type WithHeaders = Pick<HttpClientResponse.HttpClientResponse, "headers">

/** Whether the body has a content encoding. Some transports decode it, others do not. */
export const isEncoded = ({ headers }: WithHeaders): boolean => {
  const encoding = headers["content-encoding"]
  return encoding !== undefined && encoding !== "" && encoding.toLowerCase() !== "identity"
}

/**
 * Reads at most `cap` bytes. If the framing declares the length, no count is needed; otherwise the bytes are counted
 * as they arrive, after decompression.
 */
export const readBytes = (
  response: HttpClientResponse.HttpClientResponse,
  cap: number,
  headers = response.headers
): Effect.Effect<Uint8Array, HttpClientError.HttpClientError | typeof tooLarge> => {
  const declared = Number(headers["content-length"]?.trim() || NaN)
  if (declared > cap) return Effect.fail(tooLarge)
  if (declared >= 0 && !isEncoded({ headers }) && headers["transfer-encoding"] === undefined) {
    return Effect.map(
      Effect.provideService(response.arrayBuffer, ReleaseBody, true),
      (buffer) => new Uint8Array(buffer)
    )
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
    }).pipe(Effect.map(() => concat(parts)))
  })
}

/** `Bytes.concat` copies, which a body of one part does not need. */
const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only, ...more] = parts
  return only !== undefined && more.length === 0 ? only : Bytes.concat(parts)
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Parses a body. Invalid UTF-8 fails, since it would silently become another character. */
export const parseJson = (bytes: Uint8Array): Result.Result<unknown, NotJson> => {
  if (bytes.length === 0) return Result.fail("Empty")
  const text = Result.try({ try: () => utf8.decode(bytes), catch: (): NotJson => "Charset" })
  return Result.flatMap(
    text,
    (json) => Result.try({ try: (): unknown => JSON.parse(json), catch: (): NotJson => "NotJson" })
  )
}

/** The media type of a body and its charset, both in lower case; empty without one. */
export const contentType = ({ headers }: WithHeaders) => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";")
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="))
  return { type: type.trim(), charset: charset?.slice("charset=".length).replaceAll("\"", "") ?? "" }
}

/** Whether a media type is JSON: `application/json`, or one with the suffix `+json`. */
export const isJson = (type: string): boolean => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(type)

/** Whether a body is a page for a browser, by its content type: an interface of JSON does not send one. */
export const isHtml = (response: WithHeaders): boolean =>
  /^(text\/html|application\/xhtml\+xml)$/.test(contentType(response).type)
