/** The one place that looks inside a `Redacted`: to check its characters, to write the cookie header, to scrub. */
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import { invalidSetting } from "./config.ts"

/** What a header value or a form field can carry without being changed or split on the way. */
const forms = {
  /** Visible ASCII: what an `Authorization` header can carry. */
  accessToken: /^[\x21-\x7e]+$/,
  /** VSCHAR of RFC 6749, which has spaces, but none at the ends: those come from copying. */
  clientSecret: /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
  /** cookie-octet of RFC 6265. */
  sessionCookie: /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/,
  /** b64token of RFC 6750. */
  bearer: /^[A-Za-z0-9\-._~+/]+=*$/
} as const

/** The longest token that goes into a header. */
const longest = 16_384

export const isSendable = (form: keyof typeof forms, secret: Redacted.Redacted): boolean => {
  const value = Redacted.value(secret)
  return value.length <= longest && forms[form].test(value)
}

/** Passes a secret that can be sent as it is; fails with the name of the setting, never the value. */
export const checkedSecret = (
  name: string,
  form: keyof typeof forms,
  secret: Redacted.Redacted
): Effect.Effect<Redacted.Redacted, Config.ConfigError> =>
  isSendable(form, secret)
    ? Effect.succeed(secret)
    : invalidSetting(name, "a secret of visible ASCII characters, without spaces or line ends around it")

export const cookieHeader = (name: string, secret: Redacted.Redacted): string => `${name}=${Redacted.value(secret)}`

/** A text without any of the secrets, as they are or as a form or URL would write them. */
export const scrub = (text: string, secrets: ReadonlyArray<Redacted.Redacted>): string =>
  secrets.reduce((clean, secret) => {
    const value = Redacted.value(secret)
    const written = [value, encodeURIComponent(value), new URLSearchParams([["", value]]).toString().slice(1)]
    return written.reduce((rest, form) => form === "" ? rest : rest.replaceAll(form, "<redacted>"), clean)
  }, text)

/** What a signed request carries in the headers that authenticate it, to be scrubbed from what comes back. */
export const secretsOf = (request: HttpClientRequest): ReadonlyArray<Redacted.Redacted> =>
  [request.headers["authorization"]?.replace(/^\S+\s+/, ""), request.headers["cookie"]?.replace(/^[^=]*=/, "")]
    .filter((value) => value !== undefined)
    .map((value) => Redacted.make(value))
