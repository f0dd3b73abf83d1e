/** Where the service is: the base URL of the listing and of the token endpoint (spec 1, 4.2). */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { invalidSetting } from "./internal/base/setting.ts"

/**
 * The two addresses of the service, normalised: no slash at the end. A path in the base URL is kept.
 *
 * @since 0.1.0
 */
export class Endpoints extends Context.Service<Endpoints, {
  readonly baseUrl: string
  readonly authUrl: string
}>()("effect-time-punches/Endpoints") {
  /**
   * Takes the addresses; `authUrl` left out is the base URL. Fails with a `ConfigError` that names the option on
   * anything but https (http is for loopback), and on user names, queries and fragments.
   *
   * @since 0.1.0
   */
  static readonly layer = (options: { readonly baseUrl: string | URL; readonly authUrl?: string | URL | undefined }) =>
    Layer.effect(
      Endpoints,
      Effect.gen(function*() {
        const baseUrl = yield* normalised("baseUrl", options.baseUrl)
        const authUrl = options.authUrl === undefined ? baseUrl : yield* normalised("authUrl", options.authUrl)
        return { baseUrl, authUrl }
      })
    )

  /**
   * Reads `TIME_PUNCHES_BASE_URL` and, where it differs, `TIME_PUNCHES_AUTH_URL`.
   *
   * @since 0.1.0
   */
  static readonly layerFromConfig = Layer.effect(
    Endpoints,
    Effect.gen(function*() {
      const base = yield* Config.NonEmptyString("TIME_PUNCHES_BASE_URL")
      const auth = yield* Config.option(Config.NonEmptyString("TIME_PUNCHES_AUTH_URL"))
      const baseUrl = yield* normalised("TIME_PUNCHES_BASE_URL", base)
      const authUrl = Option.isNone(auth) ? baseUrl : yield* normalised("TIME_PUNCHES_AUTH_URL", auth.value)
      return { baseUrl, authUrl }
    })
  )
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname)

const normalised = Effect.fnUntraced(function*(name: string, address: string | URL) {
  const url = URL.parse(address)
  if (url === null) return yield* invalidSetting(name, "an absolute URL")
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return yield* invalidSetting(name, "an https URL (http is for loopback only)")
  }
  if (url.username !== "" || url.password !== "") return yield* invalidSetting(name, "a URL without user or password")
  if (/[?#]/.test(url.href)) return yield* invalidSetting(name, "a URL without query or fragment")
  return url.href.replace(/\/+$/, "")
})
