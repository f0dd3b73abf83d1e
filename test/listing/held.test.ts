/** What a run holds while it waits for its next page: nothing of the pages before. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { TimePunches } from "../../src/index.ts"
import { client, company } from "../support/client.ts"
import { wirePage, wirePunch } from "../support/wire.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

const pages = 5

describe("a listing", () => {
  it.live("keeps nothing of a page that its consumer has left while the next one is on its way", () =>
    Effect.gen(function*() {
      const emitted: Array<WeakRef<object>> = []
      const held: Array<number> = []
      const turn = Effect.andThen(
        Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
        Effect.sync(collect)
      )
      const transport = HttpClient.make((request) =>
        Effect.gen(function*() {
          yield* turn
          yield* turn
          yield* turn
          held.push(emitted.filter((punch) => punch.deref() !== undefined).length)
          const cursor = held.length < pages ? { next: `after-${held.length}` } : {}
          const page = wirePage([wirePunch({ id: held.length })], cursor)
          return HttpClientResponse.fromWeb(request, Response.json(page))
        })
      )
      const app = Layer.provide(Layer.orDie(client()), Layer.succeed(HttpClient.HttpClient, transport))
      yield* TimePunches.list(company).pipe(
        Stream.runForEachArray(([punch]) => Effect.sync(() => void emitted.push(new WeakRef(punch)))),
        Effect.provide(app)
      )

      assert.lengthOf(emitted, pages)
      assert.deepStrictEqual(held, Array.from({ length: pages }, () => 0))
    }))
})
