/** What a fault changes in the handling of one request. */
import type { FakeRequest, FakeResponse } from "../base/message.ts"
import type { EnvelopeEdit } from "../service/listing.ts"
import type { TokenBody } from "../service/tokens.ts"

/** The places of the handling where a fault can step in. */
export interface Twist {
  /** Answers in place of the service, which never sees the request. */
  readonly instead?: (request: FakeRequest) => FakeResponse
  /** Happens before the request is looked at. */
  readonly before?: () => void
  /** Milliseconds before the answer. */
  readonly delay?: number
  /** Changes a page. */
  readonly page?: EnvelopeEdit
  /** Changes a token response. */
  readonly token?: (body: TokenBody) => FakeResponse
  /** Changes a success. */
  readonly after?: (response: FakeResponse) => FakeResponse
}
