/** Where the service is: the base URL of the listing and of the token endpoint. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { invalidSetting, isLoopback, requiredSetting } from "./internal/setting/setting.ts"

/** The two addresses of the service. */
export class Endpoints extends Context.Service<Endpoints, {
  /** The URL that page paths are appended to, normalized: a path is kept, slashes at the end are not. */
  readonly baseUrl: string
  /** The URL that `/oauth2/token` is appended to, normalized in the same way. */
  readonly authUrl: string
}>()("effect-time-punches/Endpoints") {
  /**
   * Both addresses as options. Fails with a `ConfigError` that names the option on a URL that is not absolute, on
   * another scheme than https (http is for loopback only), on user names, queries and fragments, and on the path that is
   * appended: a base URL that ends in `/v2`, an auth URL that ends in `/oauth2/token`.
   */
  static readonly layer = (options: {
    /** The base URL of the listing. */
    readonly baseUrl: string | URL
    /** The base URL of the token endpoint; `baseUrl` by default. */
    readonly authUrl?: string | URL | undefined
  }) =>
    Layer.effect(
      Endpoints,
      Effect.gen(function*() {
        const baseUrl = yield* normalize("baseUrl", options.baseUrl, ofPages)
        const authUrl = options.authUrl === undefined ? baseUrl : yield* normalize("authUrl", options.authUrl, ofTokens)
        return { baseUrl, authUrl }
      })
    )

  /**
   * Reads `TIME_PUNCHES_BASE_URL` and `TIME_PUNCHES_AUTH_URL`, which defaults to the base URL. Fails with a
   * `ConfigError` that names the variable where `layer` fails, and without a base URL.
   */
  static readonly layerFromConfig = Layer.effect(
    Endpoints,
    Effect.gen(function*() {
      const base = yield* requiredSetting("TIME_PUNCHES_BASE_URL")
      const auth = yield* Config.option(Config.NonEmptyString("TIME_PUNCHES_AUTH_URL"))
      const baseUrl = yield* normalize("TIME_PUNCHES_BASE_URL", base, ofPages)
      const authUrl = Option.isNone(auth) ? baseUrl : yield* normalize("TIME_PUNCHES_AUTH_URL", auth.value, ofTokens)
      return { baseUrl, authUrl }
    })
  )
}

/** A path that the client appends: with it, every answer would be a 404. */
interface Appended {
  readonly end: RegExp
  readonly begins: string
  readonly path: string
}

const ofPages: Appended = {
  end: /\/v2(?:\/company(?:\/.*)?)?$/,
  begins: "/v2",
  path: "/v2/company/…/time_punches"
}

const ofTokens: Appended = { end: /\/oauth2\/token$/, begins: "/oauth2", path: "/oauth2/token" }

const normalize = Effect.fnUntraced(function*(name: string, address: string | URL, { begins, end, path }: Appended) {
  const url = URL.parse(address)
  if (url === null) return yield* invalidSetting(name, "an absolute URL")
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return yield* invalidSetting(name, "an https URL (http is for loopback only)")
  }
  // A password with a raw / ends in the path, with its @.
  if (`${url.username}${url.password}` !== "" || url.pathname.includes("@")) {
    return yield* invalidSetting(name, "a URL without user or password")
  }
  if (/[?#]/.test(url.href)) return yield* invalidSetting(name, "a URL without query or fragment")
  const trimmed = url.href.replace(/\/+$/, "")
  if (end.test(trimmed)) {
    return yield* invalidSetting(name, `a URL that ends before ${begins}: remove the rest, the client appends ${path}`)
  }
  return trimmed
})
