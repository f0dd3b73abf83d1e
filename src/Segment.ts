/** A part of the range that is not read yet, and the text that keeps it until a later run. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Cursor } from "./Ids.ts"
import { StoredInstant } from "./internal/wire/schema.ts"

const Segment = Schema.Struct({
  /** The first instant of the part. */
  gte: StoredInstant,
  /** The end of the part: its last instant if `inclusive`, otherwise the first instant after it. */
  until: StoredInstant,
  /** Whether `until` belongs to the part. */
  inclusive: Schema.Boolean,
  /** The cursor of the next page to read; `None` if no page was read. */
  cursor: Schema.OptionFromNullOr(Cursor),
  /** The end that the query of `cursor` named, if it differs from `until`. Absent: `until`. */
  queriedUntil: Schema.optionalKey(StoredInstant),
  /** Whether rows came out of the requested order: the query is then read to its end. Absent: no. */
  unordered: Schema.optionalKey(Schema.Boolean),
  /**
   * If the service ignores the order: the length of its windows, in milliseconds. A resumed run starts with it instead of
   * shorter ones, and does not test the order again. Absent: not known.
   */
  windowLength: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
})

/** What a later run has to read. @internal */
export type Segment = typeof Segment.Type

/** With a fingerprint of the filter and of the segment: a cursor belongs to its query, and an edited part would leave rows out. */
const Text = Schema.fromJsonString(Schema.Struct({ check: Schema.Int, ...Segment.fields }))

const decode = Schema.decodeUnknownOption(Text)

const encode = Schema.encodeSync(Text)

const encodePart = Schema.encodeSync(Schema.fromJsonString(Segment))

/** A 32-bit FNV-1a fingerprint: tells filters apart that differ by accident. @internal */
export const fingerprint = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/** Whether a text is that of a segment. @internal */
export const isSegment = (text: string): boolean => Option.isSome(decode(text))

/** The segment of a text that `textOf` wrote for this filter. Another release may say more, which must not be left out. @internal */
export const segmentOf = (filter: number, text: unknown): Option.Option<Segment> =>
  decode(text).pipe(
    Option.map(({ check: _, ...segment }) => segment),
    Option.filter((segment) => textOf(filter, segment) === text)
  )

/** The text of a segment of this filter. @internal */
export const textOf = (filter: number, segment: Segment): string =>
  encode({ check: fingerprint(`${filter} ${encodePart(segment)}`), ...segment })
