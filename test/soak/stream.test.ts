import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Schema } from "effect"
import { transports } from "../simulation/sockets.ts"
import { resultOf, serverOf } from "../support/child.ts"

const Streamed = Schema.Struct({
  count: Schema.Int,
  sum: Schema.Int,
  heaps: Schema.Array(Schema.Int),
  seconds: Schema.Finite,
  rss: Schema.Int
})

const megabyte = 1024 * 1024
const total = 1_000_000

describe("1 000 000 punches", () => {
  it.live.each(transports)("stream over %s with a flat heap", ([transport]) =>
    Effect.gen(function*() {
      const url = yield* serverOf(new URL("pages.server.ts", import.meta.url), `${total}`)
      const result = yield* resultOf(new URL("stream.client.ts", import.meta.url), url, transport, `${total}`)
      const { count, heaps, rss, seconds, sum } = yield* Schema.decodeUnknownEffect(Streamed)(result)
      const growth = (heaps.at(-1) ?? Infinity) - (heaps[1] ?? 0)
      yield* Console.log(
        `${count} punches over ${transport} in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second; ` +
          `heap ${(growth / megabyte).toFixed(2)} MB larger at the end than at a fifth, ` +
          `resident ${Math.round(rss / megabyte)} MB at most`
      )

      assert.strictEqual(count, total)
      assert.strictEqual(sum, total * (total + 1) / 2)
      assert.isBelow(growth, 2 * megabyte, heaps.join(" "))
      // Mostly space that V8 reserves for short-lived objects; the heap above is what remains after a collection.
      assert.isBelow(rss, 512 * megabyte)
    }).pipe(Effect.scoped), 600_000)
})
