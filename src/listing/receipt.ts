/** What the headers of a page say: the clock of the service, the id of the request, the requests that remain. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { printable } from "../internal/base/printable.ts"
import { scrub } from "../internal/http/secret.ts"
import type { PageResponse } from "../Page.ts"

/** The facts of the request that brought a page; the attempts are counted elsewhere. */
export type Receipt = Omit<PageResponse, "attempts">

/** Reads the headers when they arrive; `secrets` are removed from the texts that are kept. */
export type TakeReceipt = (
  headers: Headers.Headers,
  secrets: () => ReadonlyArray<Redacted.Redacted>
) => Effect.Effect<Receipt>

/**
 * Begins with the request. The service read its data after that, so its clock less the time until the headers came is
 * never later than the data. The wall clock may step meanwhile; the monotonic one does not.
 */
export const beginReceipt: Effect.Effect<TakeReceipt> = Effect.zipWith(
  Clock.currentTimeMillis,
  Clock.monotonicTimeNanos,
  (sentAt, started): TakeReceipt => (headers, secrets) =>
    Effect.map(Clock.monotonicTimeNanos, (arrived) => ({
      asOf: Option.map(dateOf(headers["date"]), (date) => utc(date - Math.ceil(Number(arrived - started) / 1e6))),
      sentAt: utc(sentAt),
      requestId: Option.map(
        Option.fromUndefinedOr(headers["x-request-id"]?.trim() || headers["request-id"]?.trim() || undefined),
        (id) => printable(scrub(id, secrets()))
      ),
      remaining: countOf(headers["ratelimit-remaining"] ?? headers["x-ratelimit-remaining"])
    }))
)

const utc = (millis: number) => DateTime.toUtc(DateTime.makeUnsafe(millis))

/** The form that RFC 9110 asks of every sender. Any other text, which `Date.parse` might read somehow, counts as none. */
const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/

const dateOf = (text: string | undefined): Option.Option<number> => {
  const millis = text !== undefined && httpDate.test(text.trim()) ? Date.parse(text) : NaN
  return Number.isNaN(millis) ? Option.none() : Option.some(millis)
}

const countOf = (text: string | undefined): Option.Option<number> =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Option.some(Number(text)) : Option.none()
