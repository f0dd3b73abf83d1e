/**
 * A clock-in that is edited while its row is the cursor of a page, on services that look cursors up by position and by
 * record. `EDIT_PLANS=1000` runs so many plans of each kind, and prints the figures of docs/reliability-faults.md.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Stream } from "effect"
import { type BackfillFilter, type TimePunch, TimePunches } from "../../src/index.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { company } from "../support/client.ts"
import { changing, measure, type Reading } from "./edits.ts"

/** Nine punches, with ids 1 to 9, each at the full hour of its id. */
const punches = generatePunches({ count: 9, companyId: defaultCompany.id, deletedShare: 0 }).map((punch, index) =>
  Object.assign({}, punch, { id: index + 1, clocked_in: `2026-03-10T0${index + 1}:00:00Z` })
)

const day = {
  clockedIn: { gte: DateTime.makeUnsafe("2026-03-10T00:00:00Z"), lt: DateTime.makeUnsafe("2026-03-11T00:00:00Z") }
} satisfies BackfillFilter

/** Edits the clock-in of punch 3, the last of the first page, right before the second page is requested. */
const service = (cursors: "position" | "record", clockedIn: string) =>
  changing(
    { punches, cursors },
    (number) => number === 2 ? FakeService.use((fake) => fake.edit([3], { clocked_in: clockedIn })) : Effect.void
  )

const ids = <E, R>(rows: Stream.Stream<TimePunch, E, R>) =>
  Effect.map(Stream.runCollect(rows), (all) => all.map(({ id }) => Number(id)))

const backfilled = ids(TimePunches.backfill(company, day, { concurrency: 1, pageSize: 3 }))

const listed = ids(TimePunches.list(company, day, { pageSize: 3 }))

const later = "2026-03-10T07:30:00Z"
const outside = "2027-01-01T00:00:00Z"

describe("an edit of the clock-in of a cursor's row, on a service with cursors by record", () => {
  it.effect("makes a backfill skip the rows between the old place and the new one, in silence", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* backfilled, [1, 2, 3, 8, 9])
    }).pipe(Effect.provide(service("record", later))))

  it.effect("ends a backfill where it moves the row out of the range, in silence", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* backfilled, [1, 2, 3])
    }).pipe(Effect.provide(service("record", outside))))

  it.effect.each([later, outside])(
    "takes no row from a listing without sort_by (%s)",
    (clockedIn) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* listed, [1, 2, 3, 4, 5, 6, 7, 8, 9])
      }).pipe(Effect.provide(service("record", clockedIn)))
  )
})

describe("the same edit, on a service with cursors by position", () => {
  it.effect("takes no untouched row from a backfill", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* backfilled, [1, 2, 3, 4, 5, 6, 7, 3, 8, 9])
    }).pipe(Effect.provide(service("position", later))))
})

const given = Number(process.env["EDIT_PLANS"] ?? 0)

const figures = Effect.fnUntraced(function*(plans: number, reading: Reading, cursors: "position" | "record") {
  const found = yield* measure(given > 0 ? given : plans, reading, cursors)
  const { failed, lossy } = found
  if (given > 0) {
    process.stdout.write(`${reading}, cursors by ${cursors}: ${given} plans, ${lossy} lost rows, ${failed} failed\n`)
  }
  return found
})

describe("random edits of clock-ins before each request", () => {
  it.effect("take no untouched row from a backfill with cursors by position", () =>
    Effect.gen(function*() {
      const { failed, lossy } = yield* figures(60, "backfill", "position")

      assert.deepStrictEqual([lossy, failed], [0, 0])
    }), 600_000)

  it.effect.each(["position", "record"] as const)(
    "take no untouched row from a listing with cursors by %s",
    (cursors) =>
      Effect.gen(function*() {
        const { failed, lossy } = yield* figures(60, "list", cursors)

        assert.deepStrictEqual([lossy, failed], [0, 0])
      }),
    600_000
  )

  it.effect.each(["backfill", "sorted list"] as const)(
    "take rows from about one %s in fourteen with cursors by record",
    (reading) =>
      Effect.gen(function*() {
        const { lossy, plans } = yield* figures(100, reading, "record")

        assert.isAtLeast(lossy / plans, 0.02)
        assert.isAtMost(lossy / plans, 0.15)
      }),
    600_000
  )
})
