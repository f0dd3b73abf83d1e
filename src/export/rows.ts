/** Between punches and text: rows mapped one by one so that a failure loses no row before it, and the typed failures. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { printable } from "../internal/text/printable.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { TimePunch } from "../TimePunch.ts"

/** Columns that follow those of a punch, such as names. A cell without a value is empty, and null in JSON. */
export interface ExtraColumns {
  readonly columns: ReadonlyArray<string>
  /** As many as `columns`, in their order. */
  readonly cells: (punch: TimePunch) => ReadonlyArray<string | undefined>
}

/** Rows that are written together: some hundred kilobytes, also if a stream comes as one huge chunk. */
const batch = 256

/**
 * Maps every row. The rows before one that fails are emitted first, so what is written does not depend on how the
 * stream was chunked.
 */
export const mapRows = <A, B, E, E2, R>(
  self: Stream.Stream<A, E, R>,
  f: (row: A) => Result.Result<B, E2>
): Stream.Stream<B, E | E2, R> =>
  Stream.transformPull(self, (upstream) =>
    Effect.sync(() => {
      let rows: ReadonlyArray<A> = []
      let at = 0

      // A row that fails behind others stays: the next pull starts with it.
      const emit = (): Pull.Pull<Arr.NonEmptyReadonlyArray<B>, E | E2> => {
        const mapped: Array<B> = []
        for (const row of rows.slice(at, at + batch)) {
          const result = f(row)
          if (Result.isFailure(result)) {
            if (mapped.length === 0) return Effect.fail(result.failure)
            break
          }
          mapped.push(result.success)
        }
        at += mapped.length
        return Arr.isArrayNonEmpty(mapped) ? Effect.succeed(mapped) : pull
      }

      const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<B>, E | E2> = Effect.suspend(() => {
        if (at < rows.length) return emit()
        return Effect.flatMap(upstream, (next) => {
          rows = next
          at = 0
          return emit()
        })
      })
      return pull
    }))

/** Joins the texts of a chunk, so that a sink writes once a chunk. */
export const joined = <E, R>(self: Stream.Stream<string, E, R>): Stream.Stream<string, E, R> =>
  Stream.mapArray(self, (texts) => [texts.join("")])

/**
 * A punch has no written form, so a program made or changed it: an instant beyond the years 0001 to 9999, a negative
 * wage, an id that is not a safe integer. All punches before it were written; nothing of it was.
 */
export class UnwritablePunch
  extends Schema.TaggedError<UnwritablePunch>("effect-time-punches/export/UnwritablePunch")("UnwritablePunch", {
    /** The id of the punch. */
    punchId: Schema.Number,
    /** The field that has no written form, by its wire name, such as `breaks[0].in`. */
    path: Schema.String,
    /** What was expected there; the value is never shown. */
    detail: Schema.String
  })
{
  /** One line for people, with the punch, the path and the expectation. */
  override get message(): string {
    return `punch ${this.punchId} cannot be written: ${at(this.path)}${printable(this.detail)}`
  }

  /** Whether the same punch may be written later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** A line is not a punch. All punches before it were read. No text of the line is shown. */
export class UnreadableLine
  extends Schema.TaggedError<UnreadableLine>("effect-time-punches/export/UnreadableLine")("UnreadableLine", {
    /** The number of the line, counted from 1. */
    line: Schema.Int,
    /** `NotJson`, as when a file was cut; `Schema`, JSON of another shape; `TooLong`, longer than any punch. */
    reason: Schema.Literals(["NotJson", "Schema", "TooLong"]),
    /** The field of another shape, by its wire name, such as `breaks[0].in`. Default empty. */
    path: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed(""))),
    /** What was expected there. Default empty. */
    detail: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed(""))),
    /** The id of the punch, if the line has one that is a safe integer. Default `None`. */
    punchId: Schema.OptionFromNullOr(Schema.Number).pipe(Schema.withConstructorDefault(Effect.succeedNone))
  })
{
  /** One line for people, with the number of the line, the reason and, where known, punch, path and expectation. */
  override get message(): string {
    const punch = Option.match(this.punchId, { onNone: () => "", onSome: (id) => `, punch ${id}` })
    const detail = this.detail === "" ? "" : `: ${at(this.path)}${printable(this.detail)}`
    return `line ${this.line}${punch} cannot be read (${this.reason})${detail}`
  }

  /** Whether the same line may be read later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

const at = (path: string): string => path === "" ? "" : `${printable(path)}: `

const encode = Schema.encodeResult(TimePunch.Wire)

/** A punch in its wire form, or the typed reason why it has none. */
export const toWire = (punch: TimePunch) =>
  Result.mapError(encode(punch), (error) => {
    const { detail, path } = firstIssue(error)
    return new UnwritablePunch({ punchId: punch.id, path, detail })
  })

/** The same with further columns, if there are some, as keys after those of the punch. */
export const toWider = (punch: TimePunch, extra: ExtraColumns | undefined) =>
  Result.map(toWire(punch), (wire) => {
    if (extra === undefined) return wire
    const values = extra.cells(punch)
    return { ...wire, ...Object.fromEntries(extra.columns.map((name, at) => [name, values[at] ?? null])) }
  })

/** The same of a version that may not be there, as a value of JSON. */
export const toVersion = (version: Option.Option<TimePunch>, extra: ExtraColumns | undefined) =>
  Option.match(version, { onNone: () => Result.succeed(null), onSome: (punch) => toWider(punch, extra) })
