/** What credentials a request carried. */
import { Effect } from "effect"
import { TimePunches } from "../../src/index.ts"
import { pageRequests } from "./client.ts"

/** What of a request's headers is a credential, or names a company. */
const credentialsOf = (headers: Readonly<Record<string, string>> | undefined) =>
  Object.fromEntries(
    ["authorization", "cookie", "x-company-guid"].flatMap((name) => {
      const value = headers?.[name]
      return value === undefined ? [] : [[name, value]]
    })
  )

/** The credentials that a page request for the company carried. */
export const sent = Effect.fnUntraced(function*(asked: Parameters<typeof TimePunches.page>[0]) {
  yield* Effect.exit(TimePunches.page(asked))
  return credentialsOf((yield* pageRequests).at(-1)?.headers)
})
