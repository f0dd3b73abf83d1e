/** Calls of untyped code: what they name that does not exist, and what was meant. */
import { assert, describe, it } from "@effect/vitest"
import { Config, DateTime, Effect, Layer, Option, Stream } from "effect"
import { Company, CompanyGuid, CompanyId, Credentials, Endpoints, TimePunches } from "../src/index.ts"
import { unknownKey } from "../src/internal/text/meant.ts"
import { FakeService } from "../src/testing/index.ts"
import { app, company } from "./support/client.ts"
import { environment, surfaces } from "./support/settings.ts"
import { untyped } from "./support/untyped.ts"

const nothingSent = Effect.gen(function*() {
  assert.isEmpty(yield* (yield* FakeService).requests)
})

const march = { gte: DateTime.makeUnsafe("2026-03-01T00:00:00Z"), lt: DateTime.makeUnsafe("2026-03-02T00:00:00Z") }

describe("an option that does not exist", () => {
  it.effect.each<readonly [object, string, string]>([
    [{ page_size: 5 }, "page_size", "is not an option; did you mean pageSize?"],
    [{ pagesize: 5 }, "pagesize", "is not an option; did you mean pageSize?"],
    [{ maxPage: 5 }, "maxPage", "is not an option; did you mean maxPages?"],
    [{ prefetch: 5 }, "prefetch", "is not an option; did you mean prefetchPages?"],
    [{ from: "c" }, "from", "is not an option"]
  ])("is refused by list, pages and listResults: %j", ([options, field, detail]) =>
    Effect.gen(function*() {
      for (const run of [TimePunches.list, TimePunches.pages, TimePunches.listResults]) {
        const error = yield* Effect.flip(
          Stream.runDrain<unknown, unknown, TimePunches>(run(company, {}, untyped(options)))
        )
        assert.deepInclude(error, { _tag: "InvalidRequest", field, detail, companyId: company.id })
      }
      yield* nothingSent
    }).pipe(Effect.provide(app())))

  it.effect("is refused by page and backfill", () =>
    Effect.gen(function*() {
      const page = yield* Effect.flip(TimePunches.page(company, {}, untyped({ from: "c" })))
      const backfill = yield* Effect.flip(
        Stream.runDrain(TimePunches.backfill(company, { clockedIn: march }, untyped({ concurency: 8 })))
      )

      assert.deepInclude(page, { _tag: "InvalidRequest", field: "from", detail: "is not an option" })
      assert.deepInclude(backfill.cause, {
        _tag: "InvalidRequest",
        field: "concurency",
        detail: "is not an option; did you mean concurrency?"
      })
      yield* nothingSent
    }).pipe(Effect.provide(app())))
})

describe("a key that no filter has", () => {
  it.effect.each<readonly [object, string, string]>([
    [{ location_id: 3 }, "location_id", "is not a key of a filter; did you mean locationId?"],
    [{ userID: 3 }, "userID", "is not a key of a filter; did you mean userId?"],
    [{ colour: 3 }, "colour", "is not a key of a filter"],
    [{ clockedIn: { gt: 3 } }, "clockedIn.gt", "is not one of gte, lte, lt; did you mean gte?"],
    [{ businessDate: { begin: 3 } }, "businessDate.begin", "is not one of first, last"]
  ])("is refused: %j", ([filter, field, detail]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TimePunches.page(company, untyped(filter)))

      assert.deepInclude(error, { _tag: "InvalidRequest", field, detail })
      yield* nothingSent
    }).pipe(Effect.provide(app())))

  it("is compared with every name, however long it is", () => {
    assert.strictEqual(unknownKey("x".repeat(100_000), ["pageSize"]), "is not an option")
    assert.strictEqual(unknownKey("", ["from"]), "is not an option")
  })
})

describe("a company that is none", () => {
  it.effect.each(["4021", null, undefined, {}, { guid: company.guid }, { id: "4021" }, true])(
    "is refused as %j, in words",
    (wrong) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(TimePunches.page(untyped(wrong)))

        assert.strictEqual(error.message, "invalid company: a company is a number or { id, guid }")
        yield* nothingSent
      }).pipe(Effect.provide(app()))
  )

  it.effect.each([0, -1, 1.5])(
    "is refused by its number, which its error does not name: %j",
    (id) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(TimePunches.page(untyped(id)))

        assert.match(error.message, /^invalid company\.id: Expected [^[]+$/)
      }).pipe(Effect.provide(app()))
  )

  it.effect("is named if only its guid is wrong", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TimePunches.page(untyped({ id: 7, guid: "?" })))

      assert.strictEqual(error.message, "invalid company.guid: Expected a GUID [company 7]")
    }).pipe(Effect.provide(app())))
})

