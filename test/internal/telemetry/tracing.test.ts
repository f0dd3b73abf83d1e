/** Spans exist only where a tracer is installed, and record no credential. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Option, Stream, Tracer } from "effect"
import { inspect } from "node:util"
import { isTraced, redactingTracer, span, streamSpan } from "../../../src/internal/telemetry/tracing.ts"
import { recorder } from "../../support/recorder.ts"

const spanName = Effect.map(Effect.option(Effect.currentSpan), Option.map(({ name }) => name))

describe("isTraced", () => {
  it("is false for the tracer of the core, given or not", () => {
    assert.isFalse(isTraced(Context.empty()))
    assert.isFalse(isTraced(Context.make(Tracer.Tracer, Tracer.nativeTracer)))
  })

  it("is true for any other", () => {
    assert.isTrue(isTraced(Context.make(Tracer.Tracer, recorder().tracer)))
  })
})

describe("span", () => {
  it.effect("opens no span without a tracer", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* span(spanName, "a page", {}), Option.none())
    }))

  it.effect("opens a span with its attributes", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recorder()
      const name = yield* Effect.withTracer(span(spanName, "a page", { page: 3 }), tracer)

      assert.deepStrictEqual(name, Option.some("a page"))
      assert.deepStrictEqual(spans.map(({ attributes, name }) => [name, [...attributes]]), [["a page", [["page", 3]]]])
    }))
})

describe("streamSpan", () => {
  it.effect("opens no span without a tracer", () =>
    Effect.gen(function*() {
      const inside = yield* Stream.runCollect(streamSpan(Stream.fromEffect(spanName), "a listing"))

      assert.deepStrictEqual(inside, [Option.none()])
    }))

  it.effect("opens one span around the whole stream", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recorder()
      const values = yield* Effect.withTracer(Stream.runCollect(streamSpan(Stream.make(1, 2, 3), "a listing")), tracer)

      assert.deepStrictEqual(values, [1, 2, 3])
      assert.deepStrictEqual(spans.map(({ name, status }) => [name, status._tag]), [["a listing", "Ended"]])
    }))
})

describe("redactingTracer", () => {
  const secret = { headers: { authorization: "Bearer canary" } }

  /** The only span of an effect under the redacting tracer. */
  const spanOf = (self: Effect.Effect<unknown, unknown>) =>
    Effect.gen(function*() {
      const { spans, tracer } = recorder()
      const redacting = redactingTracer(tracer, () => "a description")
      yield* Effect.exit(Effect.withTracer(Effect.withSpan(self, "GET", { attributes: { a: 1 } }), redacting))
      assert.strictEqual(spans.length, 1)
      const [only] = spans
      const exit = only?.status._tag === "Ended" ? only.status.exit : undefined
      return { exit, attributes: [...only?.attributes ?? []], printed: inspect(only, { depth: Infinity }) }
    })

  it.effect("records a success without its value", () =>
    Effect.gen(function*() {
      const { exit, printed } = yield* spanOf(Effect.succeed(secret))

      assert.deepStrictEqual(exit, Exit.void)
      assert.notInclude(printed, "canary")
    }))

  it.effect("records a failure by its description alone", () =>
    Effect.gen(function*() {
      const { exit, printed } = yield* spanOf(Effect.fail(secret))

      assert.isTrue(exit !== undefined && Exit.isFailure(exit))
      const errors = exit !== undefined && Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : Option.none()
      assert.deepStrictEqual(errors, Option.some("a description"))
      assert.notInclude(printed, "canary")
    }))

  it.effect("records a defect by its description alone", () =>
    Effect.gen(function*() {
      const defect = Object.assign(new Error("canary"), secret)
      const { exit, printed } = yield* spanOf(Effect.die(defect))

      assert.isTrue(exit !== undefined && Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.include(printed, "a description")
      assert.notInclude(printed, "canary")
    }))

  it.effect("records an interruption as one", () =>
    Effect.gen(function*() {
      const { exit } = yield* spanOf(Effect.interrupt)

      assert.isTrue(exit !== undefined && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    }))

  it.effect("passes everything else to the span", () =>
    Effect.gen(function*() {
      const { attributes } = yield* spanOf(Effect.annotateCurrentSpan("b", 2))

      assert.deepStrictEqual(attributes, [["a", 1], ["b", 2]])
    }))

  it.effect("calls the methods of a span on the span itself, which may have private members", () =>
    Effect.gen(function*() {
      const keys: Array<string> = []
      class PrivateSpan extends Tracer.NativeSpan {
        #keys = keys
        override attribute(key: string, value: unknown) {
          this.#keys.push(key)
          super.attribute(key, value)
        }
      }
      const tracer = redactingTracer(Tracer.make({ span: (options) => new PrivateSpan(options) }), () => "failed")
      yield* Effect.withTracer(Effect.withSpan(Effect.annotateCurrentSpan("b", 2), "GET"), tracer)

      assert.include(keys, "b")
    }))
})
