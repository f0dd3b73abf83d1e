/** Every row of a large company edited at once: the pass after it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { queries, temporaryFolder } from "../cli/support.ts"
import { resultOf } from "../support/child.ts"

const count = 100_000
const megabyte = 1024 * 1024

const Pass = Schema.Struct({
  complete: Schema.Boolean,
  kind: Schema.String,
  pages: Schema.Int,
  written: Schema.Int,
  unchanged: Schema.Int,
  heaps: Schema.Array(Schema.Int)
})

const punches = generatePunches({ seed: 20, count, companyId: defaultCompany.id })

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

describe("Sync.run after a bulk edit", () => {
  it.live("[Y63] brings 100 000 changed rows in one pass, with the memory of a page", () =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      const service = yield* FakeService
      const file = `${yield* temporaryFolder}/punches.db`
      const pass = Effect.flatMap(
        resultOf(new URL("bulkEdit.client.ts", import.meta.url), url, file, `${count}`),
        Schema.decodeUnknownEffect(Pass)
      )
      const { heaps: _, ...first } = yield* pass
      yield* service.edit(punches.map(({ id }) => id), { notes: "bulk" })
      yield* service.clearRequests
      const { heaps, ...second } = yield* pass
      const sent = yield* queries

      assert.deepStrictEqual(first, { complete: true, kind: "first", pages: 500, written: count, unchanged: 0 })
      assert.deepStrictEqual(second, { complete: true, kind: "increment", pages: 500, written: count, unchanged: 0 })
      assert.lengthOf(sent, 500)
      assert.strictEqual(new Set(sent.map(({ modified_since }) => modified_since)).size, 1)
      assert.lengthOf(heaps, 10)
      // A page of punches has about a third of a megabyte.
      assert.isBelow((heaps.at(-1) ?? Infinity) - (heaps[1] ?? 0), 2 * megabyte, heaps.join(" "))
    }).pipe(Effect.scoped, Effect.provide(served)))
})
