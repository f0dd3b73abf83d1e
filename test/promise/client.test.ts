/** The client without Effect, against the fake service behind a socket. */
import { assert, describe, it, vi } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer, Option, Record, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Readable } from "node:stream"
import { loopback } from "../../docs/examples/loopback.ts"
import {
  CompanyId,
  Credentials,
  Endpoints,
  type Page,
  type PunchFilter,
  type TimePunch as Punch,
  TimePunches
} from "../../src/index.ts"
import { Labor, WorkedTime } from "../../src/payroll/index.ts"
import * as Client from "../../src/promise/index.ts"
import { type ClientOptions, makeClient, type TimePunch } from "../../src/promise/index.ts"
import { plainPunch } from "../../src/promise/plain.ts"
import { defaultCompany, defaultOAuthClient, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { otherCompany } from "../../src/testing/service/options.ts"
import { punch as domainPunch, punchBreak } from "../../src/testing/TestClient.ts"
import { Sample } from "../support/arbitraryPunch.ts"

const punches = generatePunches({ seed: 5, count: 1234, companyId: defaultCompany.id })
const ids = punches.filter(({ deleted }) => deleted !== true).map(({ id }) => Number(id)).toSorted((a, b) => a - b)
const live = loopback({ punches })

/** What a program does with a client of the fake service; the client is closed behind it. */
const withClient = <A>(
  use: (client: Client.TimePunchesClient) => Promise<A>,
  options: Partial<ClientOptions> = {}
) =>
  Effect.flatMap(Endpoints, ({ baseUrl }) =>
    Effect.promise(async () => {
      await using client = makeClient({
        baseUrl,
        companyId: defaultCompany.id,
        credentials: { accessToken: defaultCompany.accessToken },
        ...options
      })
      return await use(client)
    }))

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => undefined, (error: unknown) => error)

const read = async (rows: AsyncIterable<TimePunch>): Promise<Array<number>> => {
  const found: Array<number> = []
  for await (const { id } of rows) found.push(id)
  return found
}

const sorted = (found: ReadonlyArray<number>) => found.toSorted((a, b) => a - b)

const range = { gte: new Date("2020-01-01"), lt: new Date("2040-01-01") }

/** Waits until the service has so many requests in flight, or more; of 0, none. */
const reach = (count: number) =>
  Effect.flatMap(FakeService, ({ inFlight }) =>
    Effect.repeat(Effect.andThen(Effect.sleep("5 millis"), inFlight), {
      until: (n) => count === 0 ? n === 0 : n >= count,
      times: 2000
    }))

