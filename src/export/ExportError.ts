/** What can go wrong between punches and text: a punch that cannot be written, a line that cannot be read. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { printable } from "../internal/base/printable.ts"

/**
 * A punch has no written form, so a program made or changed it: an instant beyond the years 0001 to 9999, a negative
 * wage, an id that is no safe integer. `path` says where, `detail` what was expected; the value is never shown. All
 * punches before it were written, nothing of it was.
 *
 * @since 0.1.0
 */
export class UnwritablePunch
  extends Schema.TaggedError<UnwritablePunch>("effect-time-punches/export/UnwritablePunch")("UnwritablePunch", {
    punchId: Schema.Number,
    path: Schema.String,
    detail: Schema.String
  })
{
  override get message(): string {
    return `punch ${this.punchId} cannot be written: ${at(this.path)}${printable(this.detail)}`
  }
}

/**
 * Line `line` (from 1) is not a punch: no JSON, as when a file was cut; JSON of another shape; or longer than any
 * punch. `path` says where and `punchId` whose, where there is one; the text is never shown. All punches before it
 * were read.
 *
 * @since 0.1.0
 */
export class UnreadableLine
  extends Schema.TaggedError<UnreadableLine>("effect-time-punches/export/UnreadableLine")("UnreadableLine", {
    line: Schema.Int,
    reason: Schema.Literals(["NotJson", "Schema", "TooLong"]),
    path: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed(""))),
    detail: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed(""))),
    punchId: Schema.OptionFromNullOr(Schema.Number).pipe(Schema.withConstructorDefault(Effect.succeed(Option.none())))
  })
{
  override get message(): string {
    const punch = Option.match(this.punchId, { onNone: () => "", onSome: (id) => `, punch ${id}` })
    const detail = this.detail === "" ? "" : `: ${at(this.path)}${printable(this.detail)}`
    return `line ${this.line}${punch} cannot be read (${this.reason})${detail}`
  }
}

const at = (path: string): string => path === "" ? "" : `${printable(path)}: `
