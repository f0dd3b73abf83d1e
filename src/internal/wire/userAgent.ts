/** The version of this package, and the name under which its requests are sent. */

/** The version of `package.json`, which a test compares. A file cannot be read in a browser or a worker. */
export const version = "0.1.0"

/**
 * The header `user-agent`; none in a browser, which has its own name and may ask the service whether it takes another one.
 * Its workers name themselves in the same way.
 */
export const userAgent = (): { readonly "user-agent"?: string } =>
  globalThis.navigator?.userAgent?.startsWith("Mozilla/") === true
    ? {}
    : { "user-agent": `effect-time-punches/${version}` }