describe("makeClient", () => {
  it.live("lists every punch once, by rows, by pages, by single pages and by a backfill", () =>
    Effect.gen(function*() {
      const found = yield* withClient(async (client) => {
        const pages: Array<number> = []
        for await (const page of client.pages({}, { pageSize: 100 })) pages.push(...page.items.map(({ id }) => id))
        const single: Array<number> = []
        let page = await client.page()
        single.push(...page.items.map(({ id }) => id))
        while (page.cursor.next !== undefined) {
          page = await client.page({}, { cursor: page.cursor.next })
          single.push(...page.items.map(({ id }) => id))
        }
        const filled = await read(client.backfill({ clockedIn: range }, { concurrency: 4 }))
        return [await read(client.list()), pages, single, filled].map(sorted)
      })

      assert.deepStrictEqual(found, [ids, ids, ids, ids])
    }).pipe(Effect.provide(live)))

  it.live("signs as an OAuth client", () =>
    Effect.gen(function*() {
      const { clientId, clientSecret } = defaultOAuthClient
      const options = { credentials: { clientId, clientSecret }, companyGuid: defaultCompany.guid }
      const found = yield* withClient((client) => client.page({}, { pageSize: 3 }), options)
      const wrong = yield* withClient((client) => failure(client.page()), {
        ...options,
        credentials: { clientId, clientSecret: "another-secret" }
      })
      const unnamed = yield* withClient((client) => failure(client.page({}, { companyId: otherCompany.id })), options)

      assert.lengthOf(found.items, 3)
      assert.instanceOf(wrong, Client.TokenError)
      assert.strictEqual(wrong.reason, "InvalidClient")
      assert.instanceOf(unnamed, Client.InvalidRequest)
      assert.strictEqual(unnamed.path, "companyGuid")
      assert.match(unnamed.message, /^invalid companyGuid: is required for an OAuth client \[company \d+\]$/)
    }).pipe(Effect.provide(live)))

  it.live("sends what the main entry sends", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const sent = Effect.map(
        service.requests,
        (requests) => requests.map(({ path, rawQuery }) => `${path}?${rawQuery}`)
      )
      const window = { gte: new Date("2026-03-02T00:00:00Z"), lt: new Date("2026-03-09T00:00:00Z") }
      const criteria = { approved: true, deleted: "include", flags: ["late"], sortBy: [["id", "asc"]] } as const
      const first = yield* withClient(
        (client) => read(client.list({ ...criteria, clockedIn: window }, { pageSize: 50, maxPages: 9 })),
        { apiVersion: "2025-01-01" }
      )
      const plain = yield* sent
      yield* service.clearRequests
      const { baseUrl } = yield* Endpoints
      const app = TimePunches.layerWith({
        baseUrl,
        credentials: Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken)),
        apiVersion: "2025-01-01"
      }).pipe(Layer.provide(FetchHttpClient.layer))
      const clockedIn = { gte: DateTime.makeUnsafe(window.gte), lt: DateTime.makeUnsafe(window.lt) }
      const rows = TimePunches.list(
        CompanyId.make(defaultCompany.id),
        { ...criteria, clockedIn },
        { pageSize: 50, maxPages: 9 }
      )
      const second = yield* Stream.runCollect(Stream.map(rows, ({ id }) => Number(id))).pipe(Effect.provide(app))

      assert.isNotEmpty(plain)
      assert.deepStrictEqual(yield* sent, plain)
      assert.deepStrictEqual(second, first)
    }).pipe(Effect.provide(live)))

  it.live("rejects with a class of the tag, and continues from resumeFrom", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const [error, found] = yield* withClient(async (client) => {
        const found: Array<number> = []
        try {
          for await (const punch of client.list()) {
            found.push(punch.id)
            if (found.length === 200) await Effect.runPromise(service.inject(Fault.status(503)))
          }
          return [undefined, found] as const
        } catch (error) {
          await Effect.runPromise(service.clearFaults)
          if (!(error instanceof Client.ServiceUnavailable)) throw error
          found.push(...await read(client.list({}, { cursor: error.resumeFrom })))
          return [error, found] as const
        }
      }, { attempts: 1 })

      assert.strictEqual(error?._tag, "ServiceUnavailable")
      assert.strictEqual(error?.name, "ServiceUnavailable")
      assert.strictEqual(error?.status, 503)
      assert.strictEqual(error?.pagesCompleted, 1)
      assert.isTrue(error?.isRetryable)
      assert.deepStrictEqual(sorted(found), ids)
    }).pipe(Effect.provide(live)))

  it.live("begins a run with each loop over a value: after an error, after a break, and for two loops at once", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const found = yield* withClient(async (client) => {
        const rows = client.list()
        await Effect.runPromise(service.inject(Fault.status(503), { requests: [3] }))
        const failed = await failure(read(rows))
        await Effect.runPromise(service.clearFaults)
        for await (const _ of rows) break
        const lists = [await read(rows), ...await Promise.all([read(rows), read(rows)])]
        const pages = client.pages()
        for await (const _ of pages) break
        const filled = client.backfill({ clockedIn: range }, { concurrency: 3 })
        await read(filled)
        return {
          failed,
          all: [
            ...lists,
            (await Readable.from(pages).toArray()).flatMap(({ items }: Client.Page) => items.map(({ id }) => id)),
            await read(filled),
            (await Readable.from(rows).toArray()).map(({ id }: TimePunch) => id)
          ].map(sorted)
        }
      }, { attempts: 1 })
      yield* reach(0)

      assert.instanceOf(found.failed, Client.ServiceUnavailable)
      assert.lengthOf(found.all, 6)
      for (const each of found.all) assert.deepStrictEqual(each, ids)
    }).pipe(Effect.provide(live)))

  it.live("gives each loop over a value its own deadline, and its signal's reason", () =>
    Effect.gen(function*() {
      const found = yield* withClient(async (client) => {
        const controller = new AbortController()
        const rows = client.list({}, { deadline: 2000, signal: controller.signal })
        const first = await read(rows)
        await new Promise((resolve) => setTimeout(resolve, 2050))
        const second = await read(rows)
        controller.abort(new Error("enough"))
        return [first.length, second.length, String(await failure(read(rows)))]
      })

      assert.deepStrictEqual(found, [ids.length, ids.length, "Error: enough"])
    }).pipe(Effect.provide(live)))

  it.live("logs a retry to standard error, of a listing, a page, a backfill and a token", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const { clientId, clientSecret } = defaultOAuthClient
      const logged = yield* withClient(async (client) => {
        const [out, error] = [vi.spyOn(console, "log"), vi.spyOn(console, "error").mockImplementation(() => {})]
        try {
          for (
            const [target, call] of [
              ["token", () => read(client.list())],
              ["page", () => read(client.list())],
              ["page", () => client.page()],
              ["page", () => read(client.backfill({ clockedIn: range }, { concurrency: 2 }))]
            ] as const
          ) {
            await Effect.runPromise(service.inject(Fault.retryAfter("1"), { target, times: 1 }))
            await call()
          }
          return [out.mock.calls.length, error.mock.calls.map((words) => words.join(" "))] as const
        } finally {
          out.mockRestore()
          error.mockRestore()
        }
      }, { companyGuid: defaultCompany.guid, credentials: { clientId, clientSecret } })

      assert.strictEqual(logged[0], 0)
      assert.lengthOf(logged[1], 4)
      for (const line of logged[1]) assert.match(line, /WARN.*(token|page) failed \(429\), next attempt in 1s/)
    }).pipe(Effect.provide(live)))

  it.live("continues a backfill from what it left unfinished", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(403), { requests: [5, 6, 7, 8] })
      const [first, error] = yield* withClient(async (client) => {
        const found: Array<number> = []
        try {
          for await (const { id } of client.backfill({ clockedIn: range }, { concurrency: 2, pageSize: 50 }))
            found.push(id)
          return [found, undefined] as const
        } catch (error) {
          return [found, error] as const
        }
      })
      yield* service.clearFaults
      assert.instanceOf(error, Client.BackfillError)
      const { unfinished } = error
      const rest = yield* withClient((client) =>
        read(
          client.backfill({ clockedIn: range }, {
            concurrency: 2,
            pageSize: 50,
            segments: JSON.parse(JSON.stringify(unfinished))
          })
        )
      )

      assert.instanceOf(error.cause, Client.Forbidden)
      assert.isNotEmpty(first)
      assert.deepStrictEqual(sorted([...first, ...rest]), ids)
    }).pipe(Effect.provide(live)))

  it.live("requests a page when the loop reaches it, and none behind a loop that ends", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const seen = yield* withClient(async (client) => {
        const counts: Array<number> = []
        let row = 0
        for await (const _ of client.list({}, { pageSize: 100 })) {
          row += 1
          // A loop that is slower than the service must not make it read ahead.
          if (row % 100 === 0) {
            await new Promise((resolve) => setTimeout(resolve, 20))
            counts.push((await Effect.runPromise(service.requests)).length)
          }
          if (row === 300) break
        }
        return counts
      })

      assert.deepStrictEqual(seen, [1, 2, 3])
      assert.lengthOf(yield* service.requests, 3)
      assert.strictEqual(yield* service.inFlight, 0)
    }).pipe(Effect.provide(live)))

  it.live.each(
    [
      ["a loop", (client: Client.TimePunchesClient, signal: AbortSignal) => read(client.list({}, { signal }))],
      ["a page", (client: Client.TimePunchesClient, signal: AbortSignal) => client.page({}, { signal })],
      [
        "a backfill",
        (client: Client.TimePunchesClient, signal: AbortSignal) =>
          read(client.backfill({ clockedIn: range }, { concurrency: 3, signal }))
      ]
    ] as const
  )("ends %s and its requests with its signal, by the reason of the signal", ([_, call]) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.stallBeforeHeaders)
      const controller = new AbortController()
      const run = yield* Effect.forkChild(withClient((client) => failure(call(client, controller.signal))))
      yield* reach(1)
      controller.abort(new Error("enough"))
      const error = yield* Fiber.join(run)
      yield* reach(0)

      assert.instanceOf(error, Error)
      assert.strictEqual(error.message, "enough")
    }).pipe(Effect.provide(live)))

  it.live("rejects between two rows once its signal is aborted, and never ends as if it were whole", () =>
    Effect.gen(function*() {
      const found = yield* withClient(async (client) => {
        const controller = new AbortController()
        const rows = client.list({}, { signal: controller.signal })[Symbol.asyncIterator]()
        await rows.next()
        controller.abort()
        const second = await failure(rows.next())
        const early = await failure(client.page({}, { signal: controller.signal }))
        return [second, early].map((error) => error instanceof Error && error.name)
      })

      assert.deepStrictEqual(found, ["AbortError", "AbortError"])
    }).pipe(Effect.provide(live)))

  it.live("rejects what runs and what comes later when it is closed", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.stallBeforeHeaders)
      const found = yield* withClient(async (client) => {
        const running = failure(read(client.list()))
        const page = failure(client.page())
        await Effect.runPromise(Effect.provideService(reach(2), FakeService, service))
        await client.close()
        await client.close()
        return [await running, await page, await failure(read(client.list())), await failure(client.page())]
      })
      yield* reach(0)

      assert.deepStrictEqual(found.map(String), Array.from({ length: 4 }, () => "ClientClosed: the client is closed"))
      for (const error of found) assert.isTrue(error instanceof Client.TimePunchesError)
    }).pipe(Effect.provide(live)))

  it.live("keeps a limit of requests a second", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.rateLimit(10))
      const found = yield* withClient((client) => read(client.list({}, { pageSize: 80 })), { requestsPerSecond: 9 })

      assert.deepStrictEqual(sorted(found), ids)
    }).pipe(Effect.provide(live)))
})

