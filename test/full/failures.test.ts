import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { transports } from "../simulation/sockets.ts"
import { resultOf, serverOf } from "../support/child.ts"

const Leftovers = Schema.Struct({
  failures: Schema.Int,
  heaps: Schema.Array(Schema.Int),
  before: Schema.Array(Schema.String),
  after: Schema.Array(Schema.String),
  tags: Schema.Record(Schema.String, Schema.Int),
  warnings: Schema.Array(Schema.String)
})

const megabyte = 1024 * 1024

describe("10 000 mixed failures", () => {
  it.live.each(transports)("leave no handle and a flat heap over %s", ([transport]) =>
    Effect.gen(function*() {
      const url = yield* serverOf(new URL("faulty.server.ts", import.meta.url))
      const result = yield* resultOf(new URL("failures.client.ts", import.meta.url), url, transport, "10000")
      const { after, before, failures, heaps, tags, warnings } = yield* Schema.decodeUnknownEffect(Leftovers)(result)

      assert.isAtLeast(failures, 10_000)
      assert.isAtLeast(Object.keys(tags).length, 9)
      assert.deepStrictEqual(after, before)
      assert.deepStrictEqual(warnings, [])
      assert.isBelow((heaps.at(-1) ?? Infinity) - (heaps[1] ?? 0), 2 * megabyte, heaps.join(" "))
    }).pipe(Effect.scoped))
})
