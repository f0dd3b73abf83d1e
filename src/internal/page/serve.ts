/** What the servers of pages share: the kinds of their answers, the events of a stream, and who may read them. */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { pageHeaders } from "./guard.ts"
import { stylesheet } from "./html.ts"

/** A page. */
export const htmlResponse = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { contentType: "text/html; charset=utf-8" })

/** The stylesheet of all pages, and what one of them adds. */
export const styleResponse = (style: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(stylesheet + style, { contentType: "text/css" })

export const scriptResponse = (script: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(script, { contentType: "text/javascript" })

/** A line of text for a person. */
export const lineResponse = (status: number, line: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(`${line}\n`, { status, headers: { "x-content-type-options": "nosniff" } })

/** No request of a page or of the interface comes near it. */
const mostBody = ByteSize.kibibytes(64)

/** The answer to a request by the text of its body. A longer one gets status 413, and nothing of it is kept. */
export const answerText = <E, R>(
  answer: (text: string) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  HttpServerRequest.HttpServerRequest.use(({ text }) =>
    // The other failure is a client that left, which gets no answer.
    Effect.option(Effect.provideService(text, HttpServerRequest.MaxBodySize, mostBody))
  ).pipe(Effect.flatMap(Option.match({
    onNone: () => Effect.succeed(lineResponse(413, "A body has at most 64 KiB.")),
    onSome: answer
  })))

/** A server-sent event whose data is a value as JSON. */
export const eventText = (event: string, value: unknown, id?: number): string =>
  Sse.encoder.write({ _tag: "Event", event, id: id?.toString(), data: JSON.stringify(value) })

/** Server-sent events until the client leaves. */
export const eventsResponse = (events: Stream.Stream<string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(Stream.encodeText(events), { contentType: "text/event-stream" })

/** The answer of a page with the headers of all pages; with a `refusal` status 403, and nothing runs. */
export const guarded = <E, R>(
  refusal: string | undefined,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  refusal === undefined
    ? Effect.map(answer, (response) => HttpServerResponse.setHeaders(response, { ...pageHeaders, ...response.headers }))
    : Effect.succeed(lineResponse(403, refusal))
