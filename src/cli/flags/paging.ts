/** The flags that bound a run and resume it, and the hint for resuming one. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Cursor } from "../../Ids.ts"
import { maxPageSize } from "../../listing/parameters.ts"
import { shellWord } from "../print/format.ts"
import { setting } from "./connection.ts"
import { readWhole, text, whole, wholeNumber } from "./values.ts"

const sizeVariable = "TIME_PUNCHES_PAGE_SIZE"

/** `usual` is the page size without the flag. */
export const makePageSizeFlag = (usual: string = `${sizeVariable}, else ${maxPageSize}`) =>
  whole("page-size", "N", `Punches to request per page, 1 to ${maxPageSize} (default: ${usual})`, 1, maxPageSize)

/** The page size of the flag, else of the variable, else the largest. */
export const pageSizeOf = (flag: Option.Option<number>) =>
  Option.match(flag, {
    onNone: () =>
      Effect.map(
        setting(sizeVariable, wholeNumber(1, maxPageSize), (text) => readWhole(text, 1, maxPageSize)),
        Option.getOrElse(() => maxPageSize)
      ),
    onSome: Effect.succeed
  })

export const cursorFlag = text(
  "cursor",
  "CURSOR",
  "Resume at this cursor; the message of a failed run prints it",
  "a cursor",
  (value) => Cursor.makeOption(value)
)

/** How to resume at a cursor; empty without one. */
export const resumeHint = (cursor: Option.Option<Cursor>): ReadonlyArray<string> =>
  Option.match(cursor, {
    onNone: () => [],
    onSome: (text) => [
      // An argument ends at the character NUL.
      text.includes("\0")
        ? "It cannot be resumed from there: the cursor contains a NUL, which no argument can."
        : `To resume from there, add --cursor=${shellWord(text)}`
    ]
  })
