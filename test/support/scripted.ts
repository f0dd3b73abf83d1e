/** A service as a function, for responses that the fake service never sends. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { client } from "./client.ts"
import { type Wire, wirePage, wirePunch } from "./wire.ts"

/** The parts of a request that scripts read. */
export interface ScriptedRequest {
  readonly url: URL
  readonly cursor: string | null
  readonly headers: Readonly<Record<string, string>>
  /** 0 for the first request. */
  readonly index: number
}

/** A client over a function from request to response; each call counts its requests separately. */
export const scripted = (respond: (request: ScriptedRequest) => Response) => {
  let index = 0
  return Layer.orDie(client()).pipe(Layer.provide(Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.sync(() =>
        HttpClientResponse.fromWeb(
          request,
          respond({ url, cursor: url.searchParams.get("cursor"), headers: request.headers, index: index++ })
        )
      )
    )
  )))
}

/** A 200 with this value as JSON. */
export const says = (
  value: unknown,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" }
) => new Response(new TextEncoder().encode(JSON.stringify(value)), { status: 200, headers: { ...headers } })

/** A page of punches with these ids. */
export const pageResponse = (ids: ReadonlyArray<number>, cursor: Wire = {}) =>
  says(wirePage(ids.map((id) => wirePunch({ id })), cursor))
