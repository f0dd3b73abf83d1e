/** The credentials that a request carried. */
import { Effect } from "effect"
import { TimePunches } from "../../src/index.ts"
import { pageRequests } from "./client.ts"

/** The headers of a request that are a credential or name a company. */
const credentialsOf = (headers: Readonly<Record<string, string>> | undefined) =>
  Object.fromEntries(
    ["authorization", "cookie", "x-company-guid"].flatMap((name) => {
      const value = headers?.[name]
      return value === undefined ? [] : [[name, value]]
    })
  )

/** The credentials that a page request for `company` carried. */
export const sent = Effect.fnUntraced(function*(company: Parameters<typeof TimePunches.page>[0]) {
  yield* Effect.exit(TimePunches.page(company))
  return credentialsOf((yield* pageRequests).at(-1)?.headers)
})
