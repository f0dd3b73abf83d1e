import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Option, Schema, Stream } from "effect"
import { Ndjson, UnreadableLine, UnwritablePunch } from "../../src/export/index.ts"
import { TimePunchId } from "../../src/Ids.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch, Sample } from "../support/arbitraryPunch.ts"

const named = (id: number, changes: Partial<TimePunch> = {}) => punch({ id: TimePunchId.make(id), ...changes })

/** An instant that RFC 3339 has no year for. */
const unwritable = { clockedIn: DateTime.makeUnsafe("+010000-01-01T00:00:00Z") }

const written = (punches: ReadonlyArray<TimePunch>) => Stream.mkString(Ndjson.encode(Stream.fromArray(punches)))

const read = (...texts: ReadonlyArray<string>) => Stream.runCollect(Ndjson.decode(Stream.fromArray(texts)))

/** What was emitted before a failure, and the failure. */
const upTo = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.gen(function*() {
    const seen: Array<A> = []
    const error = yield* Stream.runForEach(stream, (each) => Effect.sync(() => seen.push(each))).pipe(Effect.flip)
    return { seen, error }
  })

describe("Ndjson.encode", () => {
  it.effect("writes the wire form, one object a line", () =>
    Effect.gen(function*() {
      const text = yield* written([named(1), named(2, { notes: "one\ntwo \u2028 \"three\"" })])
      const lines = text.split("\n")

      assert.strictEqual(lines.length, 3)
      assert.strictEqual(lines[2], "")
      const [first, second] = [JSON.parse(lines[0] ?? ""), JSON.parse(lines[1] ?? "")]
      assert.strictEqual(first.clocked_in, "2026-03-02T08:00:00Z")
      assert.strictEqual(first.user_id, 7)
      assert.strictEqual(second.notes, "one\ntwo \u2028 \"three\"")
    }))

  it.effect("writes nothing for no punches", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Stream.runCollect(Ndjson.encode(Stream.empty)), [])
    }))

  it.effect("writes all punches before one that has no wire form, and nothing of that one", () =>
    Effect.gen(function*() {
      const { error, seen } = yield* upTo(
        Ndjson.encode(Stream.make(named(1), named(2), named(3, unwritable), named(4)))
      )

      assert.strictEqual(seen.join(""), yield* written([named(1), named(2)]))
      assert.instanceOf(error, UnwritablePunch)
      assert.deepStrictEqual([error.punchId, error.path], [3, "clocked_in"])
      assert.strictEqual(
        error.message,
        "punch 3 cannot be written: clocked_in: Expected an instant of the years 0001 to 9999"
      )
    }))

  it.effect("passes the failure of the stream of punches on", () =>
    Effect.gen(function*() {
      const { error, seen } = yield* upTo(Ndjson.encode(Stream.concat(Stream.make(named(1)), Stream.fail("gone"))))

      assert.strictEqual(error, "gone")
      assert.strictEqual(seen.length, 1)
    }))

  it.effect("pulls no more punches than are consumed, and splits a huge chunk", () =>
    Effect.gen(function*() {
      let pulled = 0
      const pages = Stream.range(1, 1000).pipe(
        Stream.rechunk(10),
        Stream.mapArrayEffect((ids) =>
          Effect.sync(() => {
            pulled++
            return ids
          })
        ),
        Stream.map((id) => named(id))
      )
      const texts = yield* Stream.runCollect(Stream.take(Ndjson.encode(pages), 2))
      const whole = yield* Stream.runCollect(
        Ndjson.encode(Stream.fromArray(Array.from({ length: 1000 }, () => named(1))))
      )

      assert.deepStrictEqual(texts.map((text) => text.split("\n").length - 1), [10, 10])
      assert.strictEqual(pulled, 2)
      assert.deepStrictEqual(whole.map((text) => text.split("\n").length - 1), [256, 256, 256, 232])
    }))
})

describe("Ndjson.decode", () => {
  it.effect("accepts blank lines, CRLF, a byte order mark and a last line without an end", () =>
    Effect.gen(function*() {
      const text = yield* written([named(1), named(2)])
      const [first = "", second = ""] = text.split("\n")
      const punches = yield* read(`\uFEFF${first}\r\n\r\n\n`, ` \n${second}`)

      assert.deepStrictEqual(punches, [named(1), named(2)])
    }))

  it.effect("reads nothing from nothing", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read(), [])
      assert.deepStrictEqual(yield* read("", "\n"), [])
    }))

  it.effect("fails at a line that was cut, after the punches before it", () =>
    Effect.gen(function*() {
      const text = yield* written([named(1), named(2)])
      const { error, seen } = yield* upTo(Ndjson.decode(Stream.make(text.slice(0, -20))))

      assert.deepStrictEqual(seen, [named(1)])
      assert.deepStrictEqual(error, new UnreadableLine({ line: 2, reason: "NotJson" }))
      assert.strictEqual(error.message, "line 2 cannot be read (NotJson)")
    }))

  it.effect("names the line, the field and the punch that are of another shape, but no value", () =>
    Effect.gen(function*() {
      const text = (yield* written([named(31)])).replace(
        "\"clocked_in\":\"2026-03-02T08:00:00Z\"",
        "\"clocked_in\":\"secret\""
      )
      const { error } = yield* upTo(Ndjson.decode(Stream.make(`\n\n${text}`)))

      assert.deepStrictEqual(
        { ...error },
        {
          ...new UnreadableLine({
            line: 3,
            reason: "Schema",
            path: "clocked_in",
            detail: "Expected an RFC 3339 date-time with a zone",
            punchId: Option.some(31)
          })
        }
      )
      assert.notInclude(`${error.message} ${JSON.stringify(error)}`, "secret")
    }))

  it.effect("names no punch where the id was rounded to that of another one", () =>
    Effect.gen(function*() {
      const text = (yield* written([named(31)])).replace("\"id\":31", "\"id\":9007199254740993")
      const { error } = yield* upTo(Ndjson.decode(Stream.make(text)))

      assert.instanceOf(error, UnreadableLine)
      assert.deepStrictEqual([error.path, error.punchId], ["id", Option.none()])
    }))

  it.effect("fails at a line without end before it fills the memory", () =>
    Effect.gen(function*() {
      let fed = 0
      const endless = Stream.forever(Stream.sync(() => {
        fed++
        return "x".repeat(1024 * 1024)
      }))
      const { error } = yield* upTo(Ndjson.decode(endless))

      assert.deepStrictEqual(error, new UnreadableLine({ line: 1, reason: "TooLong" }))
      assert.strictEqual(fed, 9)
    }))

  it.effect("does not read half a line as a punch when the text itself fails", () =>
    Effect.gen(function*() {
      const text = yield* written([named(1)])
      const { error, seen } = yield* upTo(Ndjson.decode(Stream.concat(Stream.make(text.trim()), Stream.fail("gone"))))

      assert.strictEqual(error, "gone")
      assert.deepStrictEqual(seen, [])
    }))

  it.effect.prop(
    "reads what Ndjson.encode wrote, whatever the chunks of either",
    {
      samples: Arbitrary.array(Sample, { maxLength: 12 }),
      size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300 }))
    },
    ({ samples, size }) =>
      Effect.gen(function*() {
        const punches = samples.map((sample) => sample.punch)
        const text = yield* Stream.mkString(Ndjson.encode(Stream.rechunk(Stream.fromArray(punches), size)))
        const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
          text.slice(index * size, (index + 1) * size))

        assert.deepStrictEqual(yield* read(...pieces), punches)
      })
  )
})
