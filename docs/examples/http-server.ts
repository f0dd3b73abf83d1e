/** A Node server of the HTTP API. The client is built once, before the server listens, and closed after it. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Layer } from "effect"
import type { TimePunches } from "effect-time-punches"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { createServer } from "node:http"
import { app } from "./app.ts"
import { Api, handlers } from "./http-api.ts"

/** The server over a client. Interrupting it ends the requests that are in flight. */
export const makeServer = <E>(app: Layer.Layer<TimePunches, E>, port: number) =>
  HttpRouter.serve(
    HttpApiBuilder.layer(Api).pipe(Layer.provide(handlers), HttpRouter.provideRequest(app))
  ).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port })))

if (import.meta.main) NodeRuntime.runMain(Layer.launch(makeServer(app, 3000)))
