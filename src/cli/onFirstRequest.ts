/** Builds an HTTP client at its first request: a transport takes a fifth of the start, and help needs none. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"

/** The client of a layer, which is built at the first request and closed with this layer. */
export const onFirstRequest = (transport: Layer.Layer<HttpClient.HttpClient>): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const scope = yield* Effect.scope
      const client = yield* Effect.cached(
        Effect.map(Layer.buildWithScope(transport, scope), (context) => Context.get(context, HttpClient.HttpClient))
      )
      return HttpClient.makeWith<HttpClientError, never, HttpClientError, never>(
        (request) => Effect.flatMap(client, ({ postprocess }) => postprocess(request)),
        (request) => Effect.flatMap(client, ({ preprocess }) => preprocess(request))
      )
    })
  )
