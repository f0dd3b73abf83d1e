/** The examples for code without Effect and for platforms without Node. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { costByRole, fromEnvironment, lines, open, PunchProvider } from "../../docs/examples/promises.ts"
import worker from "../../docs/examples/worker.ts"
import { CompanyId, Endpoints } from "../../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { environment, punches, served } from "./support/examples.ts"
import { examples } from "./support/pages.ts"

const company = CompanyId.make(defaultCompany.id)

describe("docs/examples/promises.ts", () => {
  const now = new Date(Date.now() - 3_600_000)
  const [wire] = generatePunches({ seed: 3, count: 1, companyId: defaultCompany.id })
  if (wire === undefined) throw new Error("no punch was made")
  const working = [{
    ...wire,
    id: 900_001,
    clocked_in: now.toISOString(),
    clocked_out: null,
    breaks: [],
    deleted: false
  }]

  const pause = (id: number, from: string, to: string) => ({
    id,
    user_id: wire.user_id,
    custom_break_id: 0,
    paid: false,
    in: `2026-03-02T${from}:00Z`,
    out: `2026-03-02T${to}:00Z`
  })

  it.live("finds who is clocked in, writes lines, and closes with its framework", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Endpoints
      const [found, written, closed] = yield* Effect.promise(async () => {
        const provider = new PunchProvider(fromEnvironment(environment(baseUrl)))
        const found = await open(provider.client)
        const written: Array<string> = []
        for await (const line of lines(provider.client.list())) written.push(line)
        await provider.onModuleDestroy()
        return [found, written, await open(provider.client).catch(String)] as const
      })

      assert.deepStrictEqual([...found], working.map(({ user_id }) => [Number(user_id), now]))
      assert.lengthOf(written, punches.filter(({ deleted }) => deleted !== true).length + 1)
      assert.strictEqual(JSON.parse(written[0] ?? "").companyId, defaultCompany.id)
      assert.strictEqual(closed, "ClientClosed: the client is closed")
    }).pipe(Effect.provide(served({ punches: [...punches, ...working] }))))

  it.live("sums the cost of each role, and names the punches that have none yet", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Endpoints
      const { cents, unknown } = yield* Effect.promise(async () => {
        await using client = fromEnvironment(environment(baseUrl))
        return await costByRole(client, { gte: new Date("2020-01-01"), lt: new Date("2040-01-01") })
      })

      assert.deepStrictEqual([[...cents], unknown], [[[11, 10_500]], [900_001]])
    }).pipe(Effect.provide(served({
      punches: [...working, {
        ...wire,
        id: 900_002,
        role_id: 11,
        hourly_wage: 1500,
        clocked_in: "2026-03-02T09:00:00Z",
        clocked_out: "2026-03-02T17:00:00Z",
        breaks: [pause(1, "12:00", "12:40"), pause(2, "12:30", "13:00")],
        deleted: false
      }]
    }))))
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
