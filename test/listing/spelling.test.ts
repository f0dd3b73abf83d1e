import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer, Option, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type Cursor, TimePunches } from "../../src/index.ts"
import { FakeService, type FakeServiceOptions, Fault } from "../../src/testing/index.ts"
import { app, client, company, inject, pageRequests } from "../support/client.ts"
import { generatePlain } from "../support/densities.ts"

const punches = generatePlain({ count: 5, companyId: company.id })
  .map((punch, at) => Object.assign(punch, { deleted: at % 2 === 0 }))

/** How each request asked for both, and its cursor. */
const asked = Effect.map(
  pageRequests,
  (all) =>
    all.map(({ query }) =>
      (query["deleted"] === "null" ? "null" : query["include_deleted"] === "true" ? "other" : "neither") +
      (query["cursor"] === undefined ? "" : "+")
    ).join(" ")
)

const list = (cursor?: Option.Option<Cursor>) =>
  Stream.runCollect(TimePunches.list(company, { deleted: "include" }, { pageSize: 2, cursor }))

/** Another client over the same service, which knows nothing yet. */
const layerOfNewProcess = Layer.fresh(client()).pipe(Layer.provide(FakeService.layerClient))

/** The outcome of a listing: how many rows, or the error and its status. */
const outcome = Effect.gen(function*() {
  const fiber = yield* Effect.forkChild(Effect.result(list()))
  yield* TestClock.adjust("5 minutes")
  const result = yield* Fiber.join(fiber)
  if (Result.isSuccess(result)) return `${result.success.length} rows`
  return "status" in result.failure ? `${result.failure._tag} ${result.failure.status}` : result.failure._tag
})

const strict = { nulls: 422 } as const

