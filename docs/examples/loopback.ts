/** The fake service on a free local port, and the `Endpoints` that point a client to it. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { Endpoints } from "effect-time-punches"
import { FakeService, type FakeServiceOptions } from "effect-time-punches/testing"
import { HttpServer } from "effect/http"
import { createServer } from "node:http"

export const loopback = (options: FakeServiceOptions) => {
  const server = FakeService.layerServer.pipe(
    Layer.provideMerge(NodeHttpServer.layerServer(createServer, { port: 0, host: "127.0.0.1" }))
  )
  const endpoints = Layer.unwrap(
    HttpServer.addressFormattedWith((baseUrl) => Effect.succeed(Endpoints.layer({ baseUrl })))
  )
  return endpoints.pipe(
    Layer.provide(server),
    Layer.provideMerge(FakeService.layer(options))
  )
}
