/** The examples for code without Effect and for platforms without Node. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Config, Effect, Fiber, Layer, Redacted } from "effect"
import { loopback } from "../../docs/examples/loopback.ts"
import { makeClient } from "../../docs/examples/promises.ts"
import worker from "../../docs/examples/worker.ts"
import { CompanyId, Credentials, Endpoints, Forbidden, TimePunches } from "../../src/index.ts"
import { defaultCompany, FakeService, Fault } from "../../src/testing/index.ts"
import { otherCompany } from "../../src/testing/service/options.ts"
import { environment, punches, served } from "./support/examples.ts"
import { examples } from "./support/pages.ts"

const company = CompanyId.make(defaultCompany.id)

/** A promise client for the service in the context, closed after use. */
const withClient = <A>(use: (client: ReturnType<typeof makeClient<Config.ConfigError>>) => Promise<A>) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Endpoints
    const app = TimePunches.layer.pipe(
      Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
      Layer.provide(Endpoints.layer({ baseUrl })),
      Layer.provide(NodeHttpClient.layerUndici)
    )
    const client = makeClient(app)
    return yield* Effect.ensuring(Effect.promise(() => use(client)), Effect.promise(client.close))
  })

const live = loopback({ punches })

describe("docs/examples/promises.ts", () => {
  it.live("counts and iterates over the same punches", () =>
    Effect.gen(function*() {
      const [counted, ids] = yield* withClient(async ({ count, punches }) => {
        const ids: Array<number> = []
        for await (const punch of punches(company)) ids.push(punch.id)
        return [await count(company), ids] as const
      })

      assert.deepStrictEqual(ids, punches.filter(({ deleted }) => deleted !== true).map(({ id }) => id))
      assert.strictEqual(counted, ids.length)
    }).pipe(Effect.provide(live)))

  it.live("ends the run when the loop ends early", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* withClient(async ({ punches }) => {
        for await (const _ of punches(company)) break
      })

      assert.strictEqual((yield* service.requests).length, 1)
      assert.strictEqual(yield* service.inFlight, 0)
    }).pipe(Effect.provide(live)))

  it.live("rejects with the tagged error", () =>
    Effect.gen(function*() {
      const [counting, looping] = yield* withClient(({ count, punches }) => {
        const other = CompanyId.make(otherCompany.id)
        return Promise.all([
          count(other).catch((error: unknown) => error),
          punches(other).next().catch((error: unknown) => error)
        ])
      })

      assert.instanceOf(counting, Forbidden)
      assert.instanceOf(looping, Forbidden)
    }).pipe(Effect.provide(live)))

  it.live("aborts the request in flight with its signal", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.stallBeforeHeaders)
      const controller = new AbortController()
      const reach = (count: number) =>
        Effect.repeat(Effect.andThen(Effect.sleep("5 millis"), service.inFlight), {
          until: (n) => n === count,
          times: 1000
        })
      const run = yield* Effect.forkChild(
        withClient(({ count }) => count(company, {}, controller.signal).then(() => false, () => true))
      )
      // A busy machine may take long to send the request.
      yield* reach(1)
      controller.abort()
      const aborted = yield* Fiber.join(run)
      yield* reach(0)

      assert.isTrue(aborted)
      assert.strictEqual(yield* service.maxInFlight, 1)
      assert.strictEqual(yield* service.inFlight, 0)
    }).pipe(Effect.provide(live)))
})

const get = Effect.fnUntraced(function*(path: string) {
  const { baseUrl } = yield* Endpoints
  const response = yield* Effect.promise(() =>
    worker.fetch(new Request(`https://worker.example.com${path}`), environment(baseUrl))
  )
  return { status: response.status, text: yield* Effect.promise(() => response.text()) }
})

describe("docs/examples/worker.ts", () => {
  it.live("responds with the cost by location", () =>
    Effect.gen(function*() {
      const { status, text } = yield* get(`/?company=${company}`)
      const costs: ReadonlyArray<{ readonly punches: number; readonly cents: number }> = JSON.parse(text)

      assert.strictEqual(status, 200)
      assert.strictEqual(costs.reduce((sum, { punches }) => sum + punches, 0), 113)
      assert.isTrue(costs.every(({ cents }) => cents > 0))
    }).pipe(Effect.provide(served())))

  it.live("responds to a bad company, a 403 and another failure with different statuses", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      assert.strictEqual((yield* get("/?company=x")).status, 400)
      assert.strictEqual((yield* get("/")).status, 400)

      yield* service.inject(Fault.status(403), { times: 1 })
      assert.deepStrictEqual(yield* get(`/?company=${company}`), { status: 403, text: "Forbidden\n" })
      yield* service.inject(Fault.status(404), { times: 1 })
      assert.deepStrictEqual(yield* get(`/?company=${company}`), { status: 502, text: "UnexpectedStatus\n" })
    }).pipe(Effect.provide(served())))

  it("imports no module of Node", () => {
    const source = examples.find(({ path }) => path.endsWith("/worker.ts"))?.text ?? ""

    assert.match(source, /export default/)
    assert.notMatch(source, /from "(node:|@effect\/platform-node)/)
  })
})
