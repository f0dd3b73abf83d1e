/** The envelope that carries a page on the wire: with its rows decoded, or as they came. */
import * as Schema from "effect/Schema"
import { compiled } from "../internal/wire/compiled.ts"
import { decodeEnvelope } from "../internal/wire/decoder.ts"
import { wireEnvelope } from "../internal/wire/schema.ts"
import { TimePunch } from "../TimePunch.ts"

const Punches = wireEnvelope(TimePunch.fromWire)

/** With every row decoded: one bad row fails the page. */
export const Envelope: Schema.Codec<typeof Punches.Type, typeof Punches.Encoded> = Punches.pipe(
  compiled<typeof Punches.Type, typeof Punches.Encoded>({ decode: decodeEnvelope })
)

/** With the rows untouched, to keep the good ones of a page that has a bad one. */
export const RawEnvelope = wireEnvelope(Schema.Unknown)
