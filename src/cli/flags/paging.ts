/** How a run is bounded and gone on with: the paging flags, and the words for where it stopped. */
import * as Option from "effect/Option"
import { Cursor } from "../../Ids.ts"
import { maxPageSize } from "../../listing/request.ts"
import { readWhole, text } from "./values.ts"

export const pageSizeFlag = text(
  "page-size",
  "N",
  `Punches asked for in one request, 1 to ${maxPageSize} (default: ${maxPageSize})`,
  `a whole number from 1 to ${maxPageSize}`,
  (value) => Option.filter(readWhole(value), (size) => size >= 1 && size <= maxPageSize)
)

export const fromFlag = text(
  "from",
  "CURSOR",
  "Go on at this cursor, as a message of an earlier run named it",
  "a cursor",
  (value) => Cursor.makeOption(value)
)

/** A shell takes this back as one word, whatever the service puts into its cursors. */
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** How to go on, where there is a place to go on from. */
export const goOnFrom = (cursor: Option.Option<Cursor>): ReadonlyArray<string> =>
  Option.isNone(cursor) ? [] : [`To go on from there, add --from=${quoted(cursor.value)}`]

export const takeFlag = text(
  "take",
  "N",
  "Stop after this many punches",
  "a whole number from 1 on",
  (value) => Option.filter(readWhole(value), (count) => count >= 1)
)
