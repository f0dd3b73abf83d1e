/** A page as the client reads it, for tests that answer in place of a service. */
import { type DateTime, Option } from "effect"
import type { Cursor, Page, TimePunch } from "../../src/index.ts"

const none = Option.none()

/** The page with these rows; `asOf` is `sentAt`, and `next` is none, unless they are given. */
export const pageOf = (
  sentAt: DateTime.Utc,
  { asOf = Option.some(sentAt), index = 0, items = [], next = none, ...cursor }: {
    readonly asOf?: Option.Option<DateTime.Utc>
    readonly items?: ReadonlyArray<TimePunch>
    readonly index?: number
    readonly sent?: Option.Option<Cursor>
    readonly next?: Option.Option<Cursor>
    readonly count?: Option.Option<number>
  } = {}
): Page => ({
  items,
  index,
  cursor: { sent: none, current: none, prev: none, next, count: none, ...cursor },
  response: { asOf, sentAt, requestId: none, attempts: 1, remaining: none, apiVersion: none, askedVersion: none },
  unknown: []
})
