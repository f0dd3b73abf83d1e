/** `time-punches fleet run`: the flags of one process of the fleet. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Http from "node:http"
import { Fleet } from "../../fleet/Fleet.ts"
import * as FleetRunner from "../../fleet/node/FleetRunner.ts"
import { servePage } from "../../fleet/node/page/serve.ts"
import { launch, prepare, type Served, startEmbedded } from "../../fleet/node/run.ts"
import { defaultSettings, type FleetOptions } from "../../fleet/Settings.ts"
import { invalidSetting } from "../../internal/setting/setting.ts"
import { maxPageSize } from "../../listing/parameters.ts"
import { PageSize } from "../../ListOptions.ts"
import { RateLimit } from "../../RateLimit.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { databaseFlag, keepHistory, layerDatabase, targetOf } from "../database/database.ts"
import { layerUnlimited } from "../database/source.ts"
import { cannotListen, exitCode, usage } from "../failure.ts"
import { limitOf, makeLimitFlag, usualLimit } from "../flags/connection.ts"
import { makePageSizeFlag, pageSizeOf } from "../flags/paging.ts"
import { interval, intervalForm, nonBlank, onFlag, readInterval, text, whole } from "../flags/values.ts"
import { withServerLog } from "../print/messages.ts"
import { layerTelemetry } from "../telemetry/telemetry.ts"
import { makeVerb } from "../verb.ts"

const flags = {
  database: databaseFlag,
  name: nonBlank(
    "name",
    "NAME",
    "PostgreSQL: the name of this process, another one for each (default: the host's)",
    "a name that is not blank"
  ),
  history: onFlag("history", "Keep each version that a sync replaces, for time-punches payroll diff"),
  keepHistory: keepHistory(
    "With --history: once a day, remove versions that were replaced longer ago than this (default: keep all)"
  ),
  concurrency: whole(
    "concurrency",
    "N",
    "Companies that this process syncs at once (default: 32, and at most twice --requests-per-second)",
    1,
    1000
  ),
  pageSize: makePageSizeFlag(),
  pagesPerTurn: whole(
    "pages-per-turn",
    "N",
    "Pages of a company that are stored before it lets others go first (default: 50, more of a smaller --page-size)",
    1,
    1_000_000
  ),
  requestsPerSecond: makeLimitFlag(
    " of all processes of the fleet together; give each the same, or none with --credentials per-company"
  ),
  sweepEvery: interval(
    "sweep-every",
    "How often the clock-ins of the last 35 days are re-read, to mark missing rows (default: 1d)",
    "1d"
  ),
  fullSweepEvery: text(
    "full-sweep-every",
    "TIME|never",
    "How often all clock-ins are re-read (default: 30d)",
    `${intervalForm("30d")}, or never`,
    (text) => text === "never" ? Option.some(Duration.zero) : readInterval(text)
  ),
  credentials: Flag.ChoiceWithValue("credentials", [["shared", "shared"], ["per-company", "perCompany"]]).pipe(
    Flag.withDescription(
      "Whether all companies have one credential: a refused one then pauses the fleet, else it blocks its company (default: shared)"
    ),
    Flag.optional
  ),
  http: whole(
    "http",
    "PORT",
    "Serve a page of the fleet, with /status.json, /metrics, /livez and /readyz (0: a free port)",
    0,
    65_535
  ),
  httpHost: nonBlank(
    "http-host",
    "HOST",
    "With --http: the address or name to listen on, such as 0.0.0.0 (default: 127.0.0.1, this machine alone)",
    "an address of this machine"
  )
}

export const verb = makeVerb("run", flags, (input) => runFleet(input), {
  text: `Sync all companies of the fleet on their schedules, until the first SIGTERM
  or Ctrl-C.

  With a file this process is the whole fleet. With PostgreSQL it is one of
  many: run the same command on several machines, each with its own --name. They
  share only the database. It needs an OAuth client, and the guid of each
  company.`,
  examples: [
    ["fleet run --database punches.db", "The whole fleet in one process"],
    ["fleet run --database postgres://db.example.com/punches --name a", "One of several processes"],
    ["fleet run --database punches.db --http 8080", "With a page to look at"]
  ]
})

/** Connections to PostgreSQL: one is held for the name, one by the engine. */
const connections = 16

/** The process ends after this time in any case, in milliseconds. */
const patience = 5000

