/** Faults of a token response with status 200. */
import { type FakeResponse, respondJson, respondWith } from "../base/message.ts"
import { respondWithToken, type TokenBody } from "../base/tokenBody.ts"
import type { Fault } from "./Fault.ts"
import type { TokenDefect } from "./shapes.ts"

const ok = (body: object) => respondJson(200, JSON.stringify(body))

const malformed = (body: TokenBody, defect: TokenDefect): FakeResponse => {
  const { access_token, expires_in, token_type } = body
  switch (defect) {
    case "html":
      return respondWith(200, { "content-type": "text/html" }, `<html><body>${access_token}</body></html>`)
    case "empty":
      return respondJson(200, "")
    case "notJson":
      return respondJson(200, `access_token=${access_token}`)
    case "noAccessToken":
      return ok({ token_type, expires_in })
    case "emptyAccessToken":
      return ok({ ...body, access_token: "" })
    case "numberAccessToken":
      return ok({ ...body, access_token: 12_345 })
    case "crlfAccessToken":
      return ok({ ...body, access_token: `${access_token}\r\nx-injected: 1` })
    case "spaceAccessToken":
      return ok({ ...body, access_token: ` ${access_token} ` })
    case "hugeAccessToken":
      return ok({ ...body, access_token: access_token + "a".repeat(1_000_000) })
    case "noTokenType":
      return ok({ expires_in, access_token })
    case "macTokenType":
      return ok({ ...body, token_type: "mac" })
  }
}

/** How a fault writes a token response; `undefined` for other faults. */
export const tokenWriter = (fault: Fault): ((body: TokenBody) => FakeResponse) | undefined => {
  switch (fault._tag) {
    case "TokenMalformed":
      return (body) => malformed(body, fault.defect)
    case "ExpiresIn":
      return (body) => ({ ...respondWithToken(body), body: JSON.stringify({ ...body, expires_in: fault.value }) })
    default:
      return undefined
  }
}
