/** Lets a straight-line decoder answer for a codec, wherever the codec is used; the codec stays the authority. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import * as SchemaParser from "effect/SchemaParser"

/**
 * The codec itself, which from now on asks `decode` first. What that leaves `undefined` is decoded as the codec is
 * written, and so is everything under a rule for excess keys or without checks, of which `decode` knows nothing. It may
 * refuse what the codec accepts; what it accepts, the codec must accept with an equal value.
 */
export const compiled =
  (decode: (input: unknown) => unknown) => <A, I>(codec: Schema.Codec<A, I>): Schema.Codec<A, I> => {
    // The registry goes by the identity of a syntax tree: under its own, the codec would find `decode` again.
    const interpreted = SchemaParser.decodeUnknownEffect(codec.annotate({}))
    SchemaCompiler.set(codec.ast, {
      decode: (input, { disableChecks, onExcessProperty }) =>
        disableChecks === true || onExcessProperty !== undefined
          ? SchemaCompiler.invalid
          : decode(input) ?? SchemaCompiler.invalid,
      decodeEffect: (input, options) =>
        input === SchemaCompiler.missing ? Effect.succeed(input) : interpreted(input, options)
    })
    return codec
  }
