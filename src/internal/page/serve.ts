/** What the servers of pages share: the kinds of their answers, the events of a stream, and who may read them. */
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
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
