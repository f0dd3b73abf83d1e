/** The one place that looks inside a `Redacted`: to check its characters, to write the cookie header, to scrub. */
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import { invalidSetting } from "../base/setting.ts"

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
export const validateSecret = (
  name: string,
  form: keyof typeof forms,
  secret: Redacted.Redacted
): Effect.Effect<Redacted.Redacted, Config.ConfigError> =>
  isSendable(form, secret)
    ? Effect.succeed(secret)
    : invalidSetting(name, "a secret of visible ASCII characters, without spaces or line ends around it")

export const cookieHeader = (name: string, secret: Redacted.Redacted): string => `${name}=${Redacted.value(secret)}`

/** A text without any of the secrets, in whatever form the other side may have written them. */
export const scrub = (text: string, secrets: ReadonlyArray<Redacted.Redacted>): string =>
  secrets.reduce((clean, secret) => {
    const value = Redacted.value(secret)
    if (value === "") return clean
    const json = JSON.stringify(value).slice(1, -1)
    const whole = [value, json, JSON.stringify(json).slice(1, -1), ...inBase64(value)]
    return whole.reduce((rest, form) => rest.replaceAll(form, redacted), clean).replace(escaped(value), redacted)
  }, text)

const redacted = "<redacted>"

/** The shortest piece of base64 that is not taken for one by chance. */
const shortestBase64 = 8

/** What base64 makes of a text within another, for each of the three places in a group where it may begin. */
const inBase64 = (value: string): ReadonlyArray<string> => {
  const bytes = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("")
  return [0, 1, 2].flatMap((shift) => {
    const inner = btoa("\0".repeat(shift) + bytes).slice(
      shift === 0 ? 0 : shift + 1,
      Math.floor((shift + bytes.length) * 4 / 3)
    )
    return inner.length < shortestBase64 ? [] : [inner, inner.replaceAll("+", "-").replaceAll("/", "_")]
  })
}

const named: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", "\"": "quot", "'": "apos" }

/** Matches a text whose special characters are written as URLs, forms, JSON or HTML write them, also some and some not. */
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
    ...(char in named ? [`&${named[char]};`] : []),
    ...(char === " " ? ["\\+"] : []),
    ...(char === "/" ? ["\\\\/"] : [])
  ]
  return `(?:${forms.join("|")})`
}

/** What a signed request carries in the headers that authenticate it, to be scrubbed from what comes back. */
export const secretsOf = (request: HttpClientRequest): ReadonlyArray<Redacted.Redacted> =>
  [request.headers["authorization"]?.replace(/^\S+\s+/, ""), request.headers["cookie"]?.replace(/^[^=]*=/, "")]
    .filter((value) => value !== undefined)
    .map((value) => Redacted.make(value))
