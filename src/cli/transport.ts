/** The client that a command sends requests with: the lean transport, or `fetch` on Bun. Loaded when a command runs. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"

/** Bun has its own undici, which this transport cannot use: there requests go through fetch. */
const layerHttp = Layer.unwrap(Effect.promise(async () => {
  if (process.versions["bun"] !== undefined) return (await import("effect/http/FetchHttpClient")).layer
  const [{ layer }, { collectSteadily }] = await Promise.all([
    import("../node/NodeTransport.ts"),
    import("./garbage.ts")
  ])
  collectSteadily()
  return Layer.orDie(layer())
}))

/** The client of a layer, which is built at the first request and closed with this layer: help needs no transport. */
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

/** The client of a process. */
export const layer = onFirstRequest(layerHttp)
