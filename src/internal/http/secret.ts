/**
 * The only file that reads the value of a `Redacted`: to validate its characters, to write the cookie header, to scrub, and for
 * the host of an address that has a password.
 */
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { refusedSetting } from "../setting/setting.ts"

/** The characters that a header value or a form field can carry without being changed or split on the way. */
const forms = {
  /** Visible ASCII: the characters of an `Authorization` header. */
  accessToken: /^[\x21-\x7e]+$/,
  /** VSCHAR of RFC 6749, which includes spaces, but none at the ends: those are copying mistakes. */
  clientSecret: /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
  /** cookie-octet of RFC 6265. */
  sessionCookie: /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/,
  /** b64token of RFC 6750. */
  bearer: /^[A-Za-z0-9\-._~+/]+=*$/
} as const

/** The longest secret that fits a header. */
const maxLength = 16_384

/** The shortest secret: a shorter one would be found, and scrubbed, in the middle of words. */
const minLength = 4

/** Texts that stand where a secret belongs, and what to do about each. */
const mistakes: ReadonlyArray<readonly [RegExp, string]> = [
  // The file of `docker run --env-file` keeps them.
  [/^\s*(["'`])[^]*\1\s*$/, "has quotes around it: remove the quotes"],
  [/^\s*<[^]*>\s*$/, "is a placeholder in < >: put the value itself in its place"],
  [/^\s*(?:authorization:\s*)?bearer\s/i, "begins with the word Bearer: give it without the word Bearer"]
]

/** What is wrong with a text that a header could carry, and that is not the secret itself. */
const mistakeIn = (value: string): string | undefined => mistakes.find(([form]) => form.test(value))?.[1]

/** Whether a secret can be sent unchanged in this form, and is none of the usual mistakes. */
export const isSendable = (form: keyof typeof forms, secret: Redacted.Redacted): boolean => {
  const value = Redacted.value(secret)
  return Predicate.isString(value) && value.length >= minLength && value.length <= maxLength &&
    forms[form].test(value) &&
    mistakeIn(value) === undefined
}

/** What an access token must be that is not sendable. */
export const unsendable = (token: Redacted.Redacted): string =>
  mistakeIn(Redacted.value(token)) ?? "must be 4 or more visible ASCII characters without spaces"

/** Returns a secret that can be sent unchanged; fails with the name of the setting, never the value. */
export const validateSecret = (
  name: string,
  form: keyof typeof forms,
  secret: Redacted.Redacted
): Effect.Effect<Redacted.Redacted, Config.ConfigError> =>
  isSendable(form, secret) ? Effect.succeed(secret) : refusedSetting(
    name,
    mistakeIn(Redacted.value(secret)) ??
      "must be a secret of 4 or more visible ASCII characters, without spaces or line ends around it"
  )

/** Fails with the name of the setting if the id of a client cannot be sent unchanged. It is not a secret, and may be short. */
export const validateClientId = (name: string, clientId: string): Effect.Effect<void, Config.ConfigError> =>
  clientId.length <= maxLength && forms.clientSecret.test(clientId) && mistakeIn(clientId) === undefined
    ? Effect.void
    : refusedSetting(
      name,
      mistakeIn(clientId) ?? "must be a text of visible ASCII characters, without spaces or line ends around it"
    )

/** The value of the `Cookie` header. */
export const cookieHeader = (name: string, secret: Redacted.Redacted): string => `${name}=${Redacted.value(secret)}`

/**
 * Replaces the secrets in a text, also in the encodings of URLs, forms, JSON, HTML and base64. A secret of fewer than 4
 * characters, which only a signer of the caller's can have, stays: words contain it by chance.
 */
export const scrub = (text: string, secrets: ReadonlyArray<Redacted.Redacted>): string =>
  secrets.reduce((clean, secret) => {
    const value = Redacted.value(secret)
    if (value.length < minLength) return clean
    const json = JSON.stringify(value).slice(1, -1)
    const literal = [value, json, JSON.stringify(json).slice(1, -1), ...inBase64(value)]
    return literal.reduce((rest, form) => rest.replaceAll(form, redacted), clean).replace(escaped(value), redacted)
  }, text)

const redacted = "<redacted>"

/** Below this length, base64 text matches by chance. */
const minBase64Length = 8

/** The base64 of a text inside another text, for each of the three offsets in a group of bytes. */
const inBase64 = (value: string): ReadonlyArray<string> => {
  const bytes = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("")
  return [0, 1, 2].flatMap((shift) => {
    const inner = btoa("\0".repeat(shift) + bytes).slice(
      shift === 0 ? 0 : shift + 1,
      Math.floor((shift + bytes.length) * 4 / 3)
    )
    return inner.length < minBase64Length ? [] : [inner, inner.replaceAll("+", "-").replaceAll("/", "_")]
  })
}

const entities: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", "\"": "quot", "'": "apos" }

/** Matches a text of which any special character may be escaped as in URLs, forms, JSON or HTML. */
const escaped = (value: string): RegExp =>
  new RegExp(Array.from(value, (char) => /[A-Za-z\d]/.test(char) ? char : anyForm(char)).join(""), "gi")

const anyForm = (char: string): string => {
  const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0")
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index))
  const point = char.codePointAt(0) ?? 0
  const forms = [
    units.map((unit) => `\\u${hex(unit, 4)}`).join(""),
    Array.from(new TextEncoder().encode(char), (byte) => `%${hex(byte, 2)}`).join(""),
    units.map((unit) => `\\\\u${hex(unit, 4)}`).join(""),
    `&#0*${point};`,
    `&#x0*${hex(point, 1)};`,
    ...(char in entities ? [`&${entities[char]};`] : []),
    ...(char === " " ? ["\\+"] : []),
    ...(char === "/" ? ["\\\\/"] : [])
  ]
  return `(?:${forms.join("|")})`
}

/** The secrets in the headers of a signed request, to scrub from its response: the token, and the value of each cookie. */
export const secretsOf = ({ headers }: HttpClientRequest): ReadonlyArray<Redacted.Redacted> => {
  const token = headers["authorization"]?.replace(/^\S+\s+/, "") ?? ""
  const cookies = (headers["cookie"] ?? "").split(";").map((cookie) => cookie.replace(/^[^=]*=/, "").trim())
  return [token, ...cookies].filter((value) => value !== "").map((value) => Redacted.make(value))
}

/** Where the client of PostgreSQL goes with an address that it has accepted: a parameter wins, and what is absent is `undefined`. */
export const hostOf = (url: Redacted.Redacted) => {
  const { hostname, port, searchParams } = new URL(Redacted.value(url))
  const given = searchParams.get("port") ?? port
  return {
    host: searchParams.get("host") ?? (decodeURIComponent(hostname.replace(/^\[(.*)\]$/, "$1")) || undefined),
    port: given === "" ? undefined : Number(given)
  }
}
