/** An OpenTelemetry collector on loopback that keeps what it receives as JSON. */
import { Context, Effect, Layer, Predicate } from "effect"
import { createServer } from "node:http"

/** One export: the path it was posted to, and its body. */
export interface Export {
  readonly path: string
  readonly body: unknown
}

export interface Span {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceId: string
  readonly attributes: Readonly<Record<string, unknown>>
}

export class Collector extends Context.Service<Collector, {
  readonly url: string
  readonly exports: Effect.Effect<ReadonlyArray<Export>>
}>()("test/Collector") {
  static readonly layer = Layer.effect(
    Collector,
    Effect.gen(function*() {
      const received: Array<Export> = []
      const server = createServer((request, response) => {
        let text = ""
        request.setEncoding("utf8").on("data", (chunk: string) => text += chunk).on("end", () => {
          received.push({ path: request.url ?? "", body: JSON.parse(text) })
          response.setHeader("content-type", "application/json").end("{}")
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => {
          server.listen(0, "127.0.0.1", () => resume(Effect.void))
        }),
        () => Effect.sync(() => server.close())
      )
      const address = server.address()
      const port = Predicate.isObject(address) ? address.port : 0
      return { url: `http://127.0.0.1:${port}`, exports: Effect.sync(() => [...received]) }
    })
  )
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
