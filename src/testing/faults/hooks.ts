/** The changes that a fault makes while the service handles a request. */
import type { EnvelopeEdit } from "../base/envelope.ts"
import type { FakeRequest, FakeResponse } from "../base/message.ts"
import type { TokenBody } from "../base/tokenBody.ts"

/** The points at which the service calls a fault. An absent hook changes nothing. */
export interface FaultHooks {
  /** Responds in place of the service, which never handles the request. */
  readonly replaceResponse?: (request: FakeRequest) => FakeResponse
  /** Runs before the service handles the request. */
  readonly beforeRequest?: () => void
  /** Additional milliseconds before the response. */
  readonly delay?: number
  /** Changes the envelope of a page. */
  readonly editPage?: EnvelopeEdit
  /** Writes a token response. */
  readonly writeToken?: (body: TokenBody) => FakeResponse
  /** Changes a response with status 200. */
  readonly editResponse?: (response: FakeResponse) => FakeResponse
}
