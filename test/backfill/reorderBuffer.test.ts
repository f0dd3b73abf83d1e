import { assert, describe, it } from "@effect/vitest"
import { makeReorderBuffer } from "../../src/backfill/workers.ts"

/** A buffer with pages at these positions, named by the order in which they were put. */
const bufferOf = (...positions: ReadonlyArray<number>) => {
  const buffer = makeReorderBuffer<string>()
  for (const [index, position] of positions.entries()) buffer.put(position, `page ${index}`)
  return buffer
}

/** Every page that the buffer gives up to a frontier. */
const drained = (buffer: ReturnType<typeof bufferOf>, frontier: number) => {
  const pages: Array<string> = []
  while (buffer.isReady(frontier)) pages.push(buffer.next(frontier) ?? "nothing")
  return pages
}

describe("a reorder buffer", () => {
  it.each<[string, ReadonlyArray<number>, number, ReadonlyArray<string>]>([
    ["pages in the order of their positions", [30, 10, 20], Infinity, ["page 1", "page 2", "page 0"]],
    ["pages at one position in the order of their arrival", [10, 10, 10], Infinity, ["page 0", "page 1", "page 2"]],
    ["pages before and at the frontier", [30, 10, 20], 20, ["page 1", "page 2"]],
    ["no page beyond the frontier", [30, 20], 19, []],
    ["no page of none", [], Infinity, []]
  ])("gives %s", (_, positions, frontier, pages) => {
    const buffer = bufferOf(...positions)

    assert.deepStrictEqual(drained(buffer, frontier), pages)
    assert.strictEqual(buffer.size(), positions.length - pages.length)
    assert.isUndefined(buffer.next(frontier))
  })

  it("gives a page that arrives late before those that wait", () => {
    const buffer = bufferOf(20, 30)
    const first = buffer.next(20)
    buffer.put(25, "late")

    assert.strictEqual(first, "page 0")
    assert.deepStrictEqual(drained(buffer, Infinity), ["late", "page 1"])
  })
})
