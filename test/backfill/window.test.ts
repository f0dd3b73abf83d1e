import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option } from "effect"
import {
  cutWindow,
  instantAfterUnread,
  isPast,
  observe,
  owns,
  toSegment,
  toWindow,
  unreadRows
} from "../../src/backfill/window.ts"
import { Cursor } from "../../src/index.ts"
import type { Segment } from "../../src/Segment.ts"
import { rowAt, segment } from "./planSimulation.ts"

const start = Date.UTC(2026, 2, 1)
const at = (seconds: number) => start + seconds * 1000
const minute = (inclusive = false) => toWindow(segment(at(0), at(60), inclusive))
const rowsAt = (...seconds: ReadonlyArray<number>) => seconds.map((second, id) => rowAt(at(second), id))
const cursor = Option.some(Cursor.make("c"))

describe("a window", () => {
  it.each<[string, number, boolean, boolean]>([
    ["before its start", -0.001, true, false],
    ["at its start", 0, false, true],
    ["before its end", 59.999, false, true],
    ["at its end, if exclusive", 60, false, false],
    ["at its end, if inclusive", 60, true, true],
    ["after its end", 60.001, true, false]
  ])("owns a row %s: at %d, inclusive %s: %s", (_, seconds, inclusive, expected) => {
    assert.strictEqual(owns(minute(inclusive), at(seconds)), expected)
  })

  const whole = segment(at(0), at(60), true)
  it.each<[string, Segment, boolean]>([
    ["not begun", whole, true],
    ["not begun, of unordered rows", whole, false],
    ["begun", { ...whole, cursor }, true],
    ["begun and cut", { ...whole, cursor, queriedUntil: DateTime.makeUnsafe(at(90)) }, true],
    ["begun, of unordered rows", { ...whole, cursor, unordered: true }, false]
  ])("becomes the segment that it came from: %s", (_, expected, ordered) => {
    assert.deepStrictEqual(toSegment(toWindow(expected), ordered), expected)
  })

  it.each<[string, ReadonlyArray<number>, number, number | undefined]>([
    ["on a whole second", [], 30, 30],
    ["on the next whole second", [], 29.001, 30],
    ["after its start", [], -10, 1],
    ["after the rows that were read", [10, 40], 30, 41],
    ["not where nothing is unread", [10, 59], 30, undefined],
    ["not at its end", [], 60, undefined]
  ])("is cut %s", (_, read, seconds, expected) => {
    const window = minute(true)
    observe(window, rowsAt(...read))
    const rest = cutWindow(window, at(seconds))

    assert.strictEqual(rest?.gte, expected === undefined ? undefined : at(expected))
    assert.deepInclude(
      window,
      expected === undefined
        ? { until: at(60), inclusive: true }
        : { until: at(expected), inclusive: false }
    )
    if (rest !== undefined) {
      assert.deepInclude(rest, { until: at(60), inclusive: true, queriedUntil: at(60), forecast: window.forecast })
    }
    assert.strictEqual(window.queriedUntil, at(60))
  })

  it.each<[string, ReadonlyArray<number>, number, boolean]>([
    ["not past its end with rows before it", [10, 59], 90, false],
    ["past its end with a row at it, if its query reaches further", [10, 60], 90, true],
    ["not past its end with one row at it, if its query ends there", [10, 60], 60, false],
    ["past its end with a page of rows at it, if its query ends there", [60, 60], 60, true],
    ["not past its end with no row", [], 60, false]
  ])("is %s", (_, read, queriedUntil, expected) => {
    const window = { ...minute(), queriedUntil: at(queriedUntil) }
    const rows = rowsAt(...read)
    observe(window, rows)

    assert.strictEqual(isPast(window, rows), expected)
  })

  it.each([
    ["not past an end that it owns with rows at that end", [60, 60], false],
    ["past an end that it owns with a row after it", [60, 60.001], true]
  ])("is %s", (_, read, expected) => {
    const window = { ...minute(true), queriedUntil: at(90) }
    const rows = rowsAt(...read)
    observe(window, rows)

    assert.strictEqual(isPast(window, rows), expected)
  })

  it.each<[ReadonlyArray<number>, ReadonlyArray<number>, boolean]>([
    [[], [], true],
    [[1, 1, 2], [2, 3], true],
    [[1, 3, 2], [], false],
    [[1, 3], [2], false]
  ])("observes whether the pages %j and %j are in order", (first, second, expected) => {
    const window = minute()

    assert.strictEqual([first, second].every((page) => observe(window, rowsAt(...page))), expected)
    assert.strictEqual(window.rows, first.length + second.length)
    assert.strictEqual(window.latest, Math.max(...[...first, ...second].map(at)))
  })

  it("expects rows by its forecast, by its length, or none", () => {
    const begun = { ...minute(), cursor }
    const read = minute()
    observe(read, rowsAt(0, 10, 20, 30))

    assert.deepStrictEqual([minute(), begun].map((window) => unreadRows(window, false)), [0, 0])
    assert.deepStrictEqual([minute(), begun].map((window) => unreadRows(window, true)), [60_000, 0])
    assert.strictEqual(instantAfterUnread(minute(), 30_000), at(30))
    assert.approximately(unreadRows(read, true), 4 * Math.log(2), 1e-9)
    assert.approximately(instantAfterUnread(read, 4 * Math.log(2)), at(60), 1e-3)
  })
})
