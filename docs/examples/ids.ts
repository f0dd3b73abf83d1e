/** Ids: `make` for literals, a decoder for everything that comes from outside. */
import { Schema } from "effect"
import { LocationId, UserId } from "effect-time-punches"

/** A literal in the code: `make` throws if it is wrong. */
export const berlin = LocationId.make(303)

/** A number from outside, such as a field of JSON: fails with a `SchemaError` that says what was expected. */
export const userFrom = Schema.decodeUnknownEffect(UserId)

/** A text from outside, such as a parameter of a URL. */
export const userFromText = Schema.decodeUnknownEffect(Schema.NumberFromString.pipe(Schema.decodeTo(UserId)))
