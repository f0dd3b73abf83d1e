import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema, Stream } from "effect"
import { CompanyId, Credentials, Endpoints, TimePunch, TimePunches } from "../../src/index.ts"
import { arbitraryPunches, defaultCompany, FakeService, toWire } from "../../src/testing/index.ts"

const punches = arbitraryPunches({ companyId: defaultCompany.id, maxCount: 12 })
const decode = Schema.decodeUnknownResult(TimePunch.Wire)

describe("arbitraryPunches", () => {
  it.prop("draws only valid punches with unique ids", [punches], ([drawn]) => {
    assert.isAtMost(drawn.length, 12)
    assert.strictEqual(new Set(drawn.map(({ id }) => id)).size, drawn.length)
    for (const punch of drawn) assert.isTrue(Result.isSuccess(decode(toWire(punch))))
  })

  it.effect.prop("fills a service whose listing has every punch", [punches], ([drawn]) =>
    Effect.gen(function*() {
      const listed = yield* TimePunches.list(CompanyId.make(defaultCompany.id), { deleted: "include" }, { pageSize: 5 })
        .pipe(Stream.map(({ id }) => Number(id)), Stream.runCollect)

      assert.deepStrictEqual(listed, drawn.map(({ id }) => id).toSorted((a, b) => a - b))
    }).pipe(Effect.provide(TimePunches.layer.pipe(
      Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
      Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
      Layer.provide(FakeService.layerClient),
      Layer.provide(FakeService.layer({ punches: drawn }))
    ))))
})
