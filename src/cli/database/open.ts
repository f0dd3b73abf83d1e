/** START HERE. What a verb opens before it reads: the form of its result, its names, and a copy or the service. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Format, type FormInput, formOf } from "../flags/form.ts"
import { readNames } from "../flags/names.ts"

/** Opens all that a verb needs. `source`: what it reads, of `openSource` or `openCopy`. A mistake in a flag opens nothing. */
export const open = Effect.fnUntraced(function*<F extends Format, A, E, R>(
  flags: FormInput<F> & { readonly names?: Option.Option<string> },
  forms: readonly [F, ...ReadonlyArray<F>],
  source: Effect.Effect<A, E, R>
) {
  const form = yield* formOf(flags, forms)
  const names = yield* readNames(flags.names ?? Option.none())
  return { ...form, names, ...yield* source }
})
