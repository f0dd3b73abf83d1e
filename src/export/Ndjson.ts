/** Punches to and from newline-delimited JSON: the wire form of a punch, one object a line. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { idOf } from "../internal/wire/decoder.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { TimePunch } from "../TimePunch.ts"
import { type ExtraColumns, joined, mapRows, toWider, toWire, UnreadableLine, type UnwritablePunch } from "./rows.ts"

/**
 * Writes every punch as one line that ends in `\n`, some lines to a text; nothing for no punches. For bytes, append
 * `Stream.encodeText`. A punch that has no wire form fails with `UnwritablePunch`, after the lines of those before it.
 *
 * Law: `decode` after `encode` is identity, whatever the chunks of either.
 */
export const encode = <E, R>(
  punches: Stream.Stream<TimePunch, E, R>
): Stream.Stream<string, E | UnwritablePunch, R> => writeNdjson(punches)

/** `encode` with further columns as keys after those of the punch. `decode` ignores them. @internal */
export const writeNdjson = <E, R>(
  punches: Stream.Stream<TimePunch, E, R>,
  extra?: ExtraColumns
): Stream.Stream<string, E | UnwritablePunch, R> =>
  joined(mapRows(punches, extra === undefined ? toLine : (punch) => toWiderLine(punch, extra)))

/**
 * Reads what `encode` wrote, from texts that may be cut anywhere. Blank lines, `\r\n` and a byte order mark are
 * accepted, and a last line without an end is read. A line that is not a punch fails with `UnreadableLine`, after the
 * punches before it; so does one of more than 8 Mi characters, before it fills the memory.
 *
 * From bytes: `Stream.decodeText` first, which turns invalid UTF-8 into U+FFFD.
 */
export const decode = <E, R>(text: Stream.Stream<string, E, R>): Stream.Stream<TimePunch, E | UnreadableLine, R> =>
  text.pipe(
    // Ends a last line that has no end; the `onHalt` of `mapAccum` would also do so for half a line before a failure.
    Stream.concat(Stream.make("\n")),
    Stream.mapAccum(start, split),
    Stream.filter((line) => line.text.trim() !== ""),
    (lines) => mapRows(lines, toPunch)
  )

const decodePunch = Schema.decodeUnknownResult(TimePunch.Wire)

const toLine = (punch: TimePunch): Result.Result<string, UnwritablePunch> =>
  Result.map(toWire(punch), (wire) => `${JSON.stringify(wire)}\n`)

const toWiderLine = (punch: TimePunch, extra: ExtraColumns): Result.Result<string, UnwritablePunch> =>
  Result.map(toWider(punch, extra), (wire) => `${JSON.stringify(wire)}\n`)

interface Line {
  readonly number: number
  readonly text: string
}

const longest = 8 * 1024 * 1024

const start = (): Line => ({ number: 1, text: "" })

/** Cuts a text into lines; the state is the line that has no end yet. One that is too long is emitted, to fail. */
const split = (rest: Line, text: string): readonly [rest: Line, lines: ReadonlyArray<Line>] => {
  const [head = "", ...tail] = withoutMark(rest, text).split("\n")
  const lines: Array<Line> = [{ number: rest.number, text: rest.text + head }]
  for (const text of tail) lines.push({ number: rest.number + lines.length, text })
  const last = lines.pop() ?? rest
  return last.text.length > longest ? [{ number: last.number, text: "" }, [...lines, last]] : [last, lines]
}

const withoutMark = (rest: Line, text: string): string =>
  rest.number === 1 && rest.text === "" && text.startsWith("\uFEFF") ? text.slice(1) : text

const toPunch = (line: Line): Result.Result<TimePunch, UnreadableLine> => {
  if (line.text.length > longest) return Result.fail(new UnreadableLine({ line: line.number, reason: "TooLong" }))
  const json = parse(line.text)
  if (Result.isFailure(json)) return Result.fail(new UnreadableLine({ line: line.number, reason: "NotJson" }))
  return Result.mapError(decodePunch(json.success), (error) => {
    const { detail, path } = firstIssue(error)
    return new UnreadableLine({ line: line.number, reason: "Schema", path, detail, punchId: idOf(json.success) })
  })
}

/** The parser's own message is dropped: it quotes the text. */
const parse = (text: string): Result.Result<unknown, unknown> => Result.try((): unknown => JSON.parse(text))
