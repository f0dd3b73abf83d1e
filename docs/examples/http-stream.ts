/** Streams punches to a caller as NDJSON: the first page decides the status, and the others follow as they arrive. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { CompanyId, getAdvice, type ListError, TimePunches } from "effect-time-punches"
import { Ndjson } from "effect-time-punches/export"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { app } from "./app.ts"
import { toPublic } from "./http-api.ts"

const Params = Schema.Struct({ company: Schema.NumberFromString.pipe(Schema.decodeTo(CompanyId)) })

const log = (error: ListError) => Effect.logError(`${error.message}. ${getAdvice(error)}`)

const statuses = { BadUpstream: 502, NotGranted: 403, TryLater: 503 }

/** Problem details of RFC 9457, with nothing of the text of the failure. */
const toProblem = (error: ListError) => {
  const shown = toPublic(error)
  const status = statuses[shown._tag]
  return HttpServerResponse.jsonUnsafe({ title: shown._tag, status }, {
    status,
    contentType: "application/problem+json",
    headers: shown._tag === "TryLater" ? { "retry-after": `${shown.seconds}` } : {}
  })
}

/** A failure of the first page has its status. A later one cuts the body, so that no caller takes some rows for all rows. */
export const streamPunches = Effect.fn("streamPunches")(
  function*(company: CompanyId) {
    const client = yield* TimePunches
    const first = yield* client.page(company)
    const rest = Option.match(first.cursor.next, {
      onNone: () => Stream.empty,
      onSome: (cursor) => client.list(company, {}, { cursor })
    })
    const punches = Stream.concat(Stream.fromIterable(first.items), Stream.tapError(rest, log))
    return HttpServerResponse.stream(Stream.encodeText(Ndjson.encode(punches)), { contentType: "application/x-ndjson" })
  },
  Effect.tapError(log),
  Effect.catch((error) => Effect.succeed(toProblem(error)))
)

/** `GET /companies/4021/punches`. */
const routes = HttpRouter.add(
  "GET",
  "/companies/:company/punches",
  HttpRouter.schemaPathParams(Params).pipe(
    Effect.flatMap(({ company }) => streamPunches(company)),
    Effect.catchTag("SchemaError", () => Effect.succeed(HttpServerResponse.empty({ status: 400 })))
  )
)

/** The server over a client. Interrupting it ends the requests that are in flight. */
export const makeServer = <E>(app: Layer.Layer<TimePunches, E>, port: number) =>
  HttpRouter.serve(routes.pipe(HttpRouter.provideRequest(app))).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port }))
  )

if (import.meta.main) NodeRuntime.runMain(Layer.launch(makeServer(app, 3000)))
