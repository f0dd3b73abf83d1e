/** The recipes that no page shows an output of: ids, the shortest test, a handler. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Layer, Option, Stream } from "effect"
import { HttpServer } from "effect/http"
import * as Http from "node:http"
import { join } from "node:path"
import { ofTwoLocations, twoLocations } from "../../docs/examples/filters.ts"
import { countIfAllowed, outcome } from "../../docs/examples/from-promises.ts"
import { makeHandler } from "../../docs/examples/http-api.ts"
import { makeServer as makeCopyServer } from "../../docs/examples/http-copy.ts"
import { makeServer } from "../../docs/examples/http-server.ts"
import { makeServer as makeStreamServer } from "../../docs/examples/http-stream.ts"
import { userFrom, userFromText } from "../../docs/examples/ids.ts"
import { users } from "../../docs/examples/kit.ts"
import { storeIn } from "../../docs/examples/sqlite-sync.ts"
import {
  CompanyId,
  Cursor,
  Forbidden,
  type ListError,
  RateLimited,
  TimePunches,
  Unauthorized
} from "../../src/index.ts"
import { Sync } from "../../src/sync/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { layer as layerTest, punch } from "../../src/testing/TestClient.ts"
import { temporaryFolder } from "../cli/support.ts"

const failing = (error: ListError) => Layer.mock(TimePunches)({ list: () => Stream.fail(error) })

const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ TIME_PUNCHES_COMPANY_ID: "4021" }))

const ask = (app: Layer.Layer<TimePunches>, path = "/companies/4021/open") =>
  Effect.promise(async () => {
    const { dispose, handler } = makeHandler(app)
    const response = await handler(new Request(`http://localhost${path}`))
    const body = await response.text()
    await dispose()
    return [response.status, body]
  })

describe("the recipes", () => {
  it.effect("decode ids from outside, and say what was expected", () =>
    Effect.gen(function*() {
      const wrong = yield* Effect.flip(userFrom("7"))

      assert.strictEqual(yield* userFrom(7), 7)
      assert.strictEqual(yield* userFromText("7"), 7)
      assert.include(wrong.message, "Expected")
    }))

  it.effect("list the punches of a test", () =>
    Effect.map(users, (ids) => assert.deepStrictEqual(ids.map(Number), [7])))

  it.effect("list two locations in both ways", () =>
    Effect.gen(function*() {
      const given = [301, 302, 303].map((locationId) =>
        punch({ id: locationId, locationId, clockedIn: "2026-03-02T14:00:00Z" })
      )
      const company = punch({}).companyId
      const both = Stream.runCollect(Stream.map(twoLocations(company), ({ locationId }) => Number(locationId)))
      const filtered = Stream.runCollect(Stream.map(ofTwoLocations(company), ({ locationId }) => Number(locationId)))
      const found = yield* Effect.all([both, filtered]).pipe(Effect.provide(layerTest({ punches: given })))

      assert.deepStrictEqual(found, [[301, 302], [301, 302]])
    }))

  it.effect("handle a failure as a promise would not", () =>
    Effect.gen(function*() {
      const program = Effect.all([countIfAllowed, outcome])
      const [count, text] = yield* Effect.provide(program, Layer.merge(failing(new Forbidden({})), settings))

      assert.strictEqual(count, 0)
      assert.include(text, "403 the credential may not do this")
    }))

  it.effect("answer with the status of a failure and nothing of its text", () =>
    Effect.gen(function*() {
      const secretive = { problem: { detail: "internal text" }, resumeFrom: Option.some(Cursor.make("a-cursor")) }
      const throttled = new RateLimited({ ...secretive, retryAfter: Option.some(Duration.millis(90_001)) })
      const answers = yield* Effect.all([
        ask(
          Layer.mock(TimePunches)({
            list: () => Stream.make(punch({ clockedIn: "2026-03-02T14:00:00Z", clockedOut: null }))
          })
        ),
        ask(failing(throttled)),
        ask(failing(new Forbidden(secretive))),
        ask(failing(new Unauthorized(secretive)))
      ])

      assert.deepStrictEqual(answers, [
        [200, "{\"open\":1}"],
        [503, "{\"_tag\":\"TryLater\",\"seconds\":91}"],
        [403, "{\"_tag\":\"NotGranted\"}"],
        [502, "{\"_tag\":\"BadUpstream\"}"]
      ])
    }))

  it.effect("refuse a company that is not a number", () =>
    Effect.map(ask(failing(new Forbidden({})), "/companies/abc/open"), ([status]) => assert.strictEqual(status, 400)))

  it.live("serve the handler on Node, with one client for all requests", () =>
    Effect.gen(function*() {
      let built = 0
      const app = Layer.unwrap(Effect.sync(() => {
        built++
        return Layer.mock(TimePunches)({ list: () => Stream.make(punch({ clockedOut: null })) })
      }))
      const context = yield* Layer.build(makeServer(app, 0))
      const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
      const port = "port" in address ? address.port : assert.fail(address._tag)
      const answers = yield* Effect.forEach([1, 2], () =>
        Effect.promise(() => fetch(`http://127.0.0.1:${port}/companies/4021/open`).then((answer) => answer.text())))

      assert.deepStrictEqual(answers, ["{\"open\":1}", "{\"open\":1}"])
      assert.strictEqual(built, 1)
    }).pipe(Effect.scoped))

  it.live(
    "stream on Node: the first page decides the status, and a later failure cuts the body",
    () =>
      Effect.gen(function*() {
        const punches = Array.from({ length: 300 }, (_, id) => punch({ id: id + 1 }))
        const client = yield* Layer.build(layerTest({ punches }))
        const service = Context.get(client, FakeService)
        const server = makeStreamServer(Layer.succeedContext(client), 0)
        const { address } = yield* Effect.provideContext(HttpServer.HttpServer, yield* Layer.build(server))
        const port = "port" in address ? address.port : assert.fail(address._tag)
        const get = (path: string) =>
          Effect.promise(async () => {
            const answer = await fetch(`http://127.0.0.1:${port}/companies/${path}/punches`)
            const text = await answer.text().catch(() => "cut")
            return [answer.status, answer.headers.get("content-type"), text] as const
          })

        const [status, type, whole] = yield* get("4021")
        assert.deepStrictEqual([status, type, whole.trimEnd().split("\n").length], [200, "application/x-ndjson", 300])

        // Two pages each: the second page of the second answer, then the first of the third.
        yield* service.inject(Fault.status(403), { requests: [4, 5] })
        assert.deepStrictEqual(yield* get("4021"), [200, "application/x-ndjson", "cut"])
        assert.deepStrictEqual(yield* get("4021"), [
          403,
          "application/problem+json",
          "{\"title\":\"NotGranted\",\"status\":403}"
        ])
        assert.strictEqual((yield* get("abc"))[0], 400)

        yield* service.inject(Fault.status(404))
        assert.strictEqual((yield* get("4021"))[0], 502)
      }).pipe(Effect.scoped),
    20_000
  )

  it.live(
    "stream a copy to callers of whom some never read and some go away, beside a sync",
    () =>
      Effect.gen(function*() {
        const punches = generatePunches({ seed: 4, count: 15_000, companyId: defaultCompany.id, deletedShare: 0 })
        const client = yield* Layer.build(layerTest({ punches }))
        const service = Context.get(client, FakeService)
        const store = storeIn(join(yield* temporaryFolder, "punches.db")).pipe(
          Layer.provideMerge(Layer.succeedContext(client))
        )
        const context = yield* Layer.build(Layer.provideMerge(makeCopyServer(0), store))
        const { address } = Context.get(context, HttpServer.HttpServer)
        const port = "port" in address ? address.port : assert.fail(address._tag)
        const url = `http://127.0.0.1:${port}/punches`
        const get = Effect.promise(async () => {
          const answer = await fetch(url)
          return [answer.status, (await answer.text()).split("\n").length - 1]
        })
        const sync = Effect.provideContext(Sync.run(CompanyId.make(4021)), context)
        const [unready] = yield* get
        yield* sync
        const idle = yield* Effect.forEach([1, 2, 3, 4], () =>
          Effect.acquireRelease(
            Effect.promise(() =>
              new Promise<Http.ClientRequest>((resolve, reject) => {
                const request = Http.get(url, { agent: false }, (response) => {
                  response.pause()
                  resolve(request)
                }).on("error", reject)
              })
            ),
            (request) => Effect.sync(() => request.destroy())
          ))

        yield* service.edit([punches[0]?.id ?? 0], { notes: "later" })
        const { written } = yield* sync
        idle[0]?.destroy()
        const whole = yield* Effect.all([get, get], { concurrency: 2 })

        assert.strictEqual(unready, 503)
        assert.strictEqual(written, 1)
        assert.deepStrictEqual(whole, [[200, 15_000], [200, 15_000]])
      }).pipe(Effect.timeout("25 seconds"), Effect.scoped),
    30_000
  )
})
