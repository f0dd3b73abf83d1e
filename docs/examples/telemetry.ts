/** Traces, metrics and logs of a run, sent to an OpenTelemetry collector over HTTP. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer, Logger, Stream, Tracer } from "effect"
import { type Company, type CompanyId, TimePunches } from "effect-time-punches"
import { Otlp } from "effect/observability"
import { app, company, transport } from "./app.ts"

/** The address of the collector comes from the usual environment variable. */
export const telemetry = Layer.unwrap(
  Config.String("OTEL_EXPORTER_OTLP_ENDPOINT").pipe(
    Effect.tapError(() =>
      Console.error("set OTEL_EXPORTER_OTLP_ENDPOINT to a collector, such as http://localhost:4318")
    ),
    Effect.map((baseUrl) => Otlp.layerJson({ baseUrl, resource: { serviceName: "punch-count" } }))
  )
).pipe(Layer.provide(transport))

/** Exports no span of a statement or a transaction of SQLite: `Layer.provideMerge(app, Layer.provideMerge(withoutSql, telemetry))`. */
export const withoutSql = Layer.effect(
  Tracer.Tracer,
  Effect.map(Tracer.Tracer, (tracer) =>
    Tracer.make({
      ...tracer,
      span: (options) =>
        tracer.span({ ...options, sampled: options.sampled && !["sqlite", "sql.transaction"].includes(options.name) })
    }))
)

/** Logs on standard error, so that a program behind a pipe gets the results alone. */
export const logsToStderr = Layer.succeed(Logger.LogToStderr, true)

/** The span of this function is the parent of `TimePunches.list`, which is the parent of every page. */
export const count = Effect.fn("count")((company: CompanyId | Company) =>
  TimePunches.list(company).pipe(Stream.runCount)
)

export const main = Effect.flatMap(company, count).pipe(Effect.tap((punches) => Effect.logInfo(`${punches} punches`)))

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.provideMerge(app, telemetry)))