const guid = "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60"

describe("Company.config", () => {
  it.effect.each<readonly [Record<string, string>, Company]>([
    [{ TIME_PUNCHES_COMPANY_ID: "4021" }, { id: CompanyId.make(4021) }],
    [
      { TIME_PUNCHES_COMPANY_ID: "7", TIME_PUNCHES_COMPANY_GUID: guid },
      { id: CompanyId.make(7), guid: CompanyGuid.make(guid) }
    ]
  ])("reads %j", ([env, expected]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Effect.provide(Company.config, environment(env)), expected)
    }))

  it.effect.each<readonly [Record<string, string>, boolean]>([
    [{}, true],
    [{ TIME_PUNCHES_COMPANY_ID: "" }, true],
    [{ TIME_PUNCHES_COMPANY_ID: "7" }, false]
  ])("is absent for Config.option and Config.withDefault with %j: %s", ([env, isAbsent]) =>
    Effect.gen(function*() {
      const other = { id: CompanyId.make(9) }
      const read = Effect.all([
        Config.option(Company.config),
        Config.withDefault(Company.config, other),
        Config.option(Config.all([Company.config]))
      ])
      const [option, orOther, group] = yield* Effect.provide(read, environment(env))

      assert.deepStrictEqual([Option.isNone(option), orOther === other, Option.isNone(group)], [
        isAbsent,
        isAbsent,
        isAbsent
      ])
    }))

  it.effect("fails with Config.option on what is set and malformed", () =>
    Effect.gen(function*() {
      const env = environment({ TIME_PUNCHES_COMPANY_ID: "x" })
      const error = yield* Effect.flip(Effect.provide(Config.option(Company.config), env))

      assert.include(error.message, "TIME_PUNCHES_COMPANY_ID must be a whole number from 1 on")
    }))

  it.effect.each<readonly [Record<string, string>, string]>([
    [{}, "TIME_PUNCHES_COMPANY_ID is not set"],
    [{ TIME_PUNCHES_COMPANY_ID: "" }, "TIME_PUNCHES_COMPANY_ID is not set"],
    [{ TIME_PUNCHES_COMPANY_GUID: guid }, "TIME_PUNCHES_COMPANY_ID is not set"],
    [{ TIME_PUNCHES_COMPANY_ID: "0" }, "TIME_PUNCHES_COMPANY_ID must be a whole number from 1 on"],
    [{ TIME_PUNCHES_COMPANY_ID: "canary" }, "TIME_PUNCHES_COMPANY_ID must be a whole number from 1 on"],
    [{ TIME_PUNCHES_COMPANY_ID: "7", TIME_PUNCHES_COMPANY_GUID: "canary" }, "TIME_PUNCHES_COMPANY_GUID must be a uuid"]
  ])("names the variable of %j", ([env, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.provide(Company.config, environment(env)))

      assert.include(error.message, message)
      assert.notInclude(surfaces(error), "canary")
    }))
})

describe("a setting of the environment", () => {
  const failing = <A, E, R>(layer: Layer.Layer<A, E, R>, env: Readonly<Record<string, string>>) =>
    Effect.flip(Effect.scoped(Layer.build(Layer.provide(layer, environment(env)))))

  it.effect("that is missing is said to be", () =>
    Effect.gen(function*() {
      const error = yield* failing(Endpoints.layerFromConfig, {})

      assert.include(error.message, "TIME_PUNCHES_BASE_URL is not set")
    }))

  it.effect.each<readonly [string, string]>([
    ["time_punches:read users:reed", "\"users:reed\" is not one; did you mean users:read?"],
    ["admin", "word 1 is not one"],
    ["time_punches:read canary-secret-9", "word 2 is not one"]
  ])("names the bad scope, if it looks like one: %s", ([scopes, text]) =>
    Effect.gen(function*() {
      const error = yield* failing(Credentials.layerFromConfig, {
        TIME_PUNCHES_CLIENT_ID: "client",
        TIME_PUNCHES_CLIENT_SECRET: "secret",
        TIME_PUNCHES_SCOPES: scopes
      }).pipe(Effect.provide(Endpoints.layer({ baseUrl: "http://localhost" })), Effect.provide(FakeService.layerClient))

      assert.include(String(error), text)
      assert.notInclude(surfaces(error), "canary")
    }).pipe(Effect.provide(FakeService.layer({}))))
})
