/** Serves the page of a fleet, its events, `/status.json`, `/metrics` and `/healthz`. They read, and change nothing. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Stream from "effect/Stream"
import { foreignName, foreignPage, foreignSite, isLoopbackAddress } from "../../../internal/page/guard.ts"
import {
  eventsResponse,
  eventText,
  guarded,
  htmlResponse,
  lineResponse,
  scriptResponse,
  styleResponse
} from "../../../internal/page/serve.ts"
import type { Gauges } from "../../store/keeping.ts"
import { elapsed } from "../loop.ts"
import * as metrics from "../metrics.ts"
import type { Served } from "../run.ts"
import { companiesHtml, fleetPage, script, style, summaryHtml } from "./html.ts"
import { readView, shared } from "./read.ts"
import { mostLive, type PageQuery, readQuery, statusJson, type View } from "./view.ts"

/** How often the database is read while somebody looks, in milliseconds. */
const period = 5000

/** As fast as a person reads, and no faster: a scrape and a probe of health are cheap. */
const shortPeriod = 1000

/** The query of a request. */
const requestedQuery = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => readQuery(url))

/** What is new of the view, each five seconds; a comment shows that the connection is alive. */
const eventsOf = <E>(view: Effect.Effect<View, E>) =>
  Effect.map(requestedQuery, (query) => {
    let lastEvents: ReadonlyArray<string> = []
    const once = Effect.map(Effect.exit(view), (read) => {
      if (Exit.isFailure(read)) {
        lastEvents = []
        return eventText("away", 0)
      }
      const now = [
        eventText("summary", summaryHtml(read.value)),
        ...(query.limit > mostLive ? [] : [eventText("companies", companiesHtml(read.value, query))])
      ]
      const fresh = now.filter((event) => !lastEvents.includes(event))
      lastEvents = now
      return fresh.length === 0 ? ":\n\n" : fresh.join("")
    })
    const later = Stream.fromEffect(Effect.andThen(Effect.sleep(period), once))
    return eventsResponse(Stream.concat(Stream.fromEffect(once), Stream.forever(later)))
  })

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

/** `alive` succeeds if the database answers. */
const healthOf = <A, E>({ takeover, workedAt }: Served, alive: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const answered = yield* Effect.exit(Effect.timeout(alive, "2 seconds"))
    if (Exit.isFailure(answered)) return unavailable
    const isFresh = (yield* elapsed) - workedAt() <= takeover
    return isFresh
      ? lineResponse(200, "ok")
      : lineResponse(503, "this runner does not hold its leases, or claims nothing")
  })

/** The routes. A request of a page elsewhere gets status 403. */
export const routes = Effect.fnUntraced(function*(served: Served) {
  const { name, store } = served
  const view = yield* shared(readView(served), period)
  const gauges = yield* shared(store.gauges, period)
  const alive = yield* shared(store.query`SELECT 1`, shortPeriod)

  const router = yield* HttpRouter.make
  yield* router.add("GET", "/", viewed(view, (view, query) => htmlResponse(fleetPage(view, query, name))))
  yield* router.add("GET", "/events", eventsOf(view))
  yield* router.add("GET", "/page.css", styleResponse(style))
  yield* router.add("GET", "/page.js", scriptResponse(script))
  yield* router.add(
    "GET",
    "/status.json",
    viewed(view, (view, query) => HttpServerResponse.jsonUnsafe(statusJson(view, query, name)))
  )
  yield* router.add("GET", "/metrics", metricsOf(gauges))
  yield* router.add("GET", "/healthz", healthOf(served, alive))
  // No handler fails: what is left is a path that is not there.
  const app = Effect.catch(router.asHttpEffect(), () => Effect.succeed(lineResponse(404, "there is no such page")))

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
