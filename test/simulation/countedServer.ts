/** The fake service on a port of this machine, with a count of the connections that clients open. */
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as Http from "node:http"
import { FakeService } from "../../src/testing/index.ts"

/** Address of the server, and its connections. */
export class CountedServer extends Context.Service<CountedServer, {
  readonly url: string
  readonly open: Effect.Effect<number>
  /** Largest number of connections open at once. */
  readonly most: Effect.Effect<number>
}>()("test/CountedServer") {
  static readonly layer: Layer.Layer<CountedServer, never, FakeService> = Layer.unwrap(Effect.sync(() => {
    const server = Http.createServer()
    let open = 0
    let most = 0
    server.on("connection", (socket) => {
      most = Math.max(most, ++open)
      socket.once("close", () => open--)
    })
    const closing = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
    const counted = HttpServer.addressFormattedWith((url) =>
      Effect.succeed(CountedServer.of({ url, open: Effect.sync(() => open), most: Effect.sync(() => most) }))
    )
    return Layer.effect(CountedServer, counted).pipe(
      Layer.provideMerge(closing),
      Layer.provideMerge(FakeService.layerServer),
      Layer.provide(NodeHttpServer.layerServer(() => server, { port: 0, host: "127.0.0.1" })),
      Layer.orDie
    )
  }))
}
