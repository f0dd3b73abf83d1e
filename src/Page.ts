/** One page of a listing: its punches, its place in the run, its cursors. */
import * as Schema from "effect/Schema"
import { Cursor } from "./Ids.ts"
import { TimePunch } from "./TimePunch.ts"

/**
 * The cursors of a page. The walk ends where `next` is `None`.
 *
 * @since 0.1.0
 */
export const PageCursor = Schema.Struct({
  /** The cursor that this page was requested with; `None` for the first page. */
  sent: Schema.Option(Cursor),
  /** What the service calls this page; `None` where it has no name for it. */
  current: Schema.Option(Cursor),
  /** The page before this one; even a first page may have one. */
  prev: Schema.Option(Cursor),
  /** The page after this one; `None` on the last page only. */
  next: Schema.Option(Cursor),
  /** How many rows the service says it sent, before any that `lt` drops; `None` where it does not say. */
  count: Schema.Option(Schema.Int)
})

/** The cursors of a page, as `PageCursor` decodes them. @since 0.1.0 */
export type PageCursor = typeof PageCursor.Type

/**
 * One page of a listing.
 *
 * @since 0.1.0
 */
export class Page extends Schema.Opaque<Page>()(Schema.Struct({
  /** The punches in the order of the service; may be empty while `cursor.next` is not `None`. */
  items: Schema.Array(TimePunch),
  /** The place of the page in this run, counted from 0. */
  index: Schema.Int,
  /** The cursors of the page, to continue from or to step back. */
  cursor: PageCursor
})) {}
