/** The programs of `full/compositions.program.ts`, each run: what an application composes does what its types say. */
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Context,
  DateTime,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Option,
  Redacted,
  Ref,
  Stream
} from "effect"
import {
  CompanyId,
  Credentials,
  DecodeError,
  Endpoints,
  Forbidden,
  InvalidRequest,
  LimitReached,
  ListError,
  LocationId,
  PaginationError,
  RateLimited,
  ServerError,
  ServiceUnavailable,
  TimePunches,
  TokenCache,
  TokenEndpoint,
  TokenError,
  TransportError,
  Unauthorized,
  UnexpectedStatus,
  UnprocessableEntity
} from "effect-time-punches"
import { Fleet, FleetError, FleetReason } from "effect-time-punches/fleet"
import { SqlStore } from "effect-time-punches/sql"
import { NodeSqlite } from "effect-time-punches/sql/node"
import { SyncError, SyncReason, SyncStore } from "effect-time-punches/sync"
import { FakeService, Fault, generatePunches, TestClient } from "effect-time-punches/testing"
import { HttpClient, HttpClientResponse, HttpRouter, HttpServer } from "effect/http"
import { KeyValueStore } from "effect/persistence"
import { RpcClient, RpcSerialization, RpcServer } from "effect/rpc"
import { SqlClient } from "effect/sql"
import * as Composed from "./full/compositions.program.ts"
import { app, company, inject, pageRequests } from "./support/client.ts"
import { says } from "./support/scripted.ts"
import { letTimePass } from "./support/time.ts"
import { wirePage } from "./support/wire.ts"

const id = company.id

/** An `HttpClient` that keeps the credentials of requests, and refuses the tokens in `refused`. */
const recording = (refused: ReadonlyArray<string> = []) => {
  const seen: Array<string> = []
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() => {
        const token = request.headers["authorization"]?.replace("Bearer ", "") ?? ""
        seen.push(token)
        const response = refused.includes(token) ? new Response("", { status: 401 }) : says(wirePage([]))
        return HttpClientResponse.fromWeb(request, response)
      })
    )
  )
  return { layer, seen }
}

const sqlite = NodeSqlite.layer({ filename: ":memory:" })

const marchPunches = generatePunches({
  seed: 3,
  count: 120,
  companyId: id,
  deletedShare: 0,
  from: "2026-03-02T00:00:00Z",
  days: 7
})

