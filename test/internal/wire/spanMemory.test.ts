import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { makeSpanMemory, type Span } from "../../../src/payroll/PeriodCheck.ts"

interface Named extends Span {
  readonly name: number
}

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Spans = Arbitrary.array(Arbitrary.schema(Schema.Tuple([int(0, 60), int(-2, 9)])), { maxLength: 40 }).pipe(
  Arbitrary.map((parts) => parts.map(([start, length], name): Named => ({ start, end: start + length, name })))
)

/** Whether two spans share a number, counted one by one. */
const share = (a: Span, b: Span): boolean =>
  Array.from({ length: 80 }, (_, now) => now).some((now) =>
    a.start <= now && now < a.end && b.start <= now && now < b.end
  )

/** The spans before each that share time with it: what a memory without a limit finds. */
const expected = (spans: ReadonlyArray<Named>) =>
  spans.map((span, index) => spans.slice(0, index).filter((each) => share(each, span)))

const found = (spans: ReadonlyArray<Named>, limit: number) => spans.map(makeSpanMemory<Named>(limit))

const sortedNames = (spans: ReadonlyArray<Named>) => spans.map(({ name }) => name).toSorted((a, b) => a - b)

describe("A span memory", () => {
  it.prop("finds every overlap of spans in any order, up to its limit", [Spans], ([spans]) => {
    assert.deepStrictEqual(found(spans, spans.length), expected(spans))
  })

  it.prop("finds every overlap of spans in order, whatever its limit", [Spans, int(0, 5)], ([spans, limit]) => {
    const inOrder = spans.toSorted((a, b) => a.start - b.start)

    assert.deepStrictEqual(found(inOrder, limit), expected(inOrder))
  })

  it.prop("says of spans in any order if it may have missed one", [Spans, int(0, 5)], ([spans, limit]) => {
    const exact = expected(spans)
    const memory = makeSpanMemory<Named>(limit)

    for (const [index, span] of spans.entries()) {
      const others = memory(span)
      if (others === undefined) return
      assert.deepStrictEqual(sortedNames(others), sortedNames(exact[index] ?? []))
    }
  })

  it("keeps no more than its limit: of spans apart that return, it says that it may have missed one", () => {
    const apart = Array.from({ length: 5 }, (_, index) => ({ start: index * 10, end: index * 10 + 5 }))
    const memory = makeSpanMemory(4)
    for (const span of apart) assert.deepStrictEqual(memory(span), [])

    // Two of four stay, the nearest to the last one.
    assert.strictEqual(memory({ start: 0, end: 1 }), undefined)
    assert.strictEqual(memory({ start: 20, end: 21 }), undefined)
    assert.deepStrictEqual(memory({ start: 31, end: 32 }), [{ start: 30, end: 35 }])
  })

  it("finds spans apart in the opposite order too", () => {
    const memory = makeSpanMemory(2)

    for (let start = 1000; start > 0; start -= 10) assert.deepStrictEqual(memory({ start, end: start + 10 }), [])
  })

  it("finds the overlaps of many spans in order with a small limit", () => {
    const memory = makeSpanMemory(16)
    let missed = 0
    for (let start = 0; start < 100_000; start++) if (memory({ start, end: start + 2 })?.length !== 1) missed++

    assert.strictEqual(missed, 1)
  })
})
