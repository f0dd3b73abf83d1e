/** The page of `time-punches fleet run --http`. Loaded only with --http. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import { servePage } from "../../fleet/node/page/serve.ts"
import type { Served } from "../../fleet/node/run.ts"
import { cannotListen } from "../failure.ts"

/** Serves the page of this process. Open streams of events would keep the server from ending. */
export const showPage = Effect.fnUntraced(function*(served: Served, port: number, host = "127.0.0.1") {
  const server = Http.createServer()
  const listening = yield* Layer.build(NodeHttpServer.layerServer(() => server, { port, host })).pipe(
    Effect.catchTag(
      "ServeError",
      ({ cause }) => Effect.fail(cannotListen(`${host}, port ${port}`, cause, "--http 0 takes a free port."))
    )
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  const { isLocal, url } = yield* Effect.provideContext(servePage(served, host), listening)
  yield* Effect.logInfo(`the page of the fleet is at ${url}/`)
  if (isLocal) return
  yield* Effect.logWarning(
    "the page of the fleet can be read by every machine that reaches this address, without a password"
  )
})
