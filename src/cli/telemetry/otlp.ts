/**
 * The exporter of core, by the standard variables of OpenTelemetry. It validates them first, records of an error only its kind,
 * and never keeps a run waiting for a collector. Loaded only if a variable names a collector.
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Otlp from "effect/observability/Otlp"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { hostname } from "node:os"
import { invalidSetting } from "../../internal/setting/setting.ts"
import { redactingTracer } from "../../internal/telemetry/tracing.ts"
import { version } from "../../internal/wire/userAgent.ts"
import { plainUrl } from "../flags/address.ts"

/** What a variable must be, and whether a text is that. */
type Form = readonly [mustBe: string, isValid: (text: string) => boolean]

const oneOf = (...values: ReadonlyArray<string>): Form => [values.join(" or "), (text) => values.includes(text)]

const isDecodable = (text: string) => Result.isSuccess(Result.try(() => decodeURIComponent(text)))

/** A header that can be sent unchanged: the value is percent-encoded in the variable. */
const isHeader = (pair: string) => {
  const [, value = ""] = /^\s*[\w!#$%&'*+.^`|~-]+\s*=(.*)$/.exec(pair) ?? []
  return isDecodable(value) && /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(decodeURIComponent(value).trim())
}

const forms = {
  address: ["an address of http or https, without user, query and fragment", (text) => Option.isSome(plainUrl(text))],
  headers: ["headers as name=value, separated by commas, in visible ASCII", (text) => text.split(",").every(isHeader)],
  attributes: [
    "attributes as name=value, separated by commas, percent-encoded",
    (text) => text.split(",").every((pair) => /^[^=]+=/.test(pair) && isDecodable(pair))
  ],
  text: ["a text", () => true],
  millis: ["a whole number of milliseconds from 1 on, at most nine digits", (text) => /^[1-9]\d{0,8}$/.test(text)],
  count: ["a whole number from 1 on, at most nine digits", (text) => /^[1-9]\d{0,8}$/.test(text)],
  boolean: oneOf("true", "false"),
  compression: oneOf("gzip", "none"),
  exporter: oneOf("otlp", "none"),
  protocol: oneOf("http/json", "http/protobuf"),
  temporality: oneOf("cumulative", "delta")
} as const satisfies Readonly<Record<string, Form>>

/** What may be set for all signals, and for each. */
const shared = {
  ENDPOINT: "address",
  HEADERS: "headers",
  COMPRESSION: "compression",
  TIMEOUT: "millis"
} as const

/** Every variable that is read. */
export const variables: Readonly<Record<string, keyof typeof forms>> = {
  OTEL_SDK_DISABLED: "boolean",
  OTEL_SERVICE_NAME: "text",
  OTEL_SERVICE_VERSION: "text",
  OTEL_RESOURCE_ATTRIBUTES: "attributes",
  OTEL_EXPORTER_OTLP_PROTOCOL: "protocol",
  OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "temporality",
  OTEL_BSP_SCHEDULE_DELAY: "millis",
  OTEL_BSP_EXPORT_TIMEOUT: "millis",
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "count",
  OTEL_BLRP_SCHEDULE_DELAY: "millis",
  OTEL_BLRP_EXPORT_TIMEOUT: "millis",
  OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: "count",
  OTEL_METRIC_EXPORT_INTERVAL: "millis",
  OTEL_METRIC_EXPORT_TIMEOUT: "millis",
  ...Object.fromEntries(
    ["TRACES", "METRICS", "LOGS"].map((signal) => [`OTEL_${signal}_EXPORTER`, "exporter"] as const)
  ),
  ...Object.fromEntries(
    ["", "TRACES_", "METRICS_", "LOGS_"].flatMap((signal) =>
      Object.entries(shared).map(([name, form]) => [`OTEL_EXPORTER_OTLP_${signal}${name}`, form] as const)
    )
  )
}

/** The variables that are set. Fails with the name of one that is not valid, never with its value. */
const readVariables = Effect.gen(function*() {
  const found: Record<string, string> = {}
  for (const [name, form] of Object.entries(variables)) {
    const text = yield* Config.option(Config.NonEmptyString(name))
    if (Option.isNone(text)) continue
    const [mustBe, isValid] = forms[form]
    if (!isValid(text.value.trim())) return yield* invalidSetting(name, mustBe)
    found[name] = text.value.trim()
  }
  return found
})

/** Defaults where core has none, or one that makes a run wait long. Each process is another resource: series must not mix. */
const withDefaults = (given: Readonly<Record<string, string>>, instance: string): Record<string, string> => {
  const resource = { "service.name": "time-punches", "service.version": version, "service.instance.id": instance }
  const attributes = Object.entries(resource).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const { OTEL_RESOURCE_ATTRIBUTES: more } = given
  return {
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_LOGS_EXPORTER: "otlp",
    OTEL_BSP_EXPORT_TIMEOUT: "2000",
    OTEL_METRIC_EXPORT_TIMEOUT: "2000",
    OTEL_BLRP_EXPORT_TIMEOUT: "2000",
    ...given,
    // The last one of a name holds.
    OTEL_RESOURCE_ATTRIBUTES: [...attributes, ...(more === undefined ? [] : [more])].join(",")
  }
}

/** How long a collector may take, so that batches do not pile up behind one that is silent. */
const longestRequest = Duration.seconds(10)

/** The client of the exporter. Core repeats what fails; at the end of a run nothing is repeated, and nothing is waited for. */
const sending = (isEnding: () => boolean) =>
  HttpClient.transform<HttpClientError, never, HttpClientError, never>((response, request) =>
    Effect.suspend(() => {
      const whole = response.pipe(
        Effect.tap(({ arrayBuffer }) => Effect.ignore(arrayBuffer)),
        Effect.timeoutOrElse({
          duration: longestRequest,
          orElse: () => Effect.fail(new HttpClientError({ reason: new TransportError({ request }) }))
        })
      )
      // A defect is not repeated; the exporter gives its batch up.
      return isEnding() ? Effect.orDie(Effect.flatMap(whole, HttpClientResponse.filterStatusOk)) : whole
    })
  )

/** The kind of an error: its text may quote the service, a database or a row. */
const kindOf = (error: unknown): string => {
  if (Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag)) {
    const reason = Predicate.hasProperty(error, "reason") ? error.reason : undefined
    return Predicate.isString(reason)
      ? `${error._tag}.${reason}`
      : Predicate.hasProperty(reason, "_tag")
      ? `${error._tag}.${String(reason._tag)}`
      : error._tag
  }
  return Predicate.isError(error) ? error.name : "an error"
}

