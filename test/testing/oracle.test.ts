import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, generatePunches, type StoredPunch } from "../../src/testing/index.ts"
import { otherCompany } from "../../src/testing/service/options.ts"
import { densities, generateSpread } from "../support/densities.ts"
import { expectedIds, namedIds } from "../support/oracle.ts"
import { idsOf, walk } from "./support.ts"

const sortable = [
  "id",
  "shift_id",
  "user_id",
  "editable_punch",
  "role_id",
  "location_id",
  "department_id",
  "hourly_wage",
  "approved",
  "clocked_in",
  "clocked_out",
  "notes",
  "auto_clocked_out",
  "tips",
  "pos_type",
  "created",
  "modified",
  "deleted"
] as const

/** An instant of a punch or one millisecond beside it, so that filters meet their boundaries from both sides. */
const near = (random: Prng, text: string) =>
  new Date(Date.parse(text) + random.between(-1, 1)).toISOString().replace(
    "Z",
    random.pick(["Z", "+00:00", "+0000", "+09:00"])
  )

const draw = (random: Prng, punches: ReadonlyArray<StoredPunch>): Record<string, string> => {
  const punch = punches[random.between(0, punches.length - 1)]
  if (punch === undefined) return {}
  const maybe = (share: number, name: string, value: string | null) =>
    value !== null && random.chance(share) ? { [name]: value } : {}
  return {
    // Without a limit a page has twenty rows.
    ...maybe(0.9, "limit", String(random.between(1, random.chance(0.5) ? 7 : 200))),
    ...Object.fromEntries(namedIds(punch).filter(() => random.chance(0.1)).map(([name, id]) => [name, String(id)])),
    ...maybe(0.2, "approved", random.pick(["true", "false", "null"])),
    ...maybe(0.3, "deleted", random.pick(["true", "false", "null"])),
    ...maybe(0.1, "include_deleted", random.pick(["true", "false"])),
    ...maybe(0.15, "modified_since", punch.modified && near(random, punch.modified)),
    ...maybe(0.25, "clocked_in[gte]", near(random, punch.clocked_in)),
    ...maybe(0.25, "clocked_in[lte]", near(random, punch.clocked_in)),
    ...maybe(0.15, "clocked_out[gte]", punch.clocked_out && near(random, punch.clocked_out)),
    ...maybe(0.15, "clocked_out[lte]", punch.clocked_out && near(random, punch.clocked_out)),
    ...maybe(0.2, "business_date_start", near(random, punch.clocked_in).slice(0, 10)),
    ...maybe(0.2, "business_date_end", near(random, punch.clocked_in).slice(0, 10)),
    ...maybe(0.4, "localize_search_time", random.pick(["true", "false"])),
    ...maybe(0.15, "flags", random.pick(["late", "missed_break,late", "auto_clocked_out", "null"])),
    ...maybe(0.15, "employee_approval_statuses", random.pick(["pending", "approved,disputed", "null"])),
    ...maybe(
      0.6,
      "sort_by",
      Array.from({ length: random.between(1, 3) }, () => random.pick(sortable) + random.pick(["", ".asc", ".desc"]))
        .join()
    )
  }
}

describe("a listing of the fake service", () => {
  it.effect("agrees with a plain filter and sort, page by page, forward and backward", () =>
    Effect.gen(function*() {
      let listed = 0
      for (let seed = 0; seed < 200; seed++) {
        const random = prng(seed)
        const options = {
          seed,
          count: random.between(0, 120),
          companyId: defaultCompany.id,
          days: random.between(1, 40)
        }
        const punches = generateSpread({
          ...options,
          density: random.pick(densities),
          openShare: 0.2,
          deletedShare: 0.3
        })
        const others = generatePunches({ seed, count: 20, companyId: otherCompany.id })
        yield* Effect.gen(function*() {
          for (let round = 0; round < 10; round++) {
            const query = draw(random, punches)
            const expected = expectedIds(punches, query)
            const forward = yield* walk(query, "next")
            const backward = yield* walk(query, "prev", forward.at(-1)?.meta.cursor.current ?? undefined)
            const next = forward.map(({ meta }) => meta.cursor.next)

            assert.deepStrictEqual(forward.flatMap((page) => idsOf(page.data)), expected, JSON.stringify(query))
            assert.deepStrictEqual(
              backward.toReversed().map((page) => page.data),
              forward.map((page) => page.data),
              JSON.stringify(query)
            )
            // Only the last page has no `next`, and only the first one no `prev`.
            assert.deepStrictEqual(forward.map(({ meta }) => meta.cursor.current), [null, ...next.slice(0, -1)])
            assert.deepStrictEqual(
              forward.map(({ meta }) => meta.cursor.prev === null),
              forward.map((_, at) => at === 0)
            )
            assert.strictEqual(forward.length, Math.max(1, Math.ceil(expected.length / Number(query["limit"] ?? 20))))
            listed += expected.length
          }
        }).pipe(Effect.provide(FakeService.layer({ punches: [...punches, ...others] })))
      }
      // A generator whose filters match nothing would make every check vacuous.
      assert.isAbove(listed, 20_000)
    }))
})