const runFleet = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof flags>) {
  if (Option.isSome(input.keepHistory) && !input.history) return yield* usage("--keep-history goes with --history")
  const target = yield* targetOf(input.database, "fleet")
  yield* requireOAuth
  const isPerCompany = Option.contains(input.credentials, "perCompany")
  // One limit for the one token of all companies: with a token for each, it would be too little.
  const limit = yield* limitOf(input, isPerCompany ? "none" : usualLimit)
  const pageSize = yield* pageSizeOf(input.pageSize)
  const layerSized = Layer.provide(layerUnlimited, Layer.succeed(PageSize, pageSize))
  const settings: FleetOptions = {
    historyDays: Option.getOrUndefined(input.keepHistory),
    maxConcurrentSyncs: Option.getOrElse(input.concurrency, () => atOnce(limit)),
    pagesPerTurn: Option.getOrElse(
      input.pagesPerTurn,
      () => Math.ceil(defaultSettings.pagesPerTurn * maxPageSize / pageSize)
    ),
    sweepEvery: Option.getOrUndefined(input.sweepEvery),
    fullSweepEvery: Option.getOrUndefined(input.fullSweepEvery),
    credentials: Option.getOrUndefined(input.credentials)
  }
  const name = Option.getOrUndefined(input.name)
  if (target._tag === "Sqlite" && name !== undefined) {
    return yield* usage("--name goes with PostgreSQL: a file has one process")
  }
  if (Option.isSome(input.httpHost) && Option.isNone(input.http)) return yield* usage("--http-host goes with --http")
  const signal = yield* firstSignal
  const started = target._tag === "Sqlite"
    ? built(
      // A limit of the one process of a file needs no store.
      limit === undefined ? layerSized : Layer.provide(layerSized, RateLimit.layer({ perSecond: limit })),
      startEmbedded({ ...settings, filename: target.filename, history: input.history }, {
        requestsPerSecond: limit ?? null
      })
    )
    : built(
      layerDatabase(target, {
        connections,
        client: FleetRunner.pgClientOptions({ host: target.host, port: target.port })
      }),
      Effect.gen(function*() {
        // Fails first if the tables are not there, and names the command that makes them.
        const prepared = yield* prepare({ ...settings, name }, {
          history: input.history,
          requestsPerSecond: limit ?? null
        })
        const { history, requestsPerSecond: perSecond } = prepared.shared
        const client = perSecond === undefined || perSecond === null
          ? layerSized
          : layerSized.pipe(
            Layer.provide(RateLimit.layerWithStore({ perSecond })),
            Layer.provide(Fleet.layerRateLimiterStore)
          )
        // The limit that holds may be that of another process.
        const maxConcurrentSyncs = Option.getOrElse(input.concurrency, () => atOnce(perSecond ?? undefined))
        const limited = { ...prepared, settings: { ...prepared.settings, maxConcurrentSyncs } }
        return yield* built(Layer.merge(SqlStore.layer({ migrate: false, history }), client), launch(limited))
      })
    )
  const running = Effect.gen(function*() {
    const { fleet, lost, served } = yield* started
    const companies = (yield* fleet.list()).length
    yield* Effect.logInfo(
      `the fleet runs: ${target.address}, ${companies} companies${name === undefined ? "" : `, as ${name}`}`
    )
    const socket = yield* Config.option(Config.NonEmptyString("NOTIFY_SOCKET"))
    if (Option.isSome(socket)) {
      const { notifySystemd } = yield* Effect.promise(() => import("./systemd.ts"))
      yield* notifySystemd(socket.value, served.isTurning)
    }
    if (Option.isSome(input.http)) {
      yield* showPage(served, input.http.value, Option.getOrUndefined(input.httpHost))
    }
    return yield* lost
  })
  yield* Effect.raceFirst(signal, running).pipe(
    Effect.andThen(Effect.logInfo("the fleet ends: turns in flight are put back")),
    Effect.scoped,
    // Within the log of a server, which replaces the one before it.
    Effect.provide(layerTelemetry(name)),
    withServerLog
  )
}, Effect.scoped)

/** More companies at once would only wait for each other's requests. */
const atOnce = (limit: number | undefined): number =>
  Math.min(defaultSettings.maxConcurrentSyncs, limit === undefined ? Infinity : 2 * limit)

/** Provides a layer that lives as long as the scope, and not only until the effect has ended: what it starts continues. */
const built = <ROut, E, RIn, A, E2, R>(layer: Layer.Layer<ROut, E, RIn>, effect: Effect.Effect<A, E2, R>) =>
  Effect.flatMap(Layer.build(layer), (context) => Effect.provideContext(effect, context))

/** Companies have guids, which an OAuth client alone sends: any other credential is of one company. */
const requireOAuth = Effect.gen(function*() {
  for (const variable of ["TIME_PUNCHES_ACCESS_TOKEN", "TIME_PUNCHES_SESSION_COOKIE"]) {
    if (Option.isSome(yield* Config.option(Config.NonEmptyString(variable)))) {
      return yield* invalidSetting(
        variable,
        "left out: a fleet needs TIME_PUNCHES_CLIENT_ID and TIME_PUNCHES_CLIENT_SECRET"
      )
    }
  }
  yield* Config.NonEmptyString("TIME_PUNCHES_CLIENT_ID")
})

/**
 * The first SIGTERM or SIGINT. The listeners of the runtime would interrupt the command, and swallow the second signal, which ends
 * the process here at once.
 */
const firstSignal = Effect.acquireRelease(
  Effect.map(Effect.context<never>(), (context) => {
    const cut = withServerLog(
      Effect.logWarning("the fleet is cut off after 5 seconds: turns in flight are not put back")
    )
    const others = (["SIGINT", "SIGTERM"] as const).map((signal) => {
      const listeners = process.listeners(signal)
      process.removeAllListeners(signal)
      return [signal, listeners] as const
    })
    let resume: (() => void) | undefined
    let count = 0
    const listener = () => {
      count += 1
      if (count > 1) return process.exit(exitCode.interrupted)
      // The database may be away.
      setTimeout(() => {
        Effect.runSyncWith(context)(cut)
        process.exit(exitCode.ok)
      }, patience).unref()
      resume?.()
    }
    for (const [signal] of others) process.on(signal, listener)
    const wait = Effect.callback<void>((done) => {
      resume = () => done(Effect.void)
      if (count > 0) resume()
    })
    return { wait, others, listener }
  }),
  ({ listener, others }) =>
    Effect.sync(() => {
      for (const [signal, listeners] of others) {
        process.removeListener(signal, listener)
        for (const each of listeners) process.on(signal, each)
      }
    })
).pipe(Effect.map(({ wait }) => wait))

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
