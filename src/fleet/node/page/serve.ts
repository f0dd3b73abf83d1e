/** Serves the page of a fleet, `/status.json`, `/metrics` and what asks for health. They read, and change nothing. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { foreignName, foreignPage, foreignSite, isLoopbackAddress } from "../../../internal/page/guard.ts"
import { guarded, htmlResponse, lineResponse, scriptResponse, styleResponse } from "../../../internal/page/serve.ts"
import type { Gauges } from "../../store/keeping.ts"
import { elapsed } from "../loop.ts"
import * as metrics from "../metrics.ts"
import type { Served } from "../run.ts"
import { fleetPage, script, style } from "./html.ts"
import { readView, shared } from "./read.ts"
import { type PageQuery, readQuery, statusJson, type View } from "./view.ts"

/** How often the database is read while somebody looks, in milliseconds. */
const period = 5000

/** The query of a request. */
const requestedQuery = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => readQuery(url))

const unavailable = lineResponse(503, "the database does not answer")

/** Answers from the view, or with 503 if it cannot be read. */
const viewed = <E>(
  view: Effect.Effect<View, E>,
  respond: (view: View, query: PageQuery) => HttpServerResponse.HttpServerResponse
) =>
  Effect.flatMap(
    requestedQuery,
    (query) => Effect.match(view, { onFailure: () => unavailable, onSuccess: (view) => respond(view, query) })
  )

/**
 * The metrics of the process. With the database away nothing becomes less late, and what else it knows is left out. They are read
 * for this answer alone: what another exporter of the process sends must not keep them.
 */
const metricsOf = <E>(gauges: Effect.Effect<Gauges, E>) => {
  let known: { readonly gauges: Gauges; readonly at: number } | undefined
  return Effect.gen(function*() {
    const now = yield* elapsed
    const read = yield* Effect.exit(gauges)
    if (Exit.isSuccess(read)) known = { gauges: read.value, at: now }
    const waited = known === undefined ? 0 : now - known.at
    const ofFleet = Exit.isSuccess(read)
      ? metrics.watched(read.value)
      : known === undefined
      ? Effect.void
      : metrics.watchedAges({ late: known.gauges.late + waited, age: known.gauges.age + waited })
    const body = yield* metrics.unknown.pipe(
      Effect.andThen(ofFleet),
      Effect.andThen(PrometheusMetrics.format()),
      Effect.provideService(Metric.MetricRegistry, new Map(yield* Metric.MetricRegistry))
    )
    return HttpServerResponse.text(body, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
  })
}

/** Status 200, or 503 with the reason. */
const healthOf = (isGood: Effect.Effect<boolean>, otherwise: string) =>
  Effect.map(isGood, (good) => good ? lineResponse(200, "ok") : lineResponse(503, otherwise))

/** The routes. A request of a page elsewhere gets status 403. */
export const routes = Effect.fnUntraced(function*(served: Served) {
  const { isTurning, name, store, takeover, workedAt } = served
  const view = yield* shared(readView(served), period)
  const gauges = yield* shared(store.gauges, period)
  const isWorking = Effect.map(elapsed, (now) => now - workedAt() <= takeover)
  const ready = healthOf(isWorking, "this runner does not hold its leases, or claims nothing")

  const router = yield* HttpRouter.make
  yield* router.add("GET", "/", viewed(view, (view, query) => htmlResponse(fleetPage(view, query, name))))
  yield* router.add("GET", "/page.css", styleResponse(style))
  yield* router.add("GET", "/page.js", scriptResponse(script))
  yield* router.add(
    "GET",
    "/status.json",
    viewed(view, (view, query) => HttpServerResponse.jsonUnsafe(statusJson(view, query, name)))
  )
  yield* router.add("GET", "/metrics", metricsOf(gauges))
  yield* router.add("GET", "/livez", healthOf(isTurning, "the claims of this runner stand still"))
  yield* router.add("GET", "/readyz", ready)
  yield* router.add("GET", "/healthz", ready)
  // No handler fails: what is left is a path that is not there.
  const app = Effect.orElseSucceed(router.asHttpEffect(), () => lineResponse(404, "there is no such page"))

  /** `isLocal`: whether only this machine reaches the server. `host`: what another one listens on, as the setting has it. */
  return (isLocal: boolean, host?: string) =>
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => guarded(isLocal ? foreignPage(headers) : foreignName(headers, host) ?? foreignSite(headers), app)
    )
})

/** Serves until the scope closes. Gives the address, and whether other machines reach it. */
export const servePage = Effect.fnUntraced(function*(served: Served, host?: string) {
  const handle = yield* routes(served)
  const { address } = yield* HttpServer.HttpServer
  const isLocal = isLoopbackAddress(address)
  yield* HttpServer.serveEffect(handle(isLocal, host))
  const url = yield* HttpServer.addressFormattedWith((url) => Effect.succeed(url))
  return { url, isLocal }
})