describe("a listing of deleted punches and others alike", () => {
  const fails = (status: number, ...requests: ReadonlyArray<number>) => inject(Fault.status(status), { requests })

  it.effect.each<
    readonly [
      title: string,
      options: FakeServiceOptions,
      faults: Effect.Effect<void, never, FakeService>,
      requests: string,
      outcome: string,
      next: string
    ]
  >([
    ["is taken", {}, Effect.void, "null null+ null+", "5 rows", "null null+ null+"],
    [
      "refuses null with 422",
      { nulls: 422 },
      Effect.void,
      "null other null other+ other+",
      "5 rows",
      "other other+ other+"
    ],
    [
      "refuses null with 400",
      { nulls: 400 },
      Effect.void,
      "null other null other+ other+",
      "5 rows",
      "other other+ other+"
    ],
    ["has one stray 400", {}, fails(400, 1), "null other null null+ null+", "5 rows", "null null+ null+"],
    [
      "refuses both",
      { ...strict, refuses: ["include_deleted"] },
      Effect.void,
      "null other",
      "UnprocessableEntity 422",
      "null other"
    ],
    [
      "refuses null with 400 and the other with 422",
      { nulls: 400, refuses: ["include_deleted"] },
      Effect.void,
      "null other",
      "UnexpectedStatus 400",
      "null other"
    ],
    [
      "fails the other with 503",
      strict,
      fails(503, 2, 3, 4, 5),
      "null other other other other",
      "ServiceUnavailable 503",
      "null other null other+ other+"
    ],
    [
      "throttles the other",
      strict,
      fails(429, 2, 3, 4, 5),
      "null other other other other",
      "RateLimited 429",
      "null other null other+ other+"
    ],
    [
      "fails null the second time with 503",
      strict,
      fails(503, 3, 4, 5, 6),
      "null other null null null null",
      "ServiceUnavailable 503",
      "null other null other+ other+"
    ],
    ...[401, 403, 404].map((status) =>
      [
        `fails with ${status}`,
        strict,
        fails(status, 1),
        "null",
        `${{ 401: "Unauthorized", 403: "Forbidden", 404: "UnexpectedStatus" }[status]} ${status}`,
        "null other null other+ other+"
      ] as const
    ),
    [
      "fails with 500",
      strict,
      fails(500, 1, 2, 3, 4),
      "null null null null",
      "ServerError 500",
      "null other null other+ other+"
    ],
    ["reads null as false", { nulls: "false" }, Effect.void, "null", "2 rows", "null"]
  ])("by a service that %s", ([, options, faults, requests, result, next]) =>
    Effect.gen(function*() {
      yield* faults
      assert.strictEqual(yield* outcome, result)
      assert.strictEqual(yield* asked, requests)
      yield* outcome
      assert.strictEqual((yield* asked).slice(requests.length + 1), next)
    }).pipe(Effect.provide(app({ punches, ...options }))))

  it.effect("goes back once a spelling that was kept is refused", () =>
    Effect.gen(function*() {
      // Kept: the first and the third request are refused.
      yield* fails(422, 1, 3)
      assert.strictEqual(yield* outcome, "5 rows")
      assert.strictEqual(yield* asked, "null other null other+ other+")
      yield* fails(400, 6, 8)
      assert.strictEqual(yield* outcome, "5 rows")
      assert.strictEqual((yield* asked).split(" ").slice(5).join(" "), "other null other null+ null+")
      yield* outcome
      assert.strictEqual((yield* asked).split(" ").slice(10).join(" "), "null null+ null+")
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("keeps what works for the company, in single pages and a backfill too, and not for another", () =>
    Effect.gen(function*() {
      const page = yield* TimePunches.page(company, { deleted: "include" }, { pageSize: 2 })
      assert.strictEqual(page.spelling, "include_deleted=true")
      yield* TimePunches.page(company, { deleted: "include" }, {
        pageSize: 2,
        cursor: Option.getOrThrow(page.cursor.next)
      })
      assert.strictEqual(yield* asked, "null other null other+")
      const clockedIn = {
        gte: DateTime.makeUnsafe("2000-01-01T00:00:00Z"),
        lt: DateTime.makeUnsafe("2040-01-01T00:00:00Z")
      }
      const rows = yield* Stream.runCollect(
        TimePunches.backfill(company, { deleted: "include", clockedIn }, { concurrency: 2 })
      )
      assert.lengthOf(rows, 5)
      assert.notInclude((yield* asked).slice("null other null other+".length), "null")
      const neither = yield* TimePunches.page(company, { deleted: "only" })
      assert.isUndefined(neither.spelling)
    }).pipe(Effect.provide(app({ punches, ...strict }))))

  it.effect.each(
    [
      ["the usual spelling", {}, "null+ null+"],
      // The cursor is refused beside null, and taken in the other spelling.
      ["the other spelling", strict, "null+ other+ other+"]
    ] as const
  )("continues in a new process with a cursor of %s", ([, options, requests]) =>
    Effect.gen(function*() {
      const page = yield* TimePunches.page(company, { deleted: "include" }, { pageSize: 2 })
      const service = yield* pageRequests
      const rest = yield* Effect.provide(list(page.cursor.next), layerOfNewProcess)
      assert.lengthOf(rest, 3)
      assert.strictEqual((yield* asked).split(" ").slice(service.length).join(" "), requests)
    }).pipe(Effect.provide(app({ punches, ...options }))))

  it.effect("fails with the first refusal of a cursor that both spellings refuse", () =>
    Effect.gen(function*() {
      const page = yield* TimePunches.page(company, { deleted: "include" }, { pageSize: 2 })
      yield* fails(422, 2, 3)
      const error = yield* Effect.flip(Effect.provide(list(page.cursor.next), layerOfNewProcess))

      assert.strictEqual(error._tag, "UnprocessableEntity")
      assert.strictEqual(yield* asked, "null null+ other+")
      assert.deepStrictEqual("resumeFrom" in error && error.resumeFrom, page.cursor.next)
    }).pipe(Effect.provide(app({ punches }))))
})
