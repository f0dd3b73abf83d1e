/** Which callers may read a page that a process serves on this machine. */
import * as NetAddress from "effect/net/NetAddress"

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`

/** `localhost`, `127.0.0.0/8` or `[::1]`, with any port. */
const host = String.raw`(?:localhost|127(?:\.${octet}){3}|\[::1\])(?::\d{1,5})?`

const hostPattern = new RegExp(`^${host}$`, "i")

const originPattern = new RegExp(`^https?://${host}$`, "i")

/** Whether only this machine can reach an address, through a port: a browser cannot open the path of a socket. */
export const isLoopbackAddress = (address: NetAddress.SocketAddress): boolean =>
  address._tag !== "UnixPathAddress" && NetAddress.isLoopback(address.address)

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
 * The same for what a page of this service reads and sends: a page of any other origin is refused, also one on another port of
 * this machine, except that its link may open a page of this service.
 */
export const foreignPage = (headers: Readonly<Record<string, string | undefined>>): string | undefined => {
  const { host = "", origin } = headers
  const site = headers["sec-fetch-site"] ?? "none"
  const isOpened = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document"
  const isForeign = origin === undefined
    ? site !== "same-origin" && site !== "none" && !isOpened
    : origin.toLowerCase() !== `http://${host.toLowerCase()}`
  return foreignCaller(headers) ?? (isForeign ? "this page answers only to itself" : undefined)
}

/** Headers of every page and event stream: nothing from elsewhere, nothing inline, no frame, no copy in a cache. */
export const pageHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
} as const
