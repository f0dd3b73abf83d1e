/** Traces, metrics and logs of a run, sent to an OpenTelemetry collector over HTTP. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { type Company, type CompanyId, TimePunches } from "effect-time-punches"
import { Otlp, OtlpSerialization } from "effect/observability"
import { app, company, transport } from "./app.ts"

/** Reads `OTEL_EXPORTER_OTLP_ENDPOINT` and its siblings; without an endpoint it sends nothing. */
export const telemetry = Otlp.layerFromConfig({ resource: { serviceName: "punch-count" } }).pipe(
  Layer.provide(OtlpSerialization.layerJson),
  Layer.provide(transport)
)

/** The span of your own work is the parent of `TimePunches.list`, which is the parent of every page. */
export const count = Effect.fn("count")((company: CompanyId | Company) =>
  TimePunches.list(company).pipe(Stream.runCount)
)

export const main = Effect.flatMap(company, count).pipe(Effect.tap((punches) => Effect.logInfo(`${punches} punches`)))

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.merge(app, telemetry)))
