/** Serves the page of a fleet, its events, `/status.json`, `/metrics` and `/healthz`. They read, and change nothing. */
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { foreignName, foreignPage, foreignSite, isLoopbackAddress, pageHeaders } from "../../../internal/page/guard.ts"
import { stylesheet } from "../../../internal/page/html.ts"
import { numberOf, orUndefined, textOrUndefined } from "../../../internal/sql/dialect.ts"
import type { Gauges } from "../../store/keeping.ts"
import { statusOf } from "../../store/rows.ts"
import { elapsed } from "../loop.ts"
import * as metrics from "../metrics.ts"
import type { Served } from "../run.ts"
import { companiesHtml, fleetPage, script, style, summaryHtml } from "./html.ts"
import { mostLive, type PageQuery, readQuery, statusJson, type View, type Watched } from "./view.ts"

/** How often the database is read while somebody looks, in milliseconds. */
const period = 5000

/** How long a reading may take, in milliseconds. */
const patience = 5000

/** Reads the whole fleet. The lease is held if its heartbeat is fresh. */
const readView = ({ store, takeover }: Served): Effect.Effect<View, SqlError> =>
  store.withNow((now) =>
    Effect.gen(function*() {
      const { dialect, operator, query, statusColumns } = store
      const rows = yield* query`
        SELECT
          ${statusColumns(now)},
          runner,
          CASE WHEN heartbeat_at >= ${now} - ${dialect.bigint(takeover)} THEN 1 ELSE 0 END AS held
        FROM fleet_company
        ORDER BY company_id`
      const minutes = yield* query`
        SELECT minute, runner, runs, pages, rows, failures
        FROM fleet_minute
        WHERE minute > ${now} / 60000 - 60`
      const [clock] = yield* query`SELECT ${now} AS now`
      const companies: Array<Watched> = []
      for (const [at, row] of rows.entries()) {
        // Heartbeats and claims continue meanwhile.
        if (at % 500 === 499) yield* Effect.yieldNow
        companies.push(
          Object.assign(statusOf(row), { runner: textOrUndefined(row.runner), isInWork: numberOf(row.held) === 1 })
        )
      }
      return {
        at: DateTime.makeUnsafe(numberOf(clock?.now)),
        companies,
        minutes: minutes.map((row) => ({
          minute: Math.floor(numberOf(row.minute)),
          runner: textOrUndefined(row.runner) ?? "",
          runs: orUndefined(row.runs) ?? 0,
          pages: orUndefined(row.pages) ?? 0,
          rows: orUndefined(row.rows) ?? 0,
          failures: orUndefined(row.failures) ?? 0
        })),
        pauses: yield* operator.pauses
      }
    })
  )

const tooSlow = { _tag: "TooSlow" } as const

/** One reading serves all who ask within `every` milliseconds. A client that leaves does not end it. */
const shared = <A, E>(read: Effect.Effect<A, E>, every: number) =>
  Effect.map(Effect.scope, (scope) => {
    let last: { readonly at: number; readonly answer: Deferred.Deferred<A, E | typeof tooSlow> } | undefined
    const timed = Effect.timeoutOrElse(read, { duration: patience, orElse: () => Effect.fail(tooSlow) })
    return Effect.gen(function*() {
      const now = yield* elapsed
      if (last !== undefined && (now - last.at < every || !Deferred.isDoneUnsafe(last.answer)))
        return yield* Deferred.await(last.answer)
      const answer = Deferred.makeUnsafe<A, E | typeof tooSlow>()
      last = { at: now, answer }
      yield* Effect.forkIn(Deferred.into(timed, answer), scope)
      return yield* Deferred.await(answer)
    })
  })

/** As fast as a person reads, and no faster: a scrape and a probe of health are cheap. */
const shortPeriod = 1000

/** What is new of the view, each five seconds; a comment shows that the connection is alive. */
const eventsOf = <E>(view: Effect.Effect<View, E>) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const query = readQuery(url)
    let lastEvents: ReadonlyArray<string> = []
    const once = Effect.map(Effect.exit(view), (read) => {
      if (Exit.isFailure(read)) {
        lastEvents = []
        return "event: away\ndata: 0\n\n"
      }
      const now = [
        eventOf("summary", summaryHtml(read.value)),
        ...(query.limit > mostLive ? [] : [eventOf("companies", companiesHtml(read.value, query))])
      ]
      const fresh = now.filter((event) => !lastEvents.includes(event))
      lastEvents = now
      return fresh.length === 0 ? ":\n\n" : fresh.join("")
    })
    const stream = Stream.concat(
      Stream.fromEffect(once),
      Stream.forever(Stream.fromEffect(Effect.andThen(Effect.sleep(period), once)))
    )
    return HttpServerResponse.stream(Stream.encodeText(stream), { contentType: "text/event-stream" })
  })

