/** The `./testing/node` subpath: the fake service on a port of this machine. It imports Node, so the index does not export it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import { loadPlatformNode } from "../internal/peer/platformNode.ts"
import { FakeService } from "./FakeService.ts"
import { serve } from "./transports/overHttp.ts"

/** Address of a fake server. */
export interface FakeServerOptions {
  /** TCP port. Default: 0, a free one. */
  readonly port?: number | undefined
  /** Address to listen on. Default: `127.0.0.1`, which no other machine can reach. */
  readonly host?: string | undefined
  /**
   * Whether a page at `/` shows the requests, injects faults, lists the punches and corrects them. It answers only to this
   * machine, and to no page of another origin. `PATCH /sandbox/time_punches/ID` then edits a punch. Default: false; both
   * paths are then unknown, as in a real service.
   */
  readonly page?: boolean | undefined
}

/**
 * A fake service behind a real HTTP server, for tests over sockets. On a loopback address it answers only to requests
 * whose `host` is `localhost`, in `127.0.0.0/8` or `[::1]`, and to none with an `origin` elsewhere: others get status 403.
 */
export class FakeServer extends Context.Service<FakeServer, {
  /** Origin, such as `http://127.0.0.1:49152`: the base URL and the auth URL; append `basePath` if you set one. */
  readonly url: string
}>()("effect-time-punches/testing/FakeServer") {
  /** Listens until the scope of the layer closes, and then closes all open connections at once. */
  static readonly layer = (options: FakeServerOptions = {}): Layer.Layer<FakeServer, ServeError, FakeService> =>
    Layer.unwrap(Effect.map(loadServer, (NodeHttpServer) => {
      const server = Http.createServer()
      // The service dates its responses itself, or leaves the header out.
      server.on("request", (_request, response) => {
        response.sendDate = false
      })
      // Runs before the server stops, which would otherwise wait for stalled responses and idle clients.
      const closeConnections = Layer.effectDiscard(
        Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      )
      return Layer.effect(FakeServer, address).pipe(
        Layer.provideMerge(closeConnections),
        Layer.provideMerge(options.page === true ? withPage : FakeService.layerServer),
        Layer.provide(NodeHttpServer.layerServer(() => server, {
          port: options.port ?? 0,
          host: options.host ?? "127.0.0.1"
        }))
      )
    }))
}

const loadServer = loadPlatformNode("testing/node", () => import("@effect/platform-node/NodeHttpServer"))

/** The page brings the description of the interface: it is loaded here, and only on request. */
const withPage = Layer.unwrap(
  FakeService.use((service) =>
    Effect.promise(() => import("./page/routes.ts")).pipe(
      Effect.flatMap(({ makePage }) => makePage(service)),
      Effect.map(({ exchange, withPage }) => serve(exchange, withPage))
    )
  )
)

const address = HttpServer.addressFormattedWith((url) => Effect.succeed(FakeServer.of({ url })))