const options: ClientOptions = {
  baseUrl: "https://api.example.com",
  companyId: 4021,
  credentials: { accessToken: "a-token-of-a-test" }
}

/** The error that a call throws, as its class, its message and its path. */
const thrown = (call: () => unknown) => {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

describe("an option that cannot be used", () => {
  it.each<[string, object, string]>([
    ["an address", { baseUrl: "ftp://x" }, "ConfigError: baseUrl must be an https URL (http is for loopback only)"],
    ["a company", { companyId: -1 }, "InvalidRequest: invalid companyId: Expected a value greater than 0"],
    ["a text as company", { companyId: "4021" }, "InvalidRequest: invalid companyId: must be a number"],
    ["a guid", { companyGuid: "x" }, "InvalidRequest: invalid companyGuid"],
    ["a page size", { pageSize: 500 }, "InvalidRequest: invalid pageSize: must be a whole number from 1 to 200"],
    ["a transport", { fetch: "fetch" }, "InvalidRequest: invalid fetch: must be a function"],
    ["a version", { apiVersion: "2026-2-1" }, "ConfigError: apiVersion must be a real date as YYYY-MM-DD"],
    ["no credential", { credentials: {} }, "ConfigError: credentials must be"],
    ["no object as credential", { credentials: null }, "ConfigError: credentials must be"],
    [
      "two credentials",
      { credentials: { accessToken: "a-token", sessionCookie: "a-cookie" } },
      "ConfigError: credentials must be"
    ],
    ["a token", { credentials: { accessToken: "a b" } }, "ConfigError: accessToken"],
    ["a token that is not set", { credentials: { accessToken: undefined } }, "ConfigError: credentials must be"],
    ["a secret that is not set", { credentials: { clientId: "c" } }, "ConfigError: clientSecret must be"],
    [
      "scopes",
      { credentials: { clientId: "c", clientSecret: "secret", scopes: ["all"] } },
      "ConfigError: scopes must be"
    ],
    ["attempts", { attempts: 0 }, "ConfigError: attempts must be a whole number from 1 on"],
    ["a limit", { requestsPerSecond: 0 }, "ConfigError: requestsPerSecond must be a whole number from 1 on"],
    [
      "a name that is none",
      { pagesize: 3 },
      "InvalidRequest: invalid pagesize: is not an option; did you mean pageSize?"
    ]
  ])("is refused at once: %s", (_, change, message) => {
    const error = thrown(() => makeClient({ ...options, ...change }))

    assert(error instanceof Client.TimePunchesError)
    assert.include(`${error.name}: ${error.message}`, message)
    assert.isFalse(error.isRetryable)
  })

  it.each<[string, object, object, string, string?]>([
    ["an invalid date", { clockedIn: { gte: new Date("x") } }, {}, "clockedIn.gte", "Expected a Date"],
    ["a text in place of a date", { modifiedSince: "2026-01-01" }, {}, "modifiedSince", "Expected a Date"],
    ["a text in place of an id", { userId: "7" }, {}, "userId", "Expected a number"],
    ["a key that is none", { clockedin: {} }, {}, "clockedin"],
    ["a key of a window that is none", { clockedIn: { from: new Date() } }, {}, "clockedIn.from"],
    ["two kinds of window", { clockedIn: range, businessDate: { first: "2026-01-01" } }, {}, "businessDate"],
    ["a list", [], {}, "filter"],
    ["a page size", {}, { pageSize: 201 }, "pageSize"],
    ["an option that is none", {}, { pagesize: 3 }, "pagesize"],
    ["a cursor", {}, { cursor: "" }, "cursor"],
    ["a company", {}, { companyId: 1.5 }, "companyId"]
  ])("of a call is refused before anything is sent: %s", async (_, filter, change, path, detail) => {
    const refused = () => Promise.reject(new Error("nothing may be sent"))
    await using client = makeClient({ ...options, fetch: refused })
    const errors = await Promise.all([
      failure(read(client.list(filter, change))),
      failure(client.page(filter, change)),
      failure(read(client.backfill({ clockedIn: range, ...filter }, { concurrency: 2, ...change })))
    ])

    for (const error of path === "filter" ? errors.slice(0, 2) : errors) {
      assert.instanceOf(error, Client.InvalidRequest)
      assert.strictEqual(error.path, path)
      if (detail !== undefined) assert.strictEqual(error.detail, detail)
    }
  })
})

describe("plain values", () => {
  const sample = domainPunch({ clockedOut: null, departmentId: null, breaks: [punchBreak({ out: null })] })

  it("have the keys of a punch, and nothing of Effect", () => {
    const plain = plainPunch(sample)
    const values = [...Object.values(plain), ...Object.values(plain.breaks[0] ?? {})]

    assert.deepStrictEqual(Object.keys(plain), Object.keys(sample))
    assert.isUndefined(plain.clockedOut)
    assert.instanceOf(plain.clockedIn, Date)
    assert.isFalse(values.some((value) => Option.isOption(value) || DateTime.isDateTime(value)))
    assert.deepStrictEqual(JSON.parse(JSON.stringify(plain)).clockedIn, DateTime.formatIso(sample.clockedIn))
  })

  it("have types that refuse what a call refuses", () => {
    const filters: ReadonlyArray<Client.PunchFilter> = [
      { clockedIn: range },
      { businessDate: { first: "2026-03-02" } },
      // @ts-expect-error business dates switch clock windows off
      { clockedIn: range, businessDate: { first: "2026-03-02" } },
      // @ts-expect-error also that of the clock-outs
      { clockedOut: range, businessDate: { first: "2026-03-02" } }
    ]
    const credentials: ReadonlyArray<Client.Credentials> = [
      { sessionCookie: "cookie" },
      // @ts-expect-error two kinds of credentials
      { accessToken: "token", clientId: "client", clientSecret: "secret" },
      // @ts-expect-error two kinds of credentials
      { accessToken: "token", sessionCookie: "cookie" }
    ]

    assert.lengthOf([...filters, ...credentials], 7)
  })

  it("have types with the keys of the main entry", () => {
    // Each way round, so that a field that is added to one side alone does not compile.
    const keys = (name: keyof TimePunch): keyof Punch => name
    const back = (name: keyof Punch): keyof TimePunch => name
    const filters = (name: keyof Client.PunchFilter): keyof PunchFilter => name
    const filtersBack = (name: keyof PunchFilter): keyof Client.PunchFilter => name
    const fields = (name: keyof Client.Page["response"]): keyof Page["response"] => name
    const fieldsBack = (name: keyof Page["response"]): keyof Client.Page["response"] => name

    assert.strictEqual(keys("id"), back("id"))
    assert.strictEqual(filters("userId"), filtersBack("userId"))
    assert.strictEqual(fields("asOf"), fieldsBack("asOf"))
  })
})

describe("measure, cost", () => {
  it.prop("give what the payroll entry gives, also for a punch that went through JSON", [Sample], ([{ punch }]) => {
    const asOf = new Date("2026-03-02T08:00:05Z")
    const reading = { asOf: DateTime.makeUnsafe(asOf) }
    const { anomalies, durations, open } = WorkedTime.measure(punch, reading)
    const times = Option.getOrUndefined(
      Option.map(durations, (found) => Record.map({ ...found }, (each) => Duration.toMillis(each)))
    )
    const cents = Option.getOrUndefined(Labor.cost(punch, { rounding: "halfUp", ...reading }))
    for (const plain of [plainPunch(punch), JSON.parse(JSON.stringify(plainPunch(punch)))]) {
      assert.deepStrictEqual(Client.measure(plain, { asOf }), { times, open, anomalies })
      assert.strictEqual(Client.cost(plain, { rounding: "halfUp", asOf }), cents)
    }
  }, { arbitrary: { runs: 300 } })

  it("subtract no overlapping break twice, know no time of an open punch, and refuse a rounding by its class", () => {
    const at = (time: string) => `2026-03-02T${time}:00Z`
    const breaks = [
      punchBreak({ in: at("12:00"), out: at("12:40") }),
      punchBreak({ in: at("12:30"), out: at("13:00") })
    ]
    const closed = domainPunch({ clockedIn: at("09:00"), clockedOut: at("17:00"), breaks, hourlyWage: 1500 })
    const { anomalies, times } = Client.measure(plainPunch(closed))
    const open = plainPunch(domainPunch({ clockedOut: null }))

    assert.deepStrictEqual([times?.net, times?.unpaidBreaks, anomalies], [7 * 3_600_000, 3_600_000, ["BreaksOverlap"]])
    assert.strictEqual(Client.cost(plainPunch(closed), { rounding: "down" }), 10_500)
    assert.deepStrictEqual([Client.measure(open).times, Client.cost(open, { rounding: "up" })], [undefined, undefined])
    // @ts-expect-error -- Without types, a word in another case.
    assert.throws(() => Client.cost(open, { rounding: "HalfUp" }), Client.InvalidRequest, "rounding")
    // @ts-expect-error -- Nor may the options be missing.
    assert.throws(() => Client.cost(open), Client.InvalidRequest, "rounding")
  })
})
