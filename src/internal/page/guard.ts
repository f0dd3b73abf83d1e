/** Which callers may read a page that a process serves on this machine. */
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`

/** `localhost`, `127.0.0.0/8` or `[::1]`, with any port. */
const host = String.raw`(?:localhost|127(?:\.${octet}){3}|\[::1\])(?::\d{1,5})?`

const hostPattern = new RegExp(`^${host}$`, "i")

const originPattern = new RegExp(`^https?://${host}$`, "i")

/** Whether only this machine can reach an address, through a port: a browser cannot open the path of a socket. */
export const isLoopbackAddress = (address: NetAddress.SocketAddress): boolean =>
  address._tag !== "UnixPathAddress" && NetAddress.isLoopback(address.address)

/**
 * Why a request of another machine is refused, or `undefined`: to an address that others reach, it can name any host in its
 * headers. The address of a connection that was reset is not known: it is refused too.
 */
export const foreignMachine = (address: Option.Option<string>): string | undefined =>
  Option.exists(
      Option.flatMap(address, (text) => Result.getSuccess(NetAddress.ipFromString(text))),
      (ip) => NetAddress.isLoopback(NetAddress.toCanonical(ip))
    )
    ? undefined
    : "this page answers only to the machine that serves it"

/**
 * Why a request to a loopback address is refused, or `undefined`. A page of another site can reach this machine by a
 * name that its site controls and that resolves to it (DNS rebinding): its requests then name that site in `host`, or in `origin`.
 */
export const foreignCaller = (headers: Readonly<Record<string, string | undefined>>): string | undefined => {
  const { host = "", origin } = headers
  if (!hostPattern.test(host)) return "this service answers only to the host localhost, 127.0.0.0/8 or [::1]"
  if (origin !== undefined && !originPattern.test(origin)) {
    return "this service refuses requests from pages of other origins"
  }
  return undefined
}

/**
 * Why a request that a browser sends for a page of another site is refused, or `undefined`: such a page must not read this one. A
 * link of it may open a page of this service. Behind a proxy the page may have any host, and TLS.
 */
export const foreignSite = (
  headers: Readonly<Record<string, string | undefined>>,
  schemes: ReadonlyArray<"http" | "https"> = ["http", "https"]
): string | undefined => {
  const { host = "", origin } = headers
  const site = headers["sec-fetch-site"] ?? "none"
  const isOpened = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document"
  const isForeign = origin === undefined
    ? site !== "same-origin" && site !== "none" && !isOpened
    : !schemes.some((scheme) => origin.toLowerCase() === `${scheme}://${host.toLowerCase()}`)
  return isForeign ? "this page answers only to itself" : undefined
}

/**
 * Why a request to an address that other machines reach is refused, or `undefined`. DNS rebinding needs a name, so it answers to
 * IP addresses, to localhost and to `name`, the one in its settings.
 */
export const foreignName = (
  headers: Readonly<Record<string, string | undefined>>,
  name: string | undefined
): string | undefined => {
  const given = (headers["host"] ?? "").toLowerCase().replace(/:\d{1,5}$/, "")
  return hostPattern.test(given) || /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/.test(given) ||
      given === name?.toLowerCase()
    ? undefined
    : "this page answers only to an IP address, localhost or the name that it listens on"
}

/** Both, for a page of a loopback address: a page on another port of this machine is refused too. */
export const foreignPage = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  foreignCaller(headers) ?? foreignSite(headers, ["http"])

/** Headers of every page and event stream: nothing from elsewhere, nothing inline, no frame, no copy in a cache. */
export const pageHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
} as const
