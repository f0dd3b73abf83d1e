/** Streams a copy to callers as NDJSON, while the same process keeps it: a slow caller holds up no other, and no sync. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Option, Stream } from "effect"
import { CompanyId } from "effect-time-punches"
import { Ndjson } from "effect-time-punches/export"
import { PunchCopy } from "effect-time-punches/sql"
import { Sync } from "effect-time-punches/sync"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import { app } from "./app.ts"
import { storeIn } from "./sqlite-sync.ts"

const company = CompanyId.make(4021)

/** All rows are of one state. A failure cuts the body; a caller who goes away frees the connection. */
const streamCopy = Effect.gen(function*() {
  const { checkpoint } = yield* PunchCopy.status(company)
  const isWhole = Option.exists(checkpoint, ({ completedAt }) => Option.isSome(completedAt))
  if (!isWhole) return HttpServerResponse.empty({ status: 503, headers: { "retry-after": "60" } })
  const client = yield* SqlClient.SqlClient
  const punches = PunchCopy.list(company).pipe(
    Stream.tapError((error) => Effect.logError(error.message)),
    Stream.provideService(SqlClient.SqlClient, client)
  )
  return HttpServerResponse.stream(Stream.encodeText(Ndjson.encode(punches)), { contentType: "application/x-ndjson" })
})

/** The server of `GET /punches`. Interrupting it ends the requests that are in flight. */
export const makeServer = (port: number) =>
  HttpRouter.serve(HttpRouter.add("GET", "/punches", streamCopy)).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port }))
  )

/** A sync run each minute. The next one cures the failure of one. */
const keeping = Layer.effectDiscard(
  Effect.forkScoped(
    Effect.forever(Effect.andThen(Effect.ignore(Sync.run(company), { log: "Warn" }), Effect.sleep("1 minute")))
  )
)

if (import.meta.main) {
  NodeRuntime.runMain(
    Layer.launch(Layer.merge(makeServer(3000), keeping).pipe(Layer.provide(storeIn("punches.db")), Layer.provide(app)))
  )
}
