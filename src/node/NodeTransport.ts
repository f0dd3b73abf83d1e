/** START HERE. The transport for Node: an `HttpClient` on undici's dispatcher that reads whole bodies under a cap. */
import type * as Undici from "@effect/platform-node/Undici"
import * as ByteSize from "effect/ByteSize"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Tls from "node:tls"
import { memoizeLast } from "../internal/http/client.ts"
import { loadPlatformNode } from "../internal/peer/platformNode.ts"
import { invalidSetting, wholeNumber } from "../internal/setting/setting.ts"
import { acceptEncoding } from "./body.ts"
import { exchange } from "./exchange.ts"
import { makeProxied, readProxies } from "./proxy.ts"
import { NodeResponse } from "./response.ts"

/** The settings of the transport. */
export interface NodeTransportOptions {
  /**
   * The most connections to one origin; further requests wait for a free one, and the wait counts as time of the attempt
   * (`RetryPolicy`). Default: 16.
   */
  readonly connections?: number | undefined
  /** Deadline of a connection, its TLS handshake included. Default: 5 seconds. */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * The most bytes of a body that is read whole, after decompression; a larger one can only be read as a stream. At least
   * 8 MiB, the library's own limit of a page; a number, or a text such as `"32 MiB"`. Default: 8 MiB.
   */
  readonly maxBodySize?: ByteSize.Input | undefined
  /** TLS settings of `node:tls`: `ca` for a private authority, `cert` and `key` for a client certificate. Default: Node's. */
  readonly tls?: TlsOptions | undefined
  /**
   * A dispatcher of undici in place of the one that these settings make, such as a `ProxyAgent`. It stays open when the
   * layer closes, excludes `connections`, `connectTimeout` and `tls`, and has its own proxies: the environment is not read.
   */
  readonly dispatcher?: Undici.Dispatcher | undefined
}

/** The settings of `node:tls` that a client needs. */
export type TlsOptions = Pick<
  Tls.ConnectionOptions,
  | "ca"
  | "cert"
  | "checkServerIdentity"
  | "ciphers"
  | "key"
  | "maxVersion"
  | "minVersion"
  | "passphrase"
  | "pfx"
  | "rejectUnauthorized"
  | "servername"
>

/**
 * An `HttpClient` for Node, with the least overhead: it reads a whole body into one buffer, without Node's streams. It asks
 * for `gzip` and `br` and decompresses both, limits what it reads after decompression, follows no redirect, and fails on text
 * that is not UTF-8. A request whose body is a stream or form data, and one for an upgrade, goes through the core's client
 * over the same connections. Closing the layer closes its connections. Fails with a `ConfigError` that names the setting.
 *
 * Requests go through the proxy that `HTTPS_PROXY` (or `HTTP_PROXY`) names, but not to the hosts of `NO_PROXY`, and never to
 * this machine. `NODE_USE_ENV_PROXY=0` ignores these variables.
 */
export const layer = (options: NodeTransportOptions = {}): Layer.Layer<HttpClient.HttpClient, Config.ConfigError> =>
  Layer.effect(HttpClient.HttpClient, make(options))

const mebibyte = 1024 * 1024

/** The library's limit of a page: reading one must not depend on a setting. */
const smallestCap = 8 * mebibyte

const make = Effect.fnUntraced(function*(options: NodeTransportOptions) {
  if (process.versions["bun"] !== undefined) {
    return yield* invalidSetting(
      "runtime",
      "Node or Deno: Bun has its own undici. Provide FetchHttpClient.layer instead"
    )
  }
  const { maxBodySize, ...agent } = yield* validate(options)
  const proxies = options.dispatcher === undefined ? yield* readProxies : Option.none()
  const NodeHttpClient = yield* loadPlatformNode("node", () => import("@effect/platform-node/NodeHttpClient"))
  const dispatcher = options.dispatcher ??
    (yield* Option.isNone(proxies)
      ? NodeHttpClient.makeDispatcherOptions(agent)
      : makeProxied(proxies.value, agent))
  const core = yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher)
  const direct = HttpClient.make((request, url, signal) =>
    Effect.mapError(
      exchange(
        dispatcher,
        { ...target(request, url), body: request.body._tag === "Uint8Array" ? request.body.body : null },
        signal,
        (incoming) => new NodeResponse(request, url, incoming, maxBodySize)
      ),
      (cause) => new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
    )
  )
  // Like the core's transports: what was provided to this layer holds for its requests, unless the caller says otherwise.
  const context = yield* Effect.context<never>()
  const merged = memoizeLast((caller: Context.Context<never>) => Context.merge(context, caller))
  const send = (
    request: Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> =>
    Effect.flatMap(request, (request) => (isPlain(request) ? direct : core).postprocess(Effect.succeed(request)))
  return HttpClient.makeWith(
    (request: Parameters<typeof send>[0]) => Effect.updateContext(send(request), merged),
    Effect.succeed
  )
})

/** Whether a request has its whole body, and expects a response rather than a connection. */
const isPlain = ({ body, headers }: HttpClientRequest.HttpClientRequest): boolean =>
  (body._tag === "Empty" || body._tag === "Uint8Array") && headers["upgrade"] === undefined

/** The core's way leaves the deadlines of a request to its caller; so does this one. */
const noTimeouts = { headersTimeout: 60 * 60 * 1000, bodyTimeout: 0 } as const

const target = ({ headers, method }: HttpClientRequest.HttpClientRequest, url: URL) => ({
  ...noTimeouts,
  method,
  origin: url.origin,
  path: url.pathname + url.search,
  headers: "accept-encoding" in headers ? headers : { "accept-encoding": acceptEncoding, ...headers }
})

const validate = Effect.fnUntraced(function*(options: NodeTransportOptions) {
  const { connections = 16, connectTimeout = "5 seconds", dispatcher, maxBodySize, tls } = options
  const excluded = ["connections", "connectTimeout", "tls"] as const
  if (dispatcher !== undefined && excluded.some((name) => options[name] !== undefined)) {
    return yield* invalidSetting("dispatcher", "the only setting of connections")
  }
  const count = wholeNumber(connections, 1)
  if (Result.isFailure(count)) return yield* invalidSetting("connections", count.failure)
  const bytes = maxBodySize === undefined
    ? smallestCap
    : Option.match(ByteSize.fromInput(maxBodySize), { onNone: () => NaN, onSome: Number })
  const cap = wholeNumber(bytes, smallestCap)
  if (Result.isFailure(cap)) return yield* invalidSetting("maxBodySize", cap.failure)
  // `Duration.fromInput` reads NaN as zero.
  const timeout = Number.isNaN(connectTimeout) ? Option.none() : Duration.fromInput(connectTimeout)
  if (Option.isNone(timeout) || !Duration.isPositive(timeout.value) || !Duration.isFinite(timeout.value)) {
    return yield* invalidSetting("connectTimeout", "a duration above zero, and not without end")
  }
  // To Node an undefined member is a value.
  const tlsOptions = Object.fromEntries(Object.entries(tls ?? {}).filter(([, value]) => value !== undefined))
  return {
    connections,
    maxBodySize: cap.success,
    connect: { ...tlsOptions, timeout: Duration.toMillis(timeout.value) }
  }
})
