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

/** Headers of every page and event stream: nothing from elsewhere, nothing inline, no frame, no copy in a cache. */
export const pageHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
} as const
