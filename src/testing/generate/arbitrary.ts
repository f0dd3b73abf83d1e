/** Punches for property tests: the generator of believable punches, driven by whatever draws and shrinks. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { StoredPunch } from "../base/WirePunch.ts"
import { type GenerateOptions, generatePunches } from "./punches.ts"

const seeds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))

/**
 * Lists of at most `maxCount` wire-legal punches of a company, with ids of their own; smaller lists are simpler ones.
 * For `it.effect.prop`, or any other user of `effect/Arbitrary`. `maxCount` is 20 unless set.
 *
 * @since 0.1.0
 */
export const arbitraryPunches = (
  options: Omit<GenerateOptions, "seed" | "count"> & { readonly maxCount?: number | undefined }
): Arbitrary.Arbitrary<ReadonlyArray<StoredPunch>> => {
  const { maxCount = 20, ...shape } = options
  const counts = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxCount }))
  return Arbitrary.map(
    Arbitrary.all({ seed: Arbitrary.schema(seeds), count: Arbitrary.schema(counts) }),
    // `-0` is a whole number to a schema, and no other one to a seed.
    ({ count, seed }) => generatePunches({ ...shape, seed: seed + 0, count: count + 0 })
  )
}
