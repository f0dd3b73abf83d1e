/** Private names are added to the application's, never in their place. */
import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { Headers, UrlParams } from "effect/http"
import { redactPrivateNames } from "../../../src/internal/telemetry/tracing.ts"

const namesOf = (context: Context.Context<never>) => {
  const redacted = redactPrivateNames(context, ["cursor", "user_id"])
  return {
    headers: Context.get(redacted, Headers.CurrentRedactedNames),
    parameters: Context.get(redacted, UrlParams.CurrentRedactedNames)
  }
}

describe("redactPrivateNames", () => {
  it("adds the private headers and parameters to the defaults", () => {
    const { headers, parameters } = namesOf(Context.empty())

    assert.includeMembers([...headers], ["x-api-key", "authorization", "cookie", "x-company-guid", "location"])
    assert.includeMembers([...parameters], ["cursor", "user_id"])
  })

  it("keeps the names of an application and adds what its list leaves out", () => {
    const { headers, parameters } = namesOf(
      Context.empty().pipe(
        Context.add(Headers.CurrentRedactedNames, ["x-application"]),
        Context.add(UrlParams.CurrentRedactedNames, [/^secret/])
      )
    )

    assert.includeMembers([...headers], ["x-application", "authorization", "set-cookie"])
    assert.deepStrictEqual(parameters, [/^secret/, "cursor", "user_id"])
  })
})
