/**
 * What applications compose from the public names, as strict programs: compiled here and against the packed package. What must
 * not compile is beside what does. `test/compositions.test.ts` runs them.
 */
import { DateTime, Effect, Layer, LayerMap, Option, Redacted, Schema, Stream } from "effect"
import {
  BackfillSegment,
  BusinessDate,
  CompanyId,
  Credentials,
  type Cursor,
  Endpoints,
  ListError,
  LocationId,
  RetryPolicy,
  TimePunch,
  TimePunches,
  TokenCache,
  TokenEndpoint,
  TokenError
} from "effect-time-punches"
import { Close } from "effect-time-punches/close"
import { Csv, Ndjson } from "effect-time-punches/export"
import { Fleet } from "effect-time-punches/fleet"
import { Labor, PayrollFile, Period } from "effect-time-punches/payroll"
import { Sync, type SyncReason, type SyncStore } from "effect-time-punches/sync"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { KeyValueStore } from "effect/persistence"
import { Rpc, RpcGroup } from "effect/rpc"
import { SqlClient } from "effect/sql"

const baseUrl = "https://punches.example.com"

// A client for each tenant, with the tenant's own token; it is released when it is idle.
export class Tenants extends LayerMap.Service<Tenants>()("app/Tenants", {
  lookup: (id: CompanyId) =>
    TimePunches.layerWith({ baseUrl, credentials: Credentials.layerAccessToken(Redacted.make(`token-of-${id}`)) }),
  idleTimeToLive: "5 minutes"
}) {}

export const countOf = (id: CompanyId) => TimePunches.list(id).pipe(Stream.runCount, Effect.provide(Tenants.get(id)))

// @ts-expect-error a tenant is not any number
export const otherTenant = Tenants.get(4021)

// A token cache of the application's own, whose token outlives the process.
const Stored = Schema.fromJsonString(Schema.Struct({ token: Schema.String, generation: Schema.Int }))

export const layerKept = Layer.effect(
  TokenCache,
  Effect.gen(function*() {
    const { requestToken } = yield* TokenEndpoint
    const kept = KeyValueStore.toSchemaStore(yield* KeyValueStore.KeyValueStore, Stored)
    const toTokenError = () => new TokenError({ reason: "Lookup" })
    const read = Effect.mapError(kept.get("token"), toTokenError)
    return {
      get: Effect.gen(function*() {
        const known = yield* read
        if (Option.isSome(known) && known.value.token !== "") {
          return { ...known.value, token: Redacted.make(known.value.token) }
        }
        const { token } = yield* requestToken
        const generation = 1 + Option.match(known, { onNone: () => 0, onSome: (last) => last.generation })
        yield* Effect.mapError(kept.set("token", { token: Redacted.value(token), generation }), toTokenError)
        return { token, generation }
      }),
      invalidate: ({ generation }) =>
        Effect.flatMap(read, (known) =>
          Option.exists(known, (last) => last.generation === generation)
            ? kept.set("token", { token: "", generation })
            : Effect.void).pipe(Effect.ignore)
    }
  })
)

export const overKept = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerOAuthNoDeps()),
  Layer.provide(layerKept),
  Layer.provide(Endpoints.layer({ baseUrl }))
)

export const leaky = Layer.succeed(TokenCache, {
  // @ts-expect-error a cache fails with TokenError alone
  get: Effect.fail(new Error("the store is down")),
  invalidate: () => Effect.void
})

// Retries off for one call; those of the client stay.
export const onceByOption = (id: CompanyId) => TimePunches.page(id, {}, { retry: { attempts: 1 } })
export const onceByLayer = (id: CompanyId) => Effect.provide(TimePunches.page(id), RetryPolicy.layerNone)
// @ts-expect-error a setting that does not exist
export const misspelt = (id: CompanyId) => TimePunches.page(id, {}, { retry: { attempt: 1 } })

// A backfill into the application's own table. What is unread is JSON in a table, so another process can continue.
const Unread = Schema.fromJsonString(Schema.Array(BackfillSegment))
export const week = {
  clockedIn: { gte: DateTime.makeUnsafe("2026-03-02T00:00:00Z"), lt: DateTime.makeUnsafe("2026-03-09T00:00:00Z") }
}

