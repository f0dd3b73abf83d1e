/** Punches for property tests: the generator of punches as an `Arbitrary`. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { StoredPunch } from "../base/WirePunch.ts"
import { type GenerateOptions, generatePunches } from "./punches.ts"

const seeds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))

/**
 * Lists of at most `maxCount` valid punches of a company, with unique ids; they shrink to shorter lists.
 * For `it.effect.prop`, or any other user of `effect/Arbitrary`.
 *
 * @since 0.1.0
 */
export const arbitraryPunches = (
  options: Omit<GenerateOptions, "seed" | "count"> & {
    /** Largest number of punches. Default: 20. */
    readonly maxCount?: number | undefined
  }
): Arbitrary.Arbitrary<ReadonlyArray<StoredPunch>> => {
  const { maxCount = 20, ...shape } = options
  const counts = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxCount }))
  return Arbitrary.map(
    Arbitrary.all({ seed: Arbitrary.schema(seeds), count: Arbitrary.schema(counts) }),
    // A schema draws `-0`; adding 0 makes it 0.
    ({ count, seed }) => generatePunches({ ...shape, seed: seed + 0, count: count + 0 })
  )
}
