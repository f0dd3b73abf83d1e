import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { onFirstRequest } from "../../src/cli/transport.ts"

/** A transport that notes when it is built and closed. */
const noted = (events: Array<string>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.acquireRelease(
      Effect.as(
        Effect.delay(Effect.sync(() => events.push("built")), "1 millis"),
        HttpClient.make((request) =>
          Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(null, { status: 204 })))
        )
      ),
      () => Effect.sync(() => events.push("closed"))
    )
  )

describe("onFirstRequest", () => {
  it.live("builds nothing for a command that sends nothing", () =>
    Effect.gen(function*() {
      const events: Array<string> = []
      yield* Effect.provide(HttpClient.HttpClient, onFirstRequest(noted(events)))

      assert.deepStrictEqual(events, [])
    }))

  it.live("builds one client for concurrent requests, and closes it with the layer", () =>
    Effect.gen(function*() {
      const events: Array<string> = []
      const statuses = yield* Effect.all(
        ["a", "b", "c"].map((path) => Effect.map(HttpClient.get(`https://api.test/${path}`), ({ status }) => status)),
        { concurrency: "unbounded" }
      ).pipe(Effect.provide(onFirstRequest(noted(events))))

      assert.deepStrictEqual(statuses, [204, 204, 204])
      assert.deepStrictEqual(events, ["built", "closed"])
    }))
})
