/** Sends the traces, metrics and logs of a run to a collector if a variable names one: only then the exporter is loaded. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/** The address of a collector, for all signals or for one. */
const addresses = ["", "TRACES_", "METRICS_", "LOGS_"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`)

/** Whether a variable names a collector. */
export const hasCollector: Effect.Effect<boolean, Config.ConfigError> = Effect.map(
  Effect.forEach(addresses, (name) => Config.option(Config.NonEmptyString(name))),
  (given) => given.some(Option.isSome)
)

/** `instance`: what tells this process from others that run the same command. Default: the name of the host. */
export const layerTelemetry = (instance?: string): Layer.Layer<never, Config.ConfigError, HttpClient> =>
  Layer.unwrap(Effect.gen(function*() {
    if (!(yield* hasCollector)) return Layer.empty
    const { layerExporter } = yield* Effect.promise(() => import("./otlp.ts"))
    return layerExporter(instance)
  }))