/** The spans that the documents name. Those of statements, engines and pages of a fleet would be many times as many. */
const named = /^(?:TimePunches|TokenCache|Sync|Fleet)\.|^(?:GET|POST)$/

const limited = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    ...tracer,
    span: (options) => tracer.span({ ...options, sampled: options.sampled && named.test(options.name) })
  })

/** The exporter, as these variables say. Fails before anything is sent if one of them is not valid. */
export const layerExporter = (instance = hostname()): Layer.Layer<never, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrap(Effect.gen(function*() {
    const given = yield* readVariables
    if (given["OTEL_SDK_DISABLED"] === "true") return Layer.empty
    let isEnding = false
    const exporter = Otlp.layerFromConfig().pipe(
      Layer.provide(
        given["OTEL_EXPORTER_OTLP_PROTOCOL"] === "http/protobuf"
          ? OtlpSerialization.layerProtobuf
          : OtlpSerialization.layerJson
      ),
      Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, sending(() => isEnding)))),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: withDefaults(given, instance) })))
    )
    const ending = Layer.effectContext(Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(exporter, scope)
      yield* Effect.addFinalizer((exit) => {
        isEnding = true
        return Scope.close(scope, exit)
      })
      return context
    }))
    return Layer.effect(
      Tracer.Tracer,
      Effect.map(
        Tracer.Tracer,
        (tracer) => tracer === Tracer.nativeTracer ? tracer : redactingTracer(limited(tracer), kindOf)
      )
    ).pipe(Layer.provideMerge(ending))
  }))
