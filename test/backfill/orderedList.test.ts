import { assert, describe, it } from "@effect/vitest"
import { makeOrderedList } from "../../src/backfill/plan.ts"

const item = (gte: number, name: string) => ({ gte, name })

describe("an ordered list", () => {
  it("sorts what it starts with and what is added, equal items by arrival", () => {
    const initial = [item(2, "a"), item(1, "b"), item(2, "c")]
    const list = makeOrderedList(initial)
    for (const added of [item(2, "d"), item(0, "e"), item(3, "f"), item(1, "g")]) list.add(added)

    assert.deepStrictEqual(list.items.map(({ name }) => name), ["e", "b", "g", "a", "c", "d", "f"])
    assert.deepStrictEqual(initial.map(({ name }) => name), ["a", "b", "c"])
  })

  it("keeps its first item until it is removed", () => {
    const list = makeOrderedList([item(2, "a"), item(1, "b")])

    assert.strictEqual(list.first()?.name, "b")
    assert.strictEqual(list.removeFirst()?.name, "b")
    assert.strictEqual(list.removeFirst()?.name, "a")
    assert.isUndefined(list.first())
    assert.isUndefined(list.removeFirst())
  })
})
