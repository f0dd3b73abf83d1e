/** The failures between punches and text: a punch that cannot be written, a line that cannot be read. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { printable } from "../internal/base/printable.ts"

/**
 * A punch has no written form, so a program made or changed it: an instant beyond the years 0001 to 9999, a negative
 * wage, an id that is no safe integer. All punches before it were written; nothing of it was.
 *
 * @since 0.1.0
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
}

/**
 * A line is not a punch. All punches before it were read. No text of the line is shown.
 *
 * @since 0.1.0
 */
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
    /** The id of the punch, where the line has one that is a safe integer. Default `None`. */
    punchId: Schema.OptionFromNullOr(Schema.Number).pipe(Schema.withConstructorDefault(Effect.succeed(Option.none())))
  })
{
  /** One line for people, with the number of the line, the reason and, where known, punch, path and expectation. */
  override get message(): string {
    const punch = Option.match(this.punchId, { onNone: () => "", onSome: (id) => `, punch ${id}` })
    const detail = this.detail === "" ? "" : `: ${at(this.path)}${printable(this.detail)}`
    return `line ${this.line}${punch} cannot be read (${this.reason})${detail}`
  }
}

const at = (path: string): string => path === "" ? "" : `${printable(path)}: `