/** The routes. A request of a page elsewhere gets status 403. */
export const routes = Effect.fnUntraced(function*(served: Served) {
  const { lastBeat, name, store, takeover } = served
  const view = yield* shared(readView(served), period)
  const gauges = yield* shared(store.gauges, period)
  const alive = yield* shared(store.query`SELECT 1`, shortPeriod)
  let known: { readonly gauges: Gauges; readonly at: number } | undefined

  const unavailable = text(503, "the database does not answer")

  /** Answers from the shared reading, or with 503 if it failed. */
  const viewed = (respond: (view: View, query: PageQuery) => HttpServerResponse.HttpServerResponse) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
      Effect.match(view, {
        onFailure: () => unavailable,
        onSuccess: (view) => respond(view, readQuery(url))
      }))

  /** With the database away nothing becomes less late. */
  const measured = Effect.gen(function*() {
    const now = yield* elapsed
    const read = yield* Effect.exit(gauges)
    if (Exit.isSuccess(read)) known = { gauges: read.value, at: now }
    if (known === undefined) return
    const waited = Exit.isSuccess(read) ? 0 : now - known.at
    yield* metrics.watched({ ...known.gauges, late: known.gauges.late + waited })
  })

  const health = Effect.gen(function*() {
    const answered = yield* Effect.exit(Effect.timeout(alive, "2 seconds"))
    if (Exit.isFailure(answered)) return unavailable
    const beat = lastBeat()
    const isFresh = beat !== undefined && (yield* elapsed) - beat <= takeover
    return isFresh ? text(200, "ok") : text(503, "this runner does not hold its leases")
  })

  const router = yield* HttpRouter.make
  yield* router.add(
    "GET",
    "/",
    viewed((view, query) =>
      HttpServerResponse.text(fleetPage(view, query, name), { contentType: "text/html; charset=utf-8" })
    )
  )
  yield* router.add("GET", "/events", eventsOf(view))
  yield* router.add("GET", "/page.css", HttpServerResponse.text(stylesheet + style, { contentType: "text/css" }))
  yield* router.add("GET", "/page.js", HttpServerResponse.text(script, { contentType: "text/javascript" }))
  yield* router.add(
    "GET",
    "/status.json",
    viewed((view, query) => HttpServerResponse.jsonUnsafe(statusJson(view, query, name)))
  )
  const measurements = Effect.map(
    Effect.andThen(measured, PrometheusMetrics.format()),
    (body) => HttpServerResponse.text(body, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
  )
  yield* router.add("GET", "/metrics", measurements)
  yield* router.add("GET", "/healthz", health)
  const app = router.asHttpEffect()

  /** `isLocal`: whether only this machine reaches the server. `host`: what another one listens on, as the setting has it. */
  return (isLocal: boolean, host?: string) =>
    Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const refusal = isLocal ? foreignPage(headers) : foreignName(headers, host) ?? foreignSite(headers)
      if (refusal !== undefined) return text(403, refusal)
      // No handler fails: what is left is a path that is not there.
      const response = yield* Effect.catch(app, () => Effect.succeed(text(404, "there is no such page")))
      return HttpServerResponse.setHeaders(response, { ...pageHeaders, ...response.headers })
    })
})

const text = (status: number, line: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(`${line}\n`, { status, headers: { "x-content-type-options": "nosniff" } })

const eventOf = (name: string, data: string): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** Serves until the scope closes. Gives the address, and whether other machines reach it. */
export const servePage = Effect.fnUntraced(function*(served: Served, host?: string) {
  const handle = yield* routes(served)
  const { address } = yield* HttpServer.HttpServer
  const isLocal = isLoopbackAddress(address)
  yield* HttpServer.serveEffect(handle(isLocal, host))
  const url = yield* HttpServer.addressFormattedWith((url) => Effect.succeed(url))
  return { url, isLocal }
})
