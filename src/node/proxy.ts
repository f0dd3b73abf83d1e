/** The proxies that the environment names, and a dispatcher that sends through them what is not for this machine. */
import type * as Undici from "@effect/platform-node/Undici"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ConnectionOptions } from "node:tls"
import { invalidSetting, isLoopback } from "../internal/setting/setting.ts"

/** The proxies of a process. Their URLs may have a password. */
export interface Proxies {
  readonly http: string | undefined
  readonly https: string | undefined
  /** Hosts that are reached without a proxy, as `NO_PROXY` lists them. */
  readonly except: string
}

const textOf = (...names: readonly [string, string]) =>
  Effect.map(
    Effect.forEach(names, (name) => Config.option(Config.String(name))),
    (found) => found.map(Option.getOrUndefined).find((text) => text !== undefined && text !== "")
  )

const proxyOf = Effect.fnUntraced(function*(name: "HTTPS_PROXY" | "HTTP_PROXY") {
  const text = yield* textOf(name.toLowerCase(), name)
  if (text === undefined) return undefined
  const url = URL.parse(text)
  // undici throws on more than an origin, and a raw / in a password makes a path of its end.
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && !/[?#]/.test(url.href)
    ? url.href
    : yield* invalidSetting(name, "an http or https URL without path, query and fragment")
})

/**
 * The proxies of the environment; none if it names none, or if `NODE_USE_ENV_PROXY` is 0. A name in small letters goes
 * before the same name in capitals. Fails with a `ConfigError` that names the variable, never its value.
 */
export const readProxies: Effect.Effect<Option.Option<Proxies>, Config.ConfigError> = Effect.gen(function*() {
  if (Option.contains(yield* Config.option(Config.String("NODE_USE_ENV_PROXY")), "0")) return Option.none()
  const https = yield* proxyOf("HTTPS_PROXY")
  const http = yield* proxyOf("HTTP_PROXY")
  if (https === undefined && http === undefined) return Option.none()
  return Option.some({ https, http, except: (yield* textOf("no_proxy", "NO_PROXY")) ?? "" })
})

interface ConnectOptions {
  readonly connections: number
  readonly connect: Pick<ConnectionOptions, "ca"> & { readonly timeout: number }
}

/**
 * Connections through the proxies. A request to this machine never goes through one, whatever `NO_PROXY` says. The
 * certificate of the caller is for the service: a proxy with TLS sees the trusted authorities only.
 */
export const makeProxied = (
  { except, http, https }: Proxies,
  { connect, connections }: ConnectOptions
): Effect.Effect<Undici.Dispatcher, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.map(Effect.promise(() => import("@effect/platform-node/Undici")), ({ Agent, EnvHttpProxyAgent }) => ({
        direct: new Agent({ connections, connect }),
        proxied: new EnvHttpProxyAgent({
          connections,
          connect,
          requestTls: connect,
          proxyTls: { timeout: connect.timeout, ...(connect.ca === undefined ? {} : { ca: connect.ca }) },
          // An absent one would be read from the environment again. Without HTTPS_PROXY, https takes the proxy of HTTP_PROXY.
          httpProxy: http ?? "",
          httpsProxy: https ?? "",
          noProxy: except
        })
      })),
      ({ direct, proxied }) => Effect.promise(() => Promise.all([direct.destroy(), proxied.destroy()]))
    ),
    ({ direct, proxied }) =>
      proxied.compose((dispatch) => (request, handler) =>
        isLoopback(new URL(String(request.origin)).hostname)
          ? direct.dispatch(request, handler)
          : dispatch(request, handler)
      )
  )
