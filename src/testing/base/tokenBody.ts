/** The body of a token response (spec 4.2) before it becomes JSON. */
import { type FakeResponse, respondJson } from "./message.ts"

/** The members of a token response, in its order. */
export interface TokenBody {
  readonly token_type: string
  readonly expires_in: number
  readonly access_token: string
}

/** The response that the spec describes. */
export const respondWithToken = (body: TokenBody): FakeResponse => ({
  ...respondJson(200, JSON.stringify(body)),
  headers: { "content-type": "application/json", "cache-control": "no-store" }
})
