/** One page of a listing, and the envelope that carries it on the wire (spec 2.3). */
import * as Schema from "effect/Schema"
import { Cursor } from "./Ids.ts"
import { compiled } from "./internal/wire/compiled.ts"
import { decodeEnvelope } from "./internal/wire/decoder.ts"
import { TimePunch } from "./TimePunch.ts"

/**
 * The cursors of a page (spec 2.3). `sent` is the one that this page was asked with, `current` what the service calls
 * it. The walk ends where `next` is `None`; a first page may well have a `prev`. `count` is the service's own count of
 * the rows it sent, before any that `lt` drops.
 *
 * @since 0.1.0
 */
export const PageCursor = Schema.Struct({
  sent: Schema.Option(Cursor),
  current: Schema.Option(Cursor),
  prev: Schema.Option(Cursor),
  next: Schema.Option(Cursor),
  count: Schema.Option(Schema.Int)
})
export type PageCursor = typeof PageCursor.Type

/**
 * One page of a listing: its punches in the service's order, its place in this run counted from 0, its cursors.
 *
 * @since 0.1.0
 */
export class Page extends Schema.Opaque<Page>()(Schema.Struct({
  items: Schema.Array(TimePunch),
  index: Schema.Int,
  cursor: PageCursor
})) {}

const NullableCursor = Schema.OptionFromNullOr(Cursor)

/** `meta.cursor`: four keys that must all be there, so that a missing `next` is never taken for the end. */
const WireCursor = Schema.Struct({
  current: NullableCursor,
  prev: NullableCursor,
  next: NullableCursor,
  count: Schema.OptionFromNullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
})

const envelopeOf = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({
    object: Schema.String,
    data: Schema.Array(item),
    meta: Schema.Struct({ cursor: WireCursor })
  })

const WireEnvelope = envelopeOf(TimePunch.fromWire)

/** The envelope with every element decoded: one bad row fails the page. @internal */
export const Envelope: Schema.Codec<typeof WireEnvelope.Type, typeof WireEnvelope.Encoded> = WireEnvelope.pipe(
  compiled(decodeEnvelope)
)

/** The envelope with its elements untouched, for those who take the good rows of a page that has a bad one. @internal */
export const RawEnvelope = envelopeOf(Schema.Unknown)
