import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { defaultCompany, FakeService, type FakeServiceOptions, generatePunches } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { examine, type Lie } from "./support.ts"

const punches = generatePunches({ seed: 8, count: 400, companyId: defaultCompany.id })

const over = (options: FakeServiceOptions = {}) => Effect.provide(FakeService.layer({ punches, ...options }))

const orderOf = (lie: Lie = {}) =>
  Effect.map(examine({ lie }), ({ advice, code, found }) => {
    const [status = "", text = ""] = found.get("order") ?? []
    return { status, text, advice, code }
  })

/** A service whose interface has no `sort_by=id.asc`. */
const refusing = (status: number): Lie => ({
  instead: (query) =>
    query.get("sort_by") === "id.asc"
      ? HttpServerResponse.text(`{"title":"No","status":${status},"detail":"unknown sort_by"}`, {
        status,
        contentType: "application/problem+json"
      })
      : undefined
})

describe("the order that time-punches doctor finds", () => {
  it.effect("is by id, if clock-ins and changes do not follow the ids", () =>
    Effect.gen(function*() {
      const { code, status, text } = yield* orderOf()

      assert.deepStrictEqual([status, text, code], [
        "ok",
        "by id, which no edit changes: sync needs no --sort-by-id",
        0
      ])
    }).pipe(over()))

  for (const defaultOrder of ["clocked_in", "modified"] as const) {
    it.effect(`is by ${defaultOrder}, and --sort-by-id is advised if cursors keep it`, () =>
      Effect.gen(function*() {
        const { advice, code, status, text } = yield* orderOf()

        assert.deepStrictEqual([status, text, code], [
          "warn",
          "not by id, but sort_by=id.asc is kept with a cursor",
          0
        ])
        assert.match(advice, /^Advice: Run time-punches sync with --sort-by-id: .* \[order\]$/)
      }).pipe(over({ defaultOrder, cursors: "record" })))

    it.effect(`is by ${defaultOrder}, and --sort-by-id is advised against if a cursor drops it`, () =>
      Effect.gen(function*() {
        const { advice, code, status, text } = yield* orderOf()

        assert.deepStrictEqual([status, code], ["warn", 0])
        assert.strictEqual(text, "not by id, and sort_by=id.asc is dropped with a cursor")
        assert.match(advice, /^Advice: Run time-punches sync without --sort-by-id, /)
      }).pipe(over({ defaultOrder, order: "dropped" })))
  }

  it.effect.each([400, 422])("says that sort_by=id.asc is refused with status %d", (status) =>
    Effect.gen(function*() {
      const found = yield* orderOf(refusing(status))

      assert.deepStrictEqual([found.status, found.text], ["warn", "not by id, and sort_by=id.asc is refused"])
    }).pipe(over({ defaultOrder: "modified" })))

  it.effect("is not guessed from punches that are clocked in as their ids", () =>
    Effect.gen(function*() {
      const { code, status, text } = yield* orderOf()

      assert.deepStrictEqual([status, code], ["ok", 0])
      assert.strictEqual(text, "not checked: no two punches are clocked in the other way round than by id")
    }).pipe(over({
      punches: Array.from({ length: 30 }, (_, index) =>
        servicePunch({
          id: 1 + index,
          user_id: 1 + index % 3,
          clocked_in: new Date(Date.UTC(2026, 2, 1, index)).toISOString(),
          clocked_out: null
        })),
      defaultOrder: "clocked_in"
    })))

  it.effect("is not judged while the punches that show it change", () =>
    Effect.gen(function*() {
      let asked = 0
      const text = yield* Effect.map(
        examine({
          lie: {
            // The two punches have other notes at each request.
            answer: (page, query) =>
              query.get("sort_by") === "id.asc" && query.get("limit") === "2"
                ? { ...page, data: page.data.map((row) => Object.assign({}, row, { notes: `${asked++}` })) }
                : page
          }
        }),
        ({ found }) => found.get("order")?.[1]
      )

      assert.strictEqual(text, "could not be checked: punches changed meanwhile")
    }).pipe(over({ defaultOrder: "modified", order: "dropped" })))
})
