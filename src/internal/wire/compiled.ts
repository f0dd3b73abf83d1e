/** Puts a straight-line decoder before a codec, wherever the codec is used; the codec stays the authority. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import * as SchemaParser from "effect/SchemaParser"

/** A value without its brands, which only a schema can give. */
type Bare<A> = A extends number ? number
  : A extends string ? string
  : A extends DateTime.Utc ? A
  : A extends Option.Option<infer B> ? Option.Option<Bare<B>>
  : A extends ReadonlyArray<infer B> ? ReadonlyArray<Bare<B>>
  : A extends object ? { readonly [K in keyof A]: Bare<A[K]> }
  : A

/**
 * Makes `decode` the first decoder of a codec, and returns the codec. What `decode` leaves `undefined` is decoded as
 * the codec is written, and so is everything under a rule for excess keys or without checks, of which `decode` knows
 * nothing. It may refuse what the codec accepts; what it accepts, the codec must accept with an equal value. The
 * compiler holds it to the shape of that value, brands aside; a property test holds it to the rest.
 */
export const compiled =
  <A>(decode: (input: unknown) => Bare<A> | undefined) => <I>(codec: Schema.Codec<A, I>): Schema.Codec<A, I> => {
    // The registry goes by the identity of a syntax tree: under the same one, the codec would find `decode` again.
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
