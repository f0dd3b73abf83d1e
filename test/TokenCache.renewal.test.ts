import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, References, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import { Fault } from "../src/testing/index.ts"
import { cacheOf, get, injectTokenFault, invalidate, requestTimes, start, textOf } from "./support/tokens.ts"

/** One `get` a second, `times` times: the result of each that needs no wait. */
const everySecond = Effect.fnUntraced(function*(times: number) {
  const answers: Array<string> = []
  for (let second = 0; second < times; second++) {
    const fiber = yield* start
    const exit = fiber.pollUnsafe()
    answers.push(exit === undefined ? "waits" : Exit.isSuccess(exit) ? textOf(exit.value) : "died")
    yield* TestClock.adjust("1 second")
  }
  return answers
})

describe("A background renewal that fails", () => {
  it.effect("keeps the old token in use until its end, and is repeated after 30 seconds", () =>
    Effect.gen(function*() {
      yield* get
      yield* injectTokenFault(Fault.status(400))
      yield* TestClock.adjust("3290 seconds")
      const answers = yield* everySecond(281)

      assert.deepStrictEqual(answers, [
        ...Array.from({ length: 280 }, () => "generation 1"),
        "Rejected 400"
      ])
      assert.deepStrictEqual(yield* requestTimes, [0, 3300, 3330, 3360, 3390, 3420, 3450, 3480, 3510, 3540, 3570])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("has no effect after the next success", () =>
    Effect.gen(function*() {
      yield* get
      yield* injectTokenFault(Fault.status(401), { times: 1 })
      yield* TestClock.adjust("3300 seconds")
      const answers = yield* everySecond(40)

      assert.deepStrictEqual(answers, [
        ...Array.from({ length: 31 }, () => "generation 1"),
        ...Array.from({ length: 9 }, () => "generation 2")
      ])
      yield* TestClock.adjust("3200 seconds")
      assert.strictEqual((yield* get).generation, 2)
      assert.deepStrictEqual(yield* requestTimes, [0, 3300, 3330])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("is logged, without the log annotations of the caller that started it", () =>
    Effect.gen(function*() {
      const lines: Array<readonly [message: unknown, annotations: unknown]> = []
      const logger = Logger.make<unknown, void>(({ fiber, message }) => {
        lines.push([message, fiber.getRef(References.CurrentLogAnnotations)])
      })
      yield* Effect.gen(function*() {
        yield* get
        yield* injectTokenFault(Fault.status(400))
        yield* TestClock.adjust("3300 seconds")
        yield* Effect.annotateLogs(get, { caller: "payroll" })
        yield* TestClock.adjust("1 second")
      }).pipe(Effect.provide(cacheOf()), Effect.provide(Logger.layer([logger])))

      assert.deepStrictEqual(lines, [[["token not renewed ahead of time: Rejected (400)"], {}]])
    }))

  it.effect("starts although the caller that starts it is interrupted at any moment", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 40; turns++) {
        yield* Effect.gen(function*() {
          yield* get
          yield* TestClock.adjust("3300 seconds")
          const caller = yield* Effect.forkChild(Effect.provideService(get, Scheduler.MaxOpsBeforeYield, 5))
          for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
          yield* Fiber.interrupt(caller)
          yield* get
          yield* TestClock.adjust("1 second")
          assert.strictEqual((yield* get).generation, 2, `interrupted after ${turns} turns`)
        }).pipe(Effect.provide(cacheOf()))
      }
    }))

  it.effect("makes no caller wait while it hangs", () =>
    Effect.gen(function*() {
      yield* get
      yield* injectTokenFault(Fault.stallBeforeHeaders)
      yield* TestClock.adjust("3300 seconds")
      const answers = yield* everySecond(60)

      assert.deepStrictEqual(new Set(answers), new Set(["generation 1"]))
      assert.isAtMost((yield* requestTimes).length, 1 + 2 * 3)
    }).pipe(Effect.provide(cacheOf())))

  it.effect("keeps the token that its own waiters get after an invalidate", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* injectTokenFault(Fault.slow("3 seconds"), { times: 1 })
      yield* TestClock.adjust("3300 seconds")
      yield* get
      yield* invalidate(first)
      const waiting = yield* start
      yield* TestClock.adjust("3 seconds")

      assert.strictEqual(textOf(yield* Fiber.join(waiting)), "generation 2")
      assert.strictEqual((yield* get).generation, 2)
      assert.deepStrictEqual(yield* requestTimes, [0, 3300])
    }).pipe(Effect.provide(cacheOf())))
})
