/** Names of headers and query parameters whose values print as `<redacted>` in spans and inspections. */
import * as Context from "effect/Context"
import * as Headers from "effect/http/Headers"
import * as UrlParams from "effect/http/UrlParams"

/** Headers that hold a credential, a company's guid, or an address with its query. */
const privateHeaders = ["authorization", "cookie", "set-cookie", "x-company-guid", "location"]

/** Adds the private names to the list of the application: neither must replace the other. */
export const redactPrivateNames = (
  context: Context.Context<never>,
  privateParameters: ReadonlyArray<string>
): Context.Context<never> =>
  context.pipe(
    Context.add(Headers.CurrentRedactedNames, [
      ...Context.get(context, Headers.CurrentRedactedNames),
      ...privateHeaders
    ]),
    Context.add(UrlParams.CurrentRedactedNames, [
      ...Context.get(context, UrlParams.CurrentRedactedNames),
      ...privateParameters
    ])
  )
