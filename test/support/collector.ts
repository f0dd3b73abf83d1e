/** An OpenTelemetry collector on loopback that keeps what it receives. */
import { Context, Effect, Layer, Predicate } from "effect"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { gunzipSync } from "node:zlib"

/** One export: the path it was posted to, its headers, and its body; the JSON of a body that has another form is undefined. */
export interface Export {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: unknown
}

/** How it answers: with a status, or with nothing, before or after the headers. */
export type Answer = 200 | 429 | 500 | "silent" | "headers"

export class Collector extends Context.Service<Collector, {
  readonly url: string
  readonly exports: Effect.Effect<ReadonlyArray<Export>>
}>()("test/Collector") {
  static readonly layerAnswering = (answer: Answer) =>
    Layer.effect(
      Collector,
      Effect.gen(function*() {
        const received: Array<Export> = []
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
            const { headers, url: path = "" } = request
            const sent = Buffer.concat(chunks)
            const bytes = headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent
            const text = bytes.toString("latin1")
            const isJson = headers["content-type"] === "application/json"
            received.push({ path, headers, text, body: isJson ? JSON.parse(bytes.toString("utf8")) : undefined })
            if (answer === "silent") return
            if (answer === "headers") return response.writeHead(200, { "content-length": "2" }).flushHeaders()
            response.writeHead(answer, { "content-type": "application/json" }).end("{}")
          })
        })
        yield* Effect.acquireRelease(
          Effect.callback<void>((resume) => {
            server.listen(0, "127.0.0.1", () => resume(Effect.void))
          }),
          () =>
            Effect.sync(() => {
              server.close()
              server.closeAllConnections()
            })
        )
        const address = server.address()
        const port = Predicate.isObject(address) ? address.port : 0
        return { url: `http://127.0.0.1:${port}`, exports: Effect.sync(() => [...received]) }
      })
    )

  static readonly layer = Collector.layerAnswering(200)
}

/** Every object within a value that has all of these members. */
export const objectsWith = (
  value: unknown,
  ...names: ReadonlyArray<string>
): ReadonlyArray<Record<string, unknown>> => {
  if (!Predicate.isObjectOrArray(value)) return []
  const inner = Object.values(value).flatMap((member) => objectsWith(member, ...names))
  const matches = !Array.isArray(value) && names.every((name) => name in value)
  return matches ? [{ ...value }, ...inner] : inner
}

/** The spans of what was exported, each with the name of its parent. */
export const spansOf = (exports: ReadonlyArray<Export>) => {
  const spans = objectsWith(exports.filter(({ path }) => path === "/v1/traces"), "spanId", "name", "traceId")
  const nameOf = (id: unknown) => spans.find(({ spanId }) => spanId === id)?.["name"]
  return spans.map(({ name, parentSpanId, traceId }) => ({ name, parent: nameOf(parentSpanId), traceId }))
}

/** The metrics of what was exported, as their last export has them: the first point of each by its name. */
export const metricsOf = (exports: ReadonlyArray<Export>): ReadonlyMap<string, number> => {
  const metrics = objectsWith(exports.filter(({ path }) => path === "/v1/metrics"), "name", "description")
  return new Map(metrics.map((metric) => {
    const [point] = objectsWith(metric, "timeUnixNano")
    return [String(metric["name"]), Number(point?.["asDouble"] ?? point?.["asInt"] ?? point?.["count"])]
  }))
}
