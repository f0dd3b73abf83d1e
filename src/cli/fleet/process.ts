/** One process of the fleet, from its first line to the signal that ends it. Loaded only by `fleet run`. */
import * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Fleet } from "../../fleet/Fleet.ts"
import * as FleetRunner from "../../fleet/node/FleetRunner.ts"
import { launch, prepare, startEmbedded } from "../../fleet/node/run.ts"
import type { GivenSettings } from "../../fleet/Settings.ts"
import { invalidSetting } from "../../internal/setting/setting.ts"
import { RateLimit } from "../../RateLimit.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { layerDatabase, targetOf } from "../database/database.ts"
import { exitCode, usage } from "../failure.ts"
import { layerClient } from "../flags/client.ts"
import { withServerLog } from "../print/messages.ts"
import { layerTelemetry } from "../telemetry/telemetry.ts"

interface RunInput {
  readonly database: Option.Option<string>
  readonly name: Option.Option<string>
  readonly history: boolean
  readonly keepHistory: Option.Option<number>
  readonly concurrency: Option.Option<number>
  readonly pagesPerTurn: Option.Option<number>
  readonly requestsPerSecond: Option.Option<number>
  readonly sweepEvery: Option.Option<Duration.Duration>
  readonly fullSweepEvery: Option.Option<Duration.Duration>
  readonly credentials: Option.Option<GivenSettings["credentials"]>
  readonly http: Option.Option<number>
  readonly httpHost: Option.Option<string>
}

/** Connections to PostgreSQL: one is held for the name, one by the engine. */
const connections = 16

/** The process ends after this time in any case, in milliseconds. */
const patience = 5000

export const run = Effect.fnUntraced(function*(input: RunInput) {
  if (Option.isSome(input.keepHistory) && !input.history) return yield* usage("--keep-history goes with --history")
  const target = yield* targetOf(input.database, "fleet")
  yield* requireOAuth
  const settings: GivenSettings = {
    historyDays: Option.getOrUndefined(input.keepHistory),
    maxConcurrentSyncs: Option.getOrUndefined(input.concurrency),
    pagesPerTurn: Option.getOrUndefined(input.pagesPerTurn),
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
  const limit = Option.getOrUndefined(Option.map(input.requestsPerSecond, (perSecond) => ({ perSecond })))
  const started = target._tag === "Sqlite"
    ? built(
      // A limit of the one process of a file needs no store.
      limit === undefined ? layerClient : Layer.provide(layerClient, RateLimit.layer(limit)),
      startEmbedded({ ...settings, filename: target.filename, history: input.history })
    )
    : built(
      layerDatabase(target, {
        connections,
        client: FleetRunner.clientOptions({ host: target.host, port: target.port })
      }),
      Effect.gen(function*() {
        // Fails first if the tables are not there, and names the command that makes them.
        const prepared = yield* prepare({ ...settings, name }, {
          history: input.history,
          requestsPerSecond: Option.getOrNull(input.requestsPerSecond)
        })
        const { history, requestsPerSecond: perSecond } = prepared.shared
        const client = perSecond === undefined || perSecond === null
          ? layerClient
          : layerClient.pipe(
            Layer.provide(RateLimit.layerWithStore({ perSecond })),
            Layer.provide(Fleet.layerRateLimiterStore)
          )
        return yield* built(Layer.merge(SqlStore.layer({ migrate: false, history }), client), launch(prepared))
      })
    )
  const running = Effect.gen(function*() {
    const { fleet, lost, served } = yield* started
    const companies = (yield* fleet.list()).length
    yield* Effect.logInfo(
      `the fleet runs: ${target.shown}, ${companies} companies${name === undefined ? "" : `, as ${name}`}`
    )
    const socket = yield* Config.option(Config.NonEmptyString("NOTIFY_SOCKET"))
    if (Option.isSome(socket)) {
      const { notifySystemd } = yield* Effect.promise(() => import("./systemd.ts"))
      yield* notifySystemd(socket.value, served.isTurning)
    }
    if (Option.isSome(input.http)) {
      const { showPage } = yield* Effect.promise(() => import("./page.ts"))
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
  Effect.sync(() => {
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
      setTimeout(() => process.exit(exitCode.ok), patience).unref()
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