export const fill = Effect.fn("fill")(function*(id: CompanyId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS own (id INTEGER PRIMARY KEY, line TEXT NOT NULL)`
  yield* sql`CREATE TABLE IF NOT EXISTS unread (segments TEXT NOT NULL)`
  const [stored] = yield* sql<{ readonly segments: string }>`SELECT segments FROM unread`
  const segments = stored === undefined ? undefined : yield* Schema.decodeEffect(Unread)(stored.segments)
  const keep = (unfinished: ReadonlyArray<BackfillSegment>) =>
    Effect.gen(function*() {
      const text = yield* Schema.encodeEffect(Unread)(unfinished)
      yield* sql.withTransaction(
        Effect.andThen(sql`DELETE FROM unread`, sql`INSERT INTO unread (segments) VALUES (${text})`)
      )
    })
  return yield* TimePunches.backfill(id, week, { concurrency: 4, pageSize: 10, segments }).pipe(
    Stream.runForEachArray((punches) =>
      sql.withTransaction(Effect.forEach(
        punches,
        (punch) => sql`INSERT OR REPLACE INTO own (id, line) VALUES (${punch.id}, ${punch.notes})`,
        { discard: true }
      ))
    ),
    Effect.andThen(keep([])),
    Effect.as("complete"),
    Effect.catchTag("BackfillError", (error) => Effect.as(keep(error.unfinished), error.cause._tag))
  )
})

export const foreign = (id: CompanyId) =>
  // @ts-expect-error a text is no segment before it is decoded
  TimePunches.backfill(id, week, { concurrency: 4, segments: ["[]"] })

// A promise at the edge: the signal of a request interrupts the run, and with it the request to the service.
export const atTheEdge = <E>(id: CompanyId, app: Layer.Layer<TimePunches, E>, signal: AbortSignal): Promise<number> =>
  Effect.runPromise(TimePunches.list(id).pipe(Stream.runCount, Effect.provide(app)), { signal })

// Every failure by its tag: what is left has type `never`, so that a new one is an error of the compiler.
const named = ({ _tag }: { readonly _tag: string }) => Effect.succeed(_tag)

const ofListing = {
  Unauthorized: named,
  Forbidden: named,
  UnprocessableEntity: named,
  ServerError: named,
  RateLimited: named,
  ServiceUnavailable: named,
  UnexpectedStatus: named,
  TransportError: named,
  DecodeError: named,
  PaginationError: named,
  LimitReached: named,
  InvalidRequest: named,
  TokenError: named
}

export const listed = (id: CompanyId): Effect.Effect<string, never, TimePunches> =>
  TimePunches.page(id).pipe(Effect.as("listed"), Effect.catchTags(ofListing))

const { LimitReached: _limit, ...withoutLimit } = ofListing
export const forgotten = (id: CompanyId): Effect.Effect<string, never, TimePunches> =>
  // @ts-expect-error one failure is not handled
  TimePunches.page(id).pipe(Effect.as("listed"), Effect.catchTags(withoutLimit))

/** The last handler of the reasons: with a reason that is added, it no longer takes what is left. */
const none = (left: never) => Effect.die(left)

const ofSync = {
  Checkpoint: named,
  NewerCheckpoint: named,
  CursorLost: named,
  Superseded: named,
  TooManyMissing: ({ missing, rows }: SyncReason.TooManyMissing) => Effect.succeed(`${missing} of ${rows}`),
  Store: named
}

export const synced = (id: CompanyId): Effect.Effect<string, never, TimePunches | SyncStore> =>
  Sync.run(id).pipe(
    Effect.as("synced"),
    Effect.catchReasons("SyncError", ofSync, none),
    Effect.catchTags(ofListing)
  )

const ofFleet = { NotMigrated: named, AlreadyRunning: named, Store: named }

export const operated = (id: CompanyId): Effect.Effect<string, never, Fleet> =>
  Fleet.pause([id]).pipe(
    Effect.as("paused"),
    Effect.catchReasons("FleetError", ofFleet, none),
    Effect.catchTag("InvalidRequest", named)
  )

export const half = (id: CompanyId) =>
  // @ts-expect-error two reasons are left
  Fleet.pause([id]).pipe(Effect.as("paused"), Effect.catchReasons("FleetError", { Store: named }, none))

export const corrected = (id: CompanyId): Effect.Effect<string, never, SqlClient.SqlClient> =>
  Close.correct(id).pipe(
    Effect.as("corrected"),
    Effect.catchReasons("SyncError", ofSync, none),
    Effect.catchTags({
      InvalidRequest: named,
      MissingDayRule: named,
      SumOverflow: named,
      HistoryUnavailable: named,
      NotReady: named,
      PeriodClosed: named,
      UnknownClose: named,
      VerificationFailed: named,
      CloseChanged: named,
      OutcomeUnknown: named
    })
  )

export const wrote = (mapping: PayrollFile.Mapping, options: PayrollFile.EncodeOptions): Effect.Effect<string> =>
  Effect.fromResult(PayrollFile.encode(mapping, options)).pipe(
    Effect.as("wrote"),
    Effect.catchTags({
      InvalidRequest: named,
      MappingError: named,
      MissingCodes: named,
      FormulaText: named,
      UnfitCell: named
    })
  )

export const copied = (punches: Stream.Stream<TimePunch>): Effect.Effect<string> =>
  punches.pipe(
    Ndjson.encode,
    Ndjson.decode,
    Csv.encode({ newline: "\n" }),
    Stream.runDrain,
    Effect.as("copied"),
    Effect.catchTags({ UnwritablePunch: named, UnreadableLine: named })
  )

// Punches by name in the application's own interfaces: an HTTP API and a remote procedure.
export const Api = HttpApi.make("app").add(
  HttpApiGroup.make("punches").add(HttpApiEndpoint.post("echo", "/echo", { payload: TimePunch, success: TimePunch }))
)
export class Procedures extends RpcGroup.make(
  Rpc.make("latest", { payload: { company: CompanyId }, success: TimePunch, error: ListError, stream: true })
) {}

// Cursors: pages keep theirs through the operators, and an error keeps that of the page that failed.
export const linesOf = (id: CompanyId, from?: Cursor) =>
  TimePunches.pages(id, {}, { pageSize: 10, cursor: from }).pipe(
    Stream.filter((page) => page.items.length > 0),
    Stream.mapEffect((page) =>
      Effect.as(Effect.yieldNow, { ids: page.items.map((punch) => punch.id), next: page.cursor.next })
    )
  )

// The run is resumed in front of `groupedWithin`: behind it, the rows that it held when the run failed would be lost.
export const resumed = (id: CompanyId) =>
  TimePunches.list(id, {}, { pageSize: 10 }).pipe(
    Stream.catch((error) => TimePunches.list(id, {}, { pageSize: 10, cursor: error.resumeFrom })),
    Stream.map((punch) => punch.id),
    Stream.groupedWithin(7, "1 minute")
  )

export const behindTheLast = (id: CompanyId, next: Option.Option<Cursor>) =>
  // @ts-expect-error behind the last page there is no cursor: `None` would be the first page again
  TimePunches.page(id, {}, { cursor: next })

// The same week by the zone of each location; a location without one is a failure, never the zone of another.
const east = LocationId.make(301)
const west = LocationId.make(302)
export const zones = Period.dayRules(
  new Map([[east, DateTime.zoneMakeNamedUnsafe("America/New_York")], [
    west,
    DateTime.zoneMakeNamedUnsafe(
      "Pacific/Honolulu"
    )
  ]])
)
export const localWeek = Period.byLocation(zones, (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-04")))

export const hoursOf = <E, R>(punches: Stream.Stream<TimePunch, E, R>) =>
  punches.pipe(
    Stream.filterEffect((punch) => Effect.fromResult(localWeek.contains(punch))),
    Stream.run(Labor.rollup((punch) => punch.locationId, { rounding: "halfUp" }))
  )

// @ts-expect-error a text is no zone
export const badZone = () => Period.dayRules(new Map([[east, "America/New_York"]]))
