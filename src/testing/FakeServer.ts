/** The fake service on a port of this machine. Node only, and therefore not part of the testing index. */
import { NodeHttpServer } from "@effect/platform-node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import { FakeService } from "./FakeService.ts"

/**
 * Where a fake service listens.
 *
 * @since 0.1.0
 */
export interface FakeServerOptions {
  /** Default: a free one. */
  readonly port?: number | undefined
  /** Default: the loopback address, so nobody else can reach it. */
  readonly host?: string | undefined
}

/**
 * A fake service that listens. `url` is its origin, good as base URL and as auth URL alike unless the service has a
 * `basePath`, which then follows it.
 *
 * @since 0.1.0
 */
export class FakeServer extends Context.Service<FakeServer, {
  readonly url: string
}>()("effect-time-punches/testing/FakeServer") {
  /** Listens while the layer lives; connections still open at its end are closed, not waited for. */
  static readonly layer = (options: FakeServerOptions = {}): Layer.Layer<FakeServer, ServeError, FakeService> =>
    Layer.unwrap(Effect.sync(() => {
      const server = Http.createServer()
      // Closed before the server is asked to stop, which would else wait for stalled answers and idle clients.
      const closing = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
      return Layer.effect(FakeServer, address).pipe(
        Layer.provideMerge(closing),
        Layer.provideMerge(FakeService.layerServer),
        Layer.provide(NodeHttpServer.layerServer(() => server, {
          port: options.port ?? 0,
          host: options.host ?? "127.0.0.1"
        }))
      )
    }))
}

const address = HttpServer.addressFormattedWith((url) => Effect.succeed(FakeServer.of({ url })))
