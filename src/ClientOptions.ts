/** The settings of a client as options: what `TimePunches.layerWith` takes. */
import type * as HttpClient from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type { Credentials } from "./Credentials.ts"
import type { RetryOptions } from "./RetryPolicy.ts"

/**
 * The options of `TimePunches.layerWith`. An `undefined` counts as absent.
 *
 * @since 0.1.0
 */
export interface ClientOptions<E, R> {
  /** The base URL of the listing, as in `Endpoints.layer`. */
  readonly baseUrl: string | URL
  /** The base URL of the token endpoint; `baseUrl` by default. */
  readonly authUrl?: string | URL | undefined
  /** One of the layers of `Credentials`, or your own. `Endpoints` is provided to it. */
  readonly credentials: Layer.Layer<Credentials, E, R>
  /** Changes of the default retry policy, as in `RetryPolicy.layer`. Absent: the `RetryPolicy` of the context. */
  readonly retry?: { readonly [Setting in keyof RetryOptions]?: RetryOptions[Setting] | undefined } | undefined
  /**
   * The version that requests name, a date as `YYYY-MM-DD`; `Option.none()` sends none, so that the version of the access
   * token applies. Absent: the `ApiVersion` of the context.
   */
  readonly apiVersion?: string | Option.Option<string> | undefined
  /**
   * Changes the client that sends the page requests; it never sees a token request. It works inside the guards: no
   * redirect is followed, and no trace header sent, whatever it sets. One attempt of `retry` covers all that it does: its own retries and waits
   * count against `attemptTimeout`. It sees the credential in the headers, so trust it as you trust the transport.
   */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
}
