/** One program with each credential over each transport, against the fake service on a local port. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Endpoints, RetryPolicy, TimePunches } from "../../src/index.ts"
import { NodeTransport } from "../../src/node/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { company, credentialKinds, inject, pageRequests } from "../support/client.ts"
import { expected } from "../support/oracle.ts"

const punches = generatePunches({ seed: 21, count: 700, companyId: defaultCompany.id, deletedShare: 0.1 })

const transports = [
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttpClient.layerNodeHttp],
  ["NodeTransport", NodeTransport.layer()]
] as const

const cases = transports.flatMap(([transport, http]) =>
  credentialKinds.map(([kind, credentials]) => [transport, kind, http, credentials] as const)
)

/** The address of the server, known once it listens. */
const endpoints = Layer.unwrap(Effect.map(FakeServer, ({ url }) => Endpoints.layer({ baseUrl: url })))

const idsOf = (punches: ReadonlyArray<{ readonly id: number }>) => punches.map(({ id }) => Number(id))

describe.each(cases)("over %s with %s", (_transport, kind, http, credentials) => {
  const app = () =>
    TimePunches.layer.pipe(
      Layer.provide(RetryPolicy.layer({ baseDelay: "5 millis" })),
      Layer.provide(credentials),
      Layer.provide(endpoints),
      Layer.provide(http),
      Layer.provide(FakeServer.layer()),
      Layer.provideMerge(FakeService.layer({ punches }))
    )

  it.live("lists what a filter matches, in its order, with and without prefetch", () =>
    Effect.gen(function*() {
      const all = { deleted: "include", sortBy: [["clockedIn", "desc"]] } as const
      const some = { approved: true, flags: ["late", "missed_break"] } as const
      const ahead = yield* Stream.runCollect(TimePunches.list(company, all, { pageSize: 100, prefetchPages: 2 }))
      const plain = yield* Stream.runCollect(TimePunches.list(company, some, { pageSize: 7 }))

      assert.deepStrictEqual(ahead, [...expected(punches, all)])
      assert.deepStrictEqual(plain, [...expected(punches, some)])
    }).pipe(Effect.provide(app())))

  it.live("walks back through prev to the first page", () =>
    Effect.gen(function*() {
      const options = { pageSize: 50 }
      const first = yield* TimePunches.page(company, {}, options)
      const second = yield* TimePunches.page(company, {}, { ...options, cursor: Option.getOrThrow(first.cursor.next) })
      const back = yield* TimePunches.page(company, {}, { ...options, cursor: Option.getOrThrow(second.cursor.prev) })

      assert.deepStrictEqual(back.items, first.items)
      assert.deepStrictEqual([...first.items, ...second.items], [...expected(punches)].slice(0, 100))
    }).pipe(Effect.provide(app())))

  it.live("retries transient faults, and fails on a permanent one with a tag and a cursor to resume from", () =>
    Effect.gen(function*() {
      yield* inject(Fault.reset, { requests: 2 })
      yield* inject(Fault.cutBody(0.5), { requests: 4 })
      yield* inject(Fault.status(503, { body: "html" }), { requests: 6 })
      yield* inject(Fault.status(403), { requests: 8 })
      const seen: Array<number> = []
      const error = yield* Effect.flip(
        Stream.runForEach(
          TimePunches.list(company, {}, { pageSize: 100 }),
          ({ id }) => Effect.sync(() => seen.push(id))
        )
      )
      const rest = yield* Stream.runCollect(TimePunches.list(company, {}, { cursor: error.resumeFrom }))

      assert.deepInclude<object>(error, { _tag: "Forbidden", status: 403, pagesCompleted: 4, attempts: 1 })
      assert.deepStrictEqual([...seen, ...idsOf(rest)], idsOf(expected(punches)))
    }).pipe(Effect.provide(app())))

  it.live("replays a request after a 401 only with a credential that can be renewed", () =>
    Effect.gen(function*() {
      yield* inject(Fault.unauthorizedOnce)
      const result = yield* Effect.option(TimePunches.page(company))

      assert.strictEqual(Option.isSome(result), kind === "an OAuth client")
      assert.strictEqual((yield* pageRequests).length, kind === "an OAuth client" ? 2 : 1)
    }).pipe(Effect.provide(app())))

  it.live("sends cursors and lists in the form that the service reads", () =>
    Effect.gen(function*() {
      const filter = { flags: ["late", "auto_clocked_out"], employeeApprovalStatuses: ["pending", "approved"] } as const
      yield* Stream.runDrain(TimePunches.pages(company, filter, { pageSize: 10 }))
      const [first, second] = yield* pageRequests

      assert.include(first?.rawQuery, "flags=late,auto_clocked_out&employee_approval_statuses=pending,approved")
      assert.match(second?.query["cursor"] ?? "", /=$/)
      assert.strictEqual(first?.headers["x-api-version"], "2026-06-01")
    }).pipe(Effect.provide(app())))
})
