/** The recipes that no page shows an output of: ids, the shortest test, a handler. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, DateTime, Duration, Effect, Layer, Option, Stream } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { Workflow, WorkflowEngine } from "effect/workflow"
import * as Http from "node:http"
import { join } from "node:path"
import { readWithin } from "../../docs/examples/budget.ts"
import { ofTwoLocations, twoLocations } from "../../docs/examples/filters.ts"
import { countIfAllowed, outcome } from "../../docs/examples/from-promises.ts"
import { makeHandler } from "../../docs/examples/http-api.ts"
import { makeServer as makeCopyServer } from "../../docs/examples/http-copy.ts"
import { makeServer } from "../../docs/examples/http-server.ts"
import { makeServer as makeStreamServer } from "../../docs/examples/http-stream.ts"
import { userFrom, userFromText } from "../../docs/examples/ids.ts"
import { users } from "../../docs/examples/kit.ts"
import { fromEnvironment } from "../../docs/examples/promises.ts"
import { nearForty, soFar } from "../../docs/examples/so-far.ts"
import { storeIn } from "../../docs/examples/sqlite-sync.ts"
import { CopyPunches, layerCopy } from "../../docs/examples/workflow.ts"
import {
  CompanyId,
  Cursor,
  Endpoints,
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
import { environment, served } from "./support/examples.ts"

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
      }).pipe(Effect.scoped)
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
      }).pipe(Effect.timeout("50 seconds"), Effect.scoped)
  )

  const company = CompanyId.make(defaultCompany.id)
  const many = generatePunches({ seed: 9, count: 5000, companyId: company }).map((punch) =>
    Object.assign(punch, { deleted: false, notes: "n".repeat(200) })
  )

  it.live("read within a budget, and continue where the time was over", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Endpoints
      const [calls, ids] = yield* Effect.promise(async () => {
        await using client = fromEnvironment(environment(baseUrl))
        const ids: Array<number> = []
        let next: string | undefined
        for (let calls = 1;; calls++) {
          const state = await readWithin(client, 400, async (punches, after) => {
            await new Promise((resolve) => setTimeout(resolve, 150))
            ids.push(...punches.map(({ id }) => id))
            next = after
          }, next)
          if (state === "complete") return [calls, ids] as const
        }
      })

      assert.isAbove(calls, 1)
      assert.deepStrictEqual(
        ids.toSorted((a, b) => a - b),
        many.slice(0, 1500).map(({ id }) => id).toSorted((a, b) => a - b)
      )
    }).pipe(Effect.provide(served({ punches: many.slice(0, 1500) }))), 60_000)

  it.effect("continue a workflow at its page, and do it once", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const payload = { company, before: DateTime.makeUnsafe("2030-01-01") }
      const written: Array<number> = []
      let isCut = false
      const write = (punches: ReadonlyArray<{ readonly id: number }>) =>
        Effect.gen(function*() {
          if (written.length === 400 && !isCut) {
            isCut = true
            return yield* Workflow.suspend(yield* WorkflowEngine.WorkflowInstance)
          }
          written.push(...punches.map(({ id }) => id))
        })
      const program = Effect.gen(function*() {
        const id = yield* CopyPunches.execute(payload, { discard: true })
        yield* Effect.repeat(CopyPunches.poll(id), { until: Option.isSome, times: 1000 })
        assert.lengthOf(written, 400)
        yield* CopyPunches.resume(id)
        return [yield* CopyPunches.execute(payload), yield* CopyPunches.execute(payload)]
      })
      const counts = yield* Effect.provide(
        program,
        layerCopy(write).pipe(Layer.provideMerge(WorkflowEngine.layerMemory))
      )
      const requests = (yield* service.requests).filter(({ endpoint }) => endpoint === "page")

      assert.deepStrictEqual(counts, [1000, 1000])
      assert.strictEqual(new Set(written).size, 1000)
      assert.lengthOf(written, 1000)
      // Five pages, of which the third was read twice.
      assert.lengthOf(requests, 6)
    }).pipe(Effect.provide(layerTest({ punches: many.slice(0, 1000) }))))

  it.effect("say who comes near 40 hours, and how long overtime is so far", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-03-13T22:00:00Z"))
      const people = yield* soFar(company)

      assert.deepStrictEqual(
        people.toSorted((a, b) => a.userId - b.userId).map(({ incomplete, overToday, week }) => [
          Duration.toHours(week),
          Duration.toHours(overToday),
          incomplete
        ]),
        [[41, 1, 0], [6, 0, 1], [0, 0, 1]]
      )
      assert.deepStrictEqual((yield* nearForty(company)).map(({ userId }) => Number(userId)), [1])
    }).pipe(Effect.provide(layerTest({
      punches: [
        ...[9, 10, 11, 12].map((day) =>
          punch({
            id: day,
            userId: 1,
            clockedIn: `2026-03-${day < 10 ? "0" : ""}${day}T13:00:00Z`,
            clockedOut: `2026-03-${day < 10 ? "0" : ""}${day}T21:00:00Z`
          })
        ),
        punch({ id: 13, userId: 1, clockedIn: "2026-03-13T13:00:00Z", clockedOut: null }),
        punch({ id: 14, userId: 2, clockedIn: "2026-03-13T16:00:00Z", clockedOut: null }),
        punch({ id: 15, userId: 2, clockedIn: "2026-03-12T16:00:00Z", clockedOut: "2026-03-12T15:00:00Z" }),
        // A clock-out that was forgotten on Monday is not 105 hours.
        punch({ id: 16, userId: 3, clockedIn: "2026-03-09T13:00:00Z", clockedOut: null })
      ]
    }))))
})