describe("a composition of an application", () => {
  it.effect("has a client for each tenant, with the tenant's token, over one HttpClient", () =>
    Effect.gen(function*() {
      const { layer, seen } = recording()
      const tenants = Composed.Tenants.layer.pipe(Layer.provide(layer))
      yield* Effect.forEach([1, 2, 1], (tenant) => Composed.countOf(CompanyId.make(tenant))).pipe(
        Effect.provide(tenants)
      )

      assert.deepStrictEqual(seen, ["token-of-1", "token-of-2", "token-of-1"])
    }))

  it.effect("keeps its token in a store over processes, and renews it after a 401", () =>
    Effect.gen(function*() {
      const requests = yield* Ref.make(0)
      const endpoint = Layer.succeed(TokenEndpoint, {
        requestToken: Effect.map(Ref.updateAndGet(requests, (count) => count + 1), (count) => ({
          token: Redacted.make(`token-${count}`),
          lifetime: Duration.hours(1)
        }))
      })
      const store = yield* Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory)
      const process = (http: Layer.Layer<HttpClient.HttpClient>) =>
        TimePunches.page(company).pipe(
          Effect.provide(Layer.fresh(Composed.overKept)),
          Effect.provide([http, endpoint, Layer.succeed(KeyValueStore.KeyValueStore, store)])
        )
      const [first, second] = [recording(["token-1"]), recording()]
      yield* process(first.layer)
      yield* process(second.layer)

      assert.deepStrictEqual([first.seen, second.seen], [["token-1", "token-2"], ["token-2"]])
      assert.strictEqual(yield* Ref.get(requests), 2)
    }))

  it.effect("sends one request where retries are off for one call, and more in the next", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))
      for (const call of [Composed.onceByOption, Composed.onceByLayer]) {
        const before = (yield* pageRequests).length
        assert.strictEqual((yield* Effect.flip(call(id))).attempts, 1)
        assert.strictEqual((yield* pageRequests).length, before + 1)
      }
      assert.isAbove((yield* letTimePass(Effect.flip(TimePunches.page(id)))).attempts, 1)
    }).pipe(Effect.provide(app())))

  it.effect("fills its own table over a failure and a kill, each row once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const rows = sql<{ readonly id: number }>`SELECT id FROM own ORDER BY id`
      const process = (fault: Effect.Effect<void, never, FakeService>) =>
        Effect.andThen(fault, Composed.fill(id)).pipe(Effect.provide(Layer.fresh(app({ punches: marchPunches }))))
      const stopped = yield* process(
        inject(Fault.status(403), { requests: Array.from({ length: 90 }, (_, at) => at + 6) })
      )
      const afterFailure = (yield* rows).length
      const hung = yield* Effect.forkChild(
        process(inject(Fault.stallBeforeHeaders, { requests: [3, 4, 5, 6, 7, 8, 9] }))
      )
      for (let turn = 0; turn < 2000; turn++) yield* Effect.yieldNow
      yield* Fiber.interrupt(hung)
      const afterKill = (yield* rows).length
      const ended = yield* process(Effect.void)

      assert.deepStrictEqual([stopped, ended], ["Forbidden", "complete"])
      assert.isAbove(afterFailure, 0)
      assert.isBelow(afterKill, marchPunches.length)
      assert.deepStrictEqual(
        (yield* rows).map((row) => row.id),
        marchPunches.map((punch) => punch.id).toSorted((a, b) => a - b)
      )
    }).pipe(Effect.provide(sqlite)))

  it("interrupts the request to the service when the signal of the edge aborts", async () => {
    const reached = Deferred.makeUnsafe<void>()
    let interrupted = false
    const hung = Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make(() =>
        Effect.andThen(Deferred.succeed(reached, undefined), Effect.never).pipe(
          Effect.onInterrupt(() =>
            Effect.sync(() => {
              interrupted = true
            })
          )
        )
      )
    )
    const client = TimePunches.layer.pipe(
      Layer.provide([
        Credentials.layerAccessToken(Redacted.make("token")),
        Layer.succeed(Endpoints, { baseUrl: "https://api.test", authUrl: "https://api.test" }),
        hung
      ])
    )
    const edge = new AbortController()
    const outcome = Composed.atTheEdge(id, client, edge.signal).then(() => "ended", () => "rejected")
    await Effect.runPromise(Deferred.await(reached))
    edge.abort()

    assert.strictEqual(await outcome, "rejected")
    assert.isTrue(interrupted)
  })

  it.effect("reaches the handler of each failure by its tag, and of each reason", () =>
    Effect.gen(function*() {
      const errors: ReadonlyArray<ListError> = [
        new Unauthorized({}),
        new Forbidden({}),
        new UnprocessableEntity({}),
        new ServerError({}),
        new RateLimited({}),
        new ServiceUnavailable({}),
        new UnexpectedStatus({ status: 404 }),
        new TransportError({ reason: "Connect" }),
        new DecodeError({ reason: "Schema" }),
        new PaginationError({ reason: "CursorCycle" }),
        new LimitReached({ reason: "MaxPages" }),
        new InvalidRequest({ field: "pageSize", detail: "must be 200 at most" }),
        new TokenError({ reason: "InvalidClient" })
      ]
      for (const error of errors) {
        const mock = Layer.mock(TimePunches)({ page: () => Effect.fail(error) })
        assert.strictEqual(yield* Effect.provide(Composed.listed(id), mock), error._tag)
      }
      assert.strictEqual(errors.length, ListError.members.length)

      const reasons = [
        new SyncReason.Checkpoint({ detail: "" }),
        new SyncReason.NewerCheckpoint({ detail: "" }),
        new SyncReason.CursorLost({}),
        new SyncReason.Superseded({}),
        new SyncReason.TooManyMissing({ missing: 3, rows: 4 }),
        new SyncReason.Store({ detail: "" })
      ]
      for (const reason of reasons) {
        const store = Layer.mock(SyncStore)({
          load: () => Effect.fail(new SyncError({ companyId: id, reason })),
          pagesPerCommit: 1
        })
        assert.strictEqual(
          yield* Effect.provide(Composed.synced(id), [store, Layer.mock(TimePunches)({})]),
          reason._tag === "TooManyMissing" ? "3 of 4" : reason._tag
        )
      }
      assert.strictEqual(reasons.length, SyncReason.Reason.members.length)

      const causes = [
        new FleetReason.NotMigrated({ detail: "" }),
        new FleetReason.AlreadyRunning({ detail: "" }),
        new FleetReason.Store({ detail: "" })
      ]
      for (const reason of causes) {
        const fleet = Layer.mock(Fleet)({ pause: () => Effect.fail(new FleetError({ reason })) })
        assert.strictEqual(yield* Effect.provide(Composed.operated(id), fleet), reason._tag)
      }
      assert.strictEqual(causes.length, FleetReason.Reason.members.length)

      const copy = SqlStore.layer().pipe(Layer.provideMerge(sqlite))
      assert.strictEqual(yield* Effect.provide(Composed.corrected(id), copy), "HistoryUnavailable")
      const unwritable = TestClient.punch({ id: 1, clockedIn: DateTime.makeUnsafe(-1e15), clockedOut: null })
      assert.strictEqual(yield* Composed.copied(Stream.make(TestClient.punch())), "copied")
      assert.strictEqual(yield* Composed.copied(Stream.make(unwritable)), "UnwritablePunch")
    }))

  it.effect("mocks each service: a member that is not given dies with its name", () =>
    Effect.gen(function*() {
      const died = <E, R>(self: Effect.Effect<unknown, E, R>, mock: Layer.Layer<R>) =>
        Effect.map(Effect.exit(Effect.provide(self, mock)), (exit) =>
          Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "it did not die")
      const values = { baseUrl: "https://api.test", authUrl: "https://api.test" }

      assert.include(yield* died(TimePunches.page(id), Layer.mock(TimePunches)({})), "\"page\"")
      assert.include(
        yield* died(
          TokenCache.use((cache) =>
            cache.get
          ),
          Layer.mock(TokenCache)({})
        ),
        "\"get\""
      )
      assert.include(
        yield* died(TokenEndpoint.use((endpoint) => endpoint.requestToken), Layer.mock(TokenEndpoint)({})),
        "\"requestToken\""
      )
      assert.include(
        yield* died(SyncStore.use((store) => store.load(id)), Layer.mock(SyncStore)({ pagesPerCommit: 1 })),
        "\"load\""
      )
      assert.include(yield* died(Fleet.list(), Layer.mock(Fleet)({})), "\"list\"")
      assert.strictEqual(yield* died(Effect.asVoid(Endpoints), Layer.mock(Endpoints)(values)), "it did not die")
      // @ts-expect-error a value of a service has no stand-in
      assert.isFunction(() => Layer.mock(SyncStore)({}))
    }))

  it.effect("sends punches and failures by name through its own procedures", () =>
    Effect.gen(function*() {
      const rows = marchPunches.slice(0, 3)
      const handlers = Composed.Procedures.toLayer({
        latest: ({ company }) => TimePunches.list(company, {}, { maxPages: 1, pageSize: 2 })
      })
      const { dispose, handler } = HttpRouter.toWebHandler(
        RpcServer.layerHttp({ group: Composed.Procedures, path: "/rpc", protocol: "http" }).pipe(
          Layer.provide(handlers),
          Layer.provide(app({ punches: rows })),
          Layer.provide([RpcSerialization.layerNdjson, HttpServer.layerServices])
        )
      )
      const http = HttpClient.make((request, url) =>
        Effect.map(
          Effect.promise(() =>
            handler(
              new Request(url, {
                method: "POST",
                headers: request.headers,
                body: request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
              }),
              Context.empty()
            )
          ),
          (response) => HttpClientResponse.fromWeb(request, response)
        )
      )
      const protocol = RpcClient.layerProtocolHttp({ url: "http://localhost/rpc" }).pipe(
        Layer.provide([Layer.succeed(HttpClient.HttpClient, http), RpcSerialization.layerNdjson])
      )
      const seen: Array<number> = []
      const error = yield* Effect.gen(function*() {
        const client = yield* RpcClient.make(Composed.Procedures)
        return yield* client.latest({ company: id }).pipe(
          Stream.runForEach((punch) => Effect.sync(() => seen.push(punch.id))),
          Effect.flip
        )
      }).pipe(Effect.provide(protocol), Effect.scoped)
      yield* Effect.promise(dispose)

      assert.strictEqual(seen.length, 2)
      assert.deepInclude(error, { _tag: "LimitReached", reason: "MaxPages", pagesCompleted: 1 })
    }))

  it.effect("keeps the cursors of pages and of errors through the operators of a stream", () =>
    Effect.gen(function*() {
      const pages = yield* Stream.runCollect(Composed.linesOf(id))
      const from = pages[3]?.next
      const rest = yield* Stream.runCollect(
        Composed.linesOf(id, from === undefined ? undefined : Option.getOrUndefined(from))
      )
      const grouped = Effect.map(Stream.runCollect(Composed.resumed(id)), (groups) => groups.flat())
      const whole = yield* grouped
      yield* inject(Fault.status(403), { requests: (yield* pageRequests).length + 5, times: 1 })
      const resumed = yield* grouped

      assert.deepStrictEqual(rest, pages.slice(4))
      assert.isAbove(rest.length, 3)
      assert.deepStrictEqual(resumed, whole)
      assert.strictEqual(whole.length, marchPunches.length)
    }).pipe(Effect.provide(app({ punches: marchPunches }))))

  it.effect("loses rows behind an operator that holds them when the run fails, as docs/03-pages-and-resume.md says", () =>
    Effect.gen(function*() {
      const failing = Stream.concat(Stream.make(1, 2, 3), Stream.fail("stopped"))
      const passed = (rows: Stream.Stream<number | ReadonlyArray<number>, string>) => {
        const seen: Array<number> = []
        return rows.pipe(
          Stream.runForEach((row) => Effect.sync(() => seen.push(...[row].flat()))),
          Effect.exit,
          Effect.map(() => seen.length)
        )
      }
      const holding = [
        Stream.groupedWithin(failing, 10, "1 second"),
        Stream.flatMap(failing, (row) => Stream.fromEffect(Effect.delay(Effect.succeed(row), "1 second")), {
          concurrency: 4
        })
      ]

      for (const rows of holding) assert.strictEqual(yield* passed(rows), 0)
      assert.strictEqual(yield* passed(Stream.grouped(failing, 2)), 3)
    }))

  it.effect("has a week by the zone of each location, and fails for a location without one", () =>
    Effect.gen(function*() {
      // Monday 02:00 in New York is Sunday in Honolulu.
      const at = (locationId: number) => TestClient.punch({ locationId, clockedIn: "2026-03-02T07:00:00Z" })
      const hours = yield* Composed.hoursOf(Stream.make(at(301), at(302)))
      const error = yield* Effect.flip(Composed.hoursOf(Stream.make(at(303))))

      assert.deepStrictEqual([...hours].map(([location]) => Number(location)), [301])
      assert.deepInclude(error, { _tag: "MissingDayRule", locationId: LocationId.make(303) })
    }))
})
