/** Reads a CSV file of the user, such as names or zones. Each mistake is a usage error with the file and the line. */
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import type * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { readInput, warnOfPlanted } from "./file.ts"

/** What `parse` makes of the bytes of the file, if one is given. */
export const readCsvFile = <A>(
  file: Option.Option<string>,
  parse: (bytes: Uint8Array, file: string) => Effect.Effect<A, CommandFailure>
): Effect.Effect<Option.Option<A>, CommandFailure | PlatformError.PlatformError, FileSystem.FileSystem | Stdio.Stdio> =>
  Option.match(file, {
    onNone: () => Effect.succeedNone,
    onSome: (file) =>
      readInput(file).pipe(
        Effect.tap(warnOfPlanted(file)),
        Effect.flatMap((bytes) => parse(bytes, file)),
        Effect.asSome
      )
  })

/** A usage error at a line of a file. The text of a file is data: what controls a terminal is escaped. */
export const wrongLine = (file: string, line: number, what: string): CommandFailure =>
  usage(`${printable(file)}, line ${line}: ${printable(what)}`)

/**
 * Reads the bytes of a CSV file in UTF-8, row by row, as people or a spreadsheet write it: by `,`, or by `;` if the first line
 * has that and no comma. The header must be one of `headers`, with further titles behind it if that ends with `,…`. Each row has as
 * many cells, and maybe empty ones behind them; rows without a text are skipped. `row` returns what
 * is wrong with the cells of a line, or nothing. Returns the titles.
 */
export const parseCsvFile = Effect.fnUntraced(function*(
  bytes: Uint8Array,
  file: string,
  headers: ReadonlyArray<string>,
  row: (cells: ReadonlyArray<string>, line: number, titles: ReadonlyArray<string>) => string | undefined
): Effect.fn.Return<ReadonlyArray<string>, CommandFailure> {
  const text = decoder.decode(bytes)
  const firstBad = text.indexOf("\uFFFD")
  if (firstBad >= 0) return yield* wrongLine(file, lineBreaks(text.slice(0, firstBad)) + 1, notUtf8)

  const delimiter = /^[^,\r\n]*;[^,\r\n]*(?:[\r\n]|$)/.test(text) ? ";" : ","
  const records = yield* Stream.make(text).pipe(
    Stream.pipeThroughChannel(Csv.decodeString({ delimiter, maxRecordSize: Infinity })),
    Stream.runCollect,
    Effect.mapError(({ line, message }) => wrongLine(file, line, message))
  )
  const [header = []] = records
  const titles = header.map((title) => title.trim()).join().replace(/,+$/, "")
  const isMore = headers.some((each) => each.endsWith(",…") && titles.startsWith(each.slice(0, -1)))
  if (!isMore && !headers.includes(titles)) {
    const found = titles === "" ? "an empty line" : titles
    return yield* wrongLine(file, 1, `the columns must be ${headers.join(" or ")}, not ${found}`)
  }

  const names = titles.split(",")
  const again = names.find((name, at) => names.indexOf(name) < at)
  if (again !== undefined) return yield* wrongLine(file, 1, `the column "${again}" is there twice`)
  const width = names.length
  let line = 1 + lineBreaks(header.join())
  for (const cells of records.slice(1)) {
    line += 1
    const at = line
    // A cell in quotes may have line breaks.
    line += lineBreaks(cells.join())
    const used = 1 + cells.findLastIndex((cell) => cell.trim() !== "")
    if (used === 0) continue
    // A spreadsheet writes empty cells behind the others, not in every row.
    const own = cells.slice(0, Math.max(width, used))
    if (own.length !== width) {
      return yield* wrongLine(file, at, `it must have ${width} cells, ${titles}, and has ${own.length}`)
    }
    const what = row(own, at, names)
    if (what !== undefined) return yield* wrongLine(file, at, what)
  }
  return names
})

/** By default a spreadsheet writes the characters of its machine. */
const notUtf8 =
  "this is not UTF-8; in a spreadsheet, save it as \"CSV UTF-8\", or with the character set Unicode (UTF-8)"

const decoder = new TextDecoder()

const lineBreaks = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0
