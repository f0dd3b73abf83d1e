/** The library with its defaults (retry, deadlines, caps, validation), as it is published, over the transports of the core. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { CompanyId, Credentials, Endpoints, type ListOptions, TimePunches } from "../../dist/index.js"
import type { Client } from "../sample.ts"
import { companyId } from "./raw.ts"

export type Transport = Layer.Layer<HttpClient.HttpClient, unknown>

export const app = (url: string, transport: Transport) =>
  TimePunches.layer.pipe(
    Layer.provide(Credentials.layerAccessToken(Redacted.make("token"))),
    Layer.provide(Endpoints.layer({ baseUrl: url })),
    Layer.provide(transport)
  )

export const listing = (transport: Transport, options?: ListOptions): Client => (url) => {
  const runtime = ManagedRuntime.make(app(url, transport))
  return async () => {
    let seen = 0
    await runtime.runPromise(
      TimePunches.list(CompanyId.make(companyId), {}, options).pipe(
        Stream.runForEachArray((punches) =>
          Effect.sync(() => {
            for (const punch of punches) if (punch.id >= 0) seen++
          })
        )
      )
    )
    return seen
  }
}

export const undiciTransport = NodeHttpClient.layerUndiciOptions({ connections: 16, connect: { timeout: 5000 } })

export const undici = listing(undiciTransport)

export const fetch = listing(FetchHttpClient.layer)
