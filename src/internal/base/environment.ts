/** Variables of the environment that need or exclude each other. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { invalidSetting } from "./setting.ts"

/** One of several ways to set something: the variables that it needs, and what they make when all of them are set. */
export interface Kind<A> {
  readonly names: ReadonlyArray<string>
  readonly build: Effect.Effect<A, Config.ConfigError>
}

/** Builds the kind that is set. Fails naming the variables where none is set, several are, or one is set in part. */
export const buildKind = Effect.fnUntraced(function*<A>(what: string, kinds: ReadonlyArray<Kind<A>>) {
  const found = yield* Effect.forEach(kinds, (kind) => Effect.map(given(kind.names), (given) => ({ ...kind, given })))
  const [kind, ...others] = found.filter(({ given }) => given.length > 0)
  if (kind === undefined) {
    return yield* invalidSetting(`one of ${kinds.map(({ names }) => names.join(" with ")).join(", ")}`, "set")
  }
  if (others.length > 0) {
    const firsts = [kind, ...others].map(({ given }) => given[0])
    return yield* invalidSetting(firsts.join(" and "), `one kind of ${what}, not several`)
  }
  yield* areSet(kind.names)
  return yield* kind.build
})

/** Whether the variables, which need each other, are set. Fails naming the one that is missing beside another. */
export const areSet = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
  const set = yield* given(names)
  const missing = names.find((name) => !set.includes(name))
  if (set.length > 0 && missing !== undefined) {
    return yield* invalidSetting(missing, `set beside ${set.join(" and ")}`)
  }
  return missing === undefined
})

/** Those of the variables that are set. */
const given = (names: ReadonlyArray<string>) =>
  Effect.filter(names, (name) => Effect.map(Config.option(Config.Redacted(name)), Option.isSome))
