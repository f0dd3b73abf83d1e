/** `Page.unknown` over each transport. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TimePunches } from "../../src/index.ts"
import { company } from "../support/client.ts"
import { client, threePages, transports } from "../support/transports.ts"
import { rawServer, whole } from "./support/rawServer.ts"

describe.each(transports)("Page.unknown over $transport", ({ http }) => {
  it.live("has the unknown fields of each page", () =>
    Effect.gen(function*() {
      const withMore = (text: string) => text.replace(`"object":`, `"links":{},"object":`)
      const { first, second, third } = threePages
      const server = yield* rawServer({
        answers: ({ line }) =>
          whole(200, withMore(line.includes("to-2") ? second : line.includes("to-3") ? third : first), {
            "content-type": "application/json"
          })
      })
      const pages = yield* Stream.runCollect(TimePunches.pages(company)).pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(pages.map(({ unknown }) => unknown), [["links"], ["links"], ["links"]])
    }))
})
