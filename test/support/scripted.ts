/** A service that answers from a function, for what a faithful service would never say. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { client } from "./client.ts"
import { type Wire, wirePage, wirePunch } from "./wire.ts"

/** What a request asked, as far as a script cares. */
export interface Asked {
  readonly url: URL
  readonly cursor: string | null
  readonly headers: Readonly<Record<string, string>>
  /** 0 for the first request. */
  readonly index: number
}

/** A client over answers; each call counts its requests for itself. */
export const scripted = (answer: (asked: Asked) => Response) => {
  let index = 0
  return Layer.orDie(client()).pipe(Layer.provide(Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.sync(() =>
        HttpClientResponse.fromWeb(
          request,
          answer({ url, cursor: url.searchParams.get("cursor"), headers: request.headers, index: index++ })
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
export const pageOf = (ids: ReadonlyArray<number>, cursor: Wire = {}) =>
  says(wirePage(ids.map((id) => wirePunch({ id })), cursor))
