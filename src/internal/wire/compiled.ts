/** Puts a straight-line decoder and encoder before a codec, wherever it is used; the codec stays the authority. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"

/** A value without its brands, which only a schema can give. */
type Bare<A> = A extends number ? number
  : A extends string ? string
  : A extends DateTime.Utc ? A
  : A extends Option.Option<infer B> ? Option.Option<Bare<B>>
  : A extends ReadonlyArray<infer B> ? ReadonlyArray<Bare<B>>
  : A extends object ? { readonly [K in keyof A]: Bare<A[K]> }
  : A

/** One direction of a codec in straight lines; `undefined` leaves the input to the codec. */
type Straight<A> = (input: unknown) => A | undefined

/**
 * Makes `decode` the first decoder of a codec, `encode` its first encoder, and returns the codec. What they leave
 * `undefined` is read or written as the codec says, and so is everything under a rule for excess keys or without
 * checks, of which they know nothing. They may refuse what the codec accepts; what they accept, the codec must accept
 * with an equal result. The compiler holds them to its shape, brands aside; property tests hold them to the rest.
 */
export const compiled =
  <A, I>({ decode, encode }: { readonly decode: Straight<Bare<A>>; readonly encode?: Straight<I> }) =>
  (codec: Schema.Codec<A, I>): Schema.Codec<A, I> => {
    // The registry goes by the identity of a syntax tree: under the same one, the codec would find them again.
    const twin = codec.annotate({})
    register(codec.ast, decode, SchemaParser.decodeUnknownEffect(twin))
    // To encode is to decode with the flipped tree, of which there is one for each tree.
    if (encode !== undefined) register(SchemaAST.flip(codec.ast), encode, SchemaParser.encodeUnknownEffect(twin))
    return codec
  }

const register = (
  ast: SchemaAST.AST,
  straight: Straight<unknown>,
  interpreted: SchemaCompiler.DecodeEffect
): void =>
  SchemaCompiler.set(ast, {
    decode: (input, { disableChecks, onExcessProperty }) => {
      if (disableChecks === true || onExcessProperty !== undefined) return SchemaCompiler.invalid
      try {
        return straight(input) ?? SchemaCompiler.invalid
      } catch {
        // A getter that throws: the codec may find an issue before it reads that key.
        return SchemaCompiler.invalid
      }
    },
    decodeEffect: (input, options) =>
      input === SchemaCompiler.missing ? Effect.succeed(input) : interpreted(input, options)
  })
