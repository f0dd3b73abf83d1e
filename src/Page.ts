/** One page of a listing: its punches, its place in the run, its cursors. */
import * as Schema from "effect/Schema"
import { Cursor } from "./Ids.ts"
import { Mark } from "./internal/wire/mark.ts"
import { StoredInstant } from "./internal/wire/schema.ts"
import { Spelling } from "./internal/wire/spelling.ts"
import { TimePunch } from "./TimePunch.ts"

/** The cursors of a page. The walk ends when `next` is `None`. */
export const PageCursor = Schema.Struct({
  /** The cursor that this page was requested with; `None` for the first page. */
  sent: Schema.OptionFromNullOr(Cursor),
  /** What the service calls this page; `None` if it has no name for it. */
  current: Schema.OptionFromNullOr(Cursor),
  /** The page before this one; even a first page may have one. */
  prev: Schema.OptionFromNullOr(Cursor),
  /** The page after this one; `None` on the last page only. */
  next: Schema.OptionFromNullOr(Cursor),
  /** How many rows the service says it sent, with the rows that `lt` drops here; `None` if it does not say. */
  count: Schema.OptionFromNullOr(Schema.Int)
})

export type PageCursor = typeof PageCursor.Type

/** What the response of a page says beside its rows. No other header is kept. */
export const PageResponse = Schema.Struct({
  /**
   * The page has every change before this time of the service's clock: its `Date` header less the time that the request
   * took. `None` without a valid `Date`.
   */
  asOf: Schema.OptionFromNullOr(StoredInstant),
  /** The local clock when the request that brought the page was sent. */
  sentAt: StoredInstant,
  /** The service's name for the request, from `x-request-id` or `request-id`, for its support. */
  requestId: Schema.OptionFromNullOr(Schema.String),
  /** How many requests were sent for the page, at least 1. */
  attempts: Schema.Int,
  /** How many requests the rate limit still allows, from `ratelimit-remaining` or `x-ratelimit-remaining`. */
  remaining: Schema.OptionFromNullOr(Schema.Int),
  /**
   * The version of the interface that answered, as a date, from `x-api-version`; `None` without a valid one. A browser sees it only
   * if the service exposes the header.
   */
  apiVersion: Schema.OptionFromNullOr(Schema.String),
  /** The version that the request asked for; `None` if it named none. */
  askedVersion: Schema.OptionFromNullOr(Schema.String)
})

export type PageResponse = typeof PageResponse.Type

/** One page of a listing. */
export class Page extends Schema.Opaque<Page>()(Schema.Struct({
  /** The punches in the order of the service; may be empty while `cursor.next` is not `None`. */
  items: Schema.Array(TimePunch),
  /** The place of the page in this run, counted from 0. */
  index: Schema.Int,
  /** The cursors of the page, to continue from or to step back. */
  cursor: PageCursor,
  /** What the response says beside its rows: the service's clock, the id of the request, the rate limit. */
  response: PageResponse,
  /**
   * The paths of fields that this version does not know, such as `data[].overtime`: of all rows and breaks of the page, of `meta`
   * and of the page itself. At most 20 paths of 100 characters, and no value.
   */
  unknown: Schema.Array(Schema.String),
  /**
   * Fields of punches and breaks that this version does not know, and that take away: by their name, such as `data[].voided`, or
   * by their state, such as `"deleted"`. Those of null, false, 0, `""` or a text such as `"no"` do not. Absent without one.
   */
  marks: Schema.optionalKey(Schema.Array(Mark)),
  /**
   * How the request asked for deleted punches and others alike; absent if it did not. The client tries the other way if the service
   * refuses one, and sends a cursor in the way that gave it.
   */
  spelling: Schema.optionalKey(Spelling)
})) {}
