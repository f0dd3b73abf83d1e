import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Layer, Option, Result, Stream } from "effect"
import { Forbidden, InvalidPunch, type ListError, RateLimited, TimePunches } from "../src/index.ts"
import { punch } from "./support/arbitraryPunch.ts"
import { company } from "./support/client.ts"
import { pageOf } from "./support/page.ts"

const none = Option.none()

const page = pageOf(punch().clockedIn, { asOf: none, items: [punch()] })

/** The message of the defect that a program died of. */
const defectOf = <A, E>(program: Effect.Effect<A, E, TimePunches>, mock = Layer.mock(TimePunches)({})) =>
  Effect.map(
    Effect.exit(Effect.provide(program, mock)),
    (exit) => Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "it did not die"
  )

const calls = {
  list: Stream.runDrain(TimePunches.list(company)),
  pages: Stream.runDrain(TimePunches.pages(company)),
  listResults: Stream.runDrain(TimePunches.listResults(company)),
  page: TimePunches.page(company),
  backfill: Stream.runDrain(
    TimePunches.backfill(company, { clockedIn: { gte: punch().clockedIn, lte: punch().clockedIn } }, { concurrency: 1 })
  )
}

describe("a mock of TimePunches", () => {
  it.effect("answers with the members that it is given", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Stream.runCollect(TimePunches.list(company)), [punch()])
      assert.deepStrictEqual(yield* Stream.runCollect(TimePunches.pages(company)), [page])
      assert.deepStrictEqual(yield* TimePunches.page(company), page)
      assert.strictEqual((yield* Stream.runCollect(TimePunches.listResults(company))).length, 2)
    }).pipe(Effect.provide(
      Layer.mock(TimePunches)({
        list: () => Stream.succeed(punch()),
        pages: () => Stream.succeed(page),
        page: () => Effect.succeed(page),
        listResults: () => Stream.make(Result.succeed(punch()), Result.fail(new InvalidPunch({ index: 1, path: "id" })))
      })
    )))

  it.effect("passes the arguments of a call to the member", () =>
    Effect.gen(function*() {
      const requested: Array<unknown> = []
      const mock = Layer.mock(TimePunches)({
        list: (...args) => {
          requested.push(args)
          return Stream.empty
        }
      })
      yield* Effect.provide(Stream.runDrain(TimePunches.list(company, { approved: true }, { pageSize: 3 })), mock)

      assert.deepStrictEqual(requested, [[company, { approved: true }, { pageSize: 3 }]])
    }))

  it.effect("fails with any listing error, made in one line", () =>
    Effect.gen(function*() {
      const forbidden = Layer.mock(TimePunches)({ list: () => Stream.fail(new Forbidden({})) })
      const throttled = Layer.mock(TimePunches)({ page: () => Effect.fail(new RateLimited({})) })

      assert.strictEqual((yield* Effect.provide(Effect.flip(calls.list), forbidden))._tag, "Forbidden")
      assert.strictEqual((yield* Effect.provide(Effect.flip(calls.page), throttled))._tag, "RateLimited")
    }))

  it.effect("dies only where a member that it lacks is run, with its name", () =>
    Effect.gen(function*() {
      for (const [member, call] of Object.entries(calls)) {
        assert.include(
          yield* defectOf<unknown, unknown>(call),
          `TimePunches: Unimplemented method "${member}"`
        )
      }
      const partial = Layer.mock(TimePunches)({ list: () => Stream.empty })
      assert.strictEqual(yield* defectOf(calls.list, partial), "it did not die")
      assert.include(yield* defectOf(calls.page, partial), `Unimplemented method "page"`)
    }))

  it.effect("does not die before a member that it lacks is run", () =>
    Effect.gen(function*() {
      const service = yield* TimePunches

      assert.isDefined(service.list(company))
      assert.isDefined(service.page(company))
    }).pipe(Effect.provide(Layer.mock(TimePunches)({}))))

  it("has a `then`, so it never settles as the result of a promise, as docs/06-testing.md says", () => {
    const service = Effect.runSync(Effect.provide(TimePunches, Layer.mock(TimePunches)({})))

    assert.isFunction(Reflect.get(service, "then"))
  })

  it("lets the promise of a mocked program settle", async () => {
    const mock = Layer.mock(TimePunches)({ list: () => Stream.succeed(punch()) })

    assert.strictEqual(await Effect.runPromise(Effect.provide(Stream.runCount(TimePunches.list(company)), mock)), 1)
  })

  it.effect("replaces the client below a service of the application", () =>
    Effect.gen(function*() {
      class Report
        extends Context.Service<Report, { readonly count: Effect.Effect<number, ListError> }>()("test/Report")
      {
        static readonly layer = Layer.effect(
          Report,
          TimePunches.useSync((punches) => ({ count: Stream.runCount(punches.list(company)) }))
        )
      }
      const mock = Layer.mock(TimePunches)({ list: () => Stream.make(punch(), punch()) })
      const count = yield* Effect.provide(
        Effect.flatMap(Report, (report) => report.count),
        Report.layer.pipe(Layer.provide(mock))
      )

      assert.strictEqual(count, 2)
    }))
})
