/** A request over the transport for Node, to a server that sends exact bytes. */
import { ByteSize, Effect, Layer } from "effect"
import { HttpClient, HttpClientError, type HttpClientResponse, HttpIncomingMessage } from "effect/http"
import { NodeTransport } from "../../src/node/index.ts"
import { type Answer, type RawServer, rawServer } from "../sockets/support/rawServer.ts"

export const mebibyte = 1024 * 1024
export const cap = 8 * mebibyte

export const json = { "content-type": "application/json" }
export const chunked = { ...json, "transfer-encoding": "chunked" }

/** The transport with defaults. */
export const transport = Layer.orDie(NodeTransport.layer())

/** Reads the response of a server that gives this answer to every request. */
export const answered = <A, E>(
  answer: Answer,
  use: (response: HttpClientResponse.HttpClientResponse, server: RawServer) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const server = yield* rawServer({ answers: [answer] })
    const response = yield* HttpClient.get(server.url)
    return yield* use(response, server)
  }).pipe(Effect.provide(transport))

/** The kind of an error and the code of its cause. */
export const kindOf = (error: unknown): string => {
  if (!HttpClientError.isHttpClientError(error)) return String(error)
  const { cause } = error.reason
  const code = typeof cause === "object" && cause !== null && "code" in cause ? ` ${String(cause.code)}` : ""
  return `${error.reason._tag}${code}`
}

/** What a read ends with: its value, or the kind of its error. */
export const ending = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A | string, never, R> =>
  Effect.matchEffect(self, { onSuccess: Effect.succeed, onFailure: (error) => Effect.succeed(kindOf(error)) })

/** Reads at most this many bytes of a whole body. */
export const within = (bytes: number) => Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bytes))
