/** What compiles and what does not: the compiler checks this file, and the test runner only that it can be run. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { type Config, type DateTime, Effect, Layer, type Option, Redacted, type Result, Stream } from "effect"
import type { HttpClient } from "effect/http"
import {
  ApiVersion,
  type BackfillError,
  type BusinessDate,
  type CachedToken,
  Cents,
  type Company,
  CompanyGuid,
  CompanyId,
  Credentials,
  type Cursor,
  type DecodeError,
  type EmployeeApprovalStatus,
  Endpoints,
  type Forbidden,
  type InvalidPunch,
  type InvalidRequest,
  type LimitReached,
  type ListError,
  type ListOptions,
  LocationId,
  type Page,
  type PageOptions,
  type PaginationError,
  type PunchCriteria,
  type PunchFilter,
  type PunchFlag,
  type RateLimited,
  RetryPolicy,
  type ServerError,
  type ServiceUnavailable,
  type ShiftId,
  type TimePunch,
  TimePunches,
  TokenCache,
  TokenEndpoint,
  type TokenError,
  type TransportError,
  type Unauthorized,
  type UnexpectedStatus,
  type UnprocessableEntity,
  UserId,
  withClockWindows,
  withDates
} from "../src/index.ts"
import { at } from "./support/arbitraryPunch.ts"

const company = CompanyId.make(1)
const accepts = <A>(value: A): A => value

describe("every operation", () => {
  it("has its values, its failures and its requirements in its type", () => {
    expectTypeOf(TimePunches.list(company)).toEqualTypeOf<Stream.Stream<TimePunch, ListError, TimePunches>>()
    expectTypeOf(TimePunches.pages(company)).toEqualTypeOf<Stream.Stream<Page, ListError, TimePunches>>()
    expectTypeOf(TimePunches.listResults(company)).toEqualTypeOf<
      Stream.Stream<Result.Result<TimePunch, InvalidPunch>, ListError, TimePunches>
    >()
    expectTypeOf(TimePunches.page(company)).toEqualTypeOf<Effect.Effect<Page, ListError, TimePunches>>()
    expectTypeOf(TimePunches.backfill(company, { clockedIn: { gte: at(0), lt: at(1) } }, { concurrency: 2 }))
      .toEqualTypeOf<Stream.Stream<TimePunch, BackfillError, TimePunches>>()
  })

  it("has no requirements as a member of the service", () => {
    type Service = TimePunches["Service"]

    expectTypeOf<keyof Service>().toEqualTypeOf<"list" | "pages" | "listResults" | "page" | "backfill">()
    expectTypeOf<ReturnType<Service["list"]>>().toEqualTypeOf<Stream.Stream<TimePunch, ListError>>()
    expectTypeOf<ReturnType<Service["pages"]>>().toEqualTypeOf<Stream.Stream<Page, ListError>>()
    expectTypeOf<ReturnType<Service["page"]>>().toEqualTypeOf<Effect.Effect<Page, ListError>>()
  })

  it("fails with the errors of the union, and with no other", () => {
    expectTypeOf<ListError>().toEqualTypeOf<
      | Unauthorized
      | Forbidden
      | UnprocessableEntity
      | ServerError
      | RateLimited
      | ServiceUnavailable
      | UnexpectedStatus
      | TransportError
      | DecodeError
      | PaginationError
      | LimitReached
      | InvalidRequest
      | TokenError
    >()
    expectTypeOf<ListError["resumeFrom"]>().toEqualTypeOf<Option.Option<Cursor>>()
    expectTypeOf<ListError["companyId"]>().toEqualTypeOf<CompanyId>()
  })

  it("has all its failures handled by their tags", () => {
    const handled = Stream.runCount(TimePunches.list(company)).pipe(
      Effect.catchTags({
        Unauthorized: () => Effect.succeed(0),
        Forbidden: ({ problem }) => Effect.succeed(problem.code ?? 0),
        UnprocessableEntity: ({ problem }) => Effect.succeed(problem.param?.length ?? 0),
        ServerError: () => Effect.succeed(0),
        RateLimited: ({ retryAfter }) => Effect.as(Effect.succeed(retryAfter), 0),
        ServiceUnavailable: ({ status }) => Effect.succeed(status),
        UnexpectedStatus: ({ status }) => Effect.succeed(status),
        TransportError: ({ attempts }) => Effect.succeed(attempts),
        DecodeError: ({ path }) => Effect.succeed(path.length),
        PaginationError: ({ pagesCompleted }) => Effect.succeed(pagesCompleted),
        LimitReached: ({ pagesCompleted }) => Effect.succeed(pagesCompleted),
        InvalidRequest: ({ field }) => Effect.succeed(field.length),
        TokenError: ({ reason }) => Effect.succeed(reason.length)
      })
    )

    expectTypeOf(handled).toEqualTypeOf<Effect.Effect<number, never, TimePunches>>()
  })
})

describe("TimePunches.layerWith", () => {
  it("takes a company with a guid only, as the one of an OAuth client", () => {
    const client = { clientId: "c", clientSecret: Redacted.make("secret") }
    const guid = CompanyGuid.make("3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60")

    expectTypeOf(Credentials.layerOAuth).toBeCallableWith({ ...client, company: { id: CompanyId.make(7), guid } })
    // @ts-expect-error a company without a guid
    Credentials.layerOAuth({ ...client, company: { id: CompanyId.make(7) } })
  })

  it("fails and needs what its credentials do, and gives them the endpoints", () => {
    const baseUrl = "https://api.test"
    const plain = TimePunches.layerWith({ baseUrl, credentials: Credentials.layerSessionCookie(Redacted.make("a")) })
    const oauth = TimePunches.layerWith({
      baseUrl,
      credentials: Credentials.layerOAuth({ clientId: "a", clientSecret: Redacted.make("b") })
    })
    const custom = (credentials: Layer.Layer<Credentials, "e", Endpoints | TokenCache>) =>
      TimePunches.layerWith({ baseUrl, credentials })

    expectTypeOf(plain).toEqualTypeOf<Layer.Layer<TimePunches, Config.ConfigError, HttpClient.HttpClient>>()
    expectTypeOf(oauth).toEqualTypeOf<Layer.Layer<TimePunches, Config.ConfigError, HttpClient.HttpClient>>()
    expectTypeOf<ReturnType<typeof custom>>().toEqualTypeOf<
      Layer.Layer<TimePunches, "e" | Config.ConfigError, HttpClient.HttpClient | TokenCache>
    >()
    // @ts-expect-error a client must not fail with more than a client does
    TimePunches.layerWith({ baseUrl, credentials: plain, transformClient: () => 1 })
  })
})

describe("a punch", () => {
  it("has an Option for what may be absent, and branded ids", () => {
    expectTypeOf<TimePunch["clockedIn"]>().toEqualTypeOf<DateTime.Utc>()
    expectTypeOf<TimePunch["clockedOut"]>().toEqualTypeOf<Option.Option<DateTime.Utc>>()
    expectTypeOf<TimePunch["shiftId"]>().toEqualTypeOf<Option.Option<ShiftId>>()
    expectTypeOf<TimePunch["posType"]>().toEqualTypeOf<Option.Option<string>>()
    expectTypeOf<TimePunch["hourlyWage"]>().toEqualTypeOf<Cents>()
    expectTypeOf<TimePunch["deleted"]>().toEqualTypeOf<boolean>()
    expectTypeOf<Page["cursor"]["next"]>().toEqualTypeOf<Option.Option<Cursor>>()
    expectTypeOf<Page["items"]>().toEqualTypeOf<ReadonlyArray<TimePunch>>()
  })

  it("accepts neither one id for another nor a number for an id", () => {
    // @ts-expect-error a user is not a location
    accepts<PunchFilter>({ locationId: UserId.make(1) })
    // @ts-expect-error a number is not an id
    accepts<PunchFilter>({ userId: 1 })
    // @ts-expect-error nor is an amount
    accepts<CompanyId>(Cents.make(1))
    accepts<PunchFilter>({ locationId: LocationId.make(1) })
  })
})

describe("a filter", () => {
  const date: BusinessDate | undefined = undefined
  const base: PunchFilter = { approved: true }

  it("has either clock windows or business dates", () => {
    accepts<PunchFilter>({ clockedIn: { gte: at(0) }, clockedOut: { lt: at(1) } })
    accepts<PunchFilter>({ businessDate: { first: date } })
    // @ts-expect-error business dates would switch the window off
    accepts<PunchFilter>({ businessDate: {}, clockedIn: {} })
    // @ts-expect-error the other window as well
    accepts<PunchFilter>({ businessDate: { first: date }, clockedOut: { lte: at(1) } })
  })

  it("accepts undefined for each property, so that variables pass through", () => {
    const pass = (
      userId: UserId | undefined,
      flags: ReadonlyArray<PunchFlag> | undefined,
      from: DateTime.DateTime | undefined,
      statuses: ReadonlyArray<EmployeeApprovalStatus> | undefined
    ) =>
      accepts<PunchFilter>({
        locationId: undefined,
        departmentId: undefined,
        roleId: undefined,
        userId,
        approved: undefined,
        deleted: undefined,
        modifiedSince: from,
        flags,
        employeeApprovalStatuses: statuses,
        localizeSearchTime: undefined,
        sortBy: undefined,
        clockedIn: { gte: from, lte: undefined, lt: undefined },
        clockedOut: undefined,
        businessDate: undefined
      })
    accepts<ListOptions>({ pageSize: undefined, cursor: undefined, maxPages: undefined, prefetchPages: undefined })
    accepts<PageOptions>({ pageSize: undefined, cursor: undefined })
    accepts<Company>({ id: company, guid: undefined })
    Endpoints.layer({ baseUrl: "https://api.test", authUrl: undefined })
    RetryPolicy.layer({ attempts: undefined })

    assert.isUndefined(pass(undefined, undefined, undefined, undefined).userId)
  })

  it("can extend another filter, also by a window", () => {
    const windowed = { ...base, clockedIn: { gte: at(0) }, businessDate: undefined } satisfies PunchFilter
    const narrowed: PunchFilter = { ...base, userId: UserId.make(1) }

    assert.isTrue(windowed.approved && narrowed.approved)
  })

  it("can be made of criteria and a window, and of any filter with other windows", () => {
    const criteria: PunchCriteria = { approved: true }
    const either = (filter: PunchFilter) => [
      // @ts-expect-error it may hold business dates, which would switch the window off
      accepts<PunchFilter>({ ...filter, clockedIn: { gte: at(0) } }),
      withClockWindows(filter, { clockedIn: { gte: at(0) } }),
      withDates(filter, { first: date })
    ]
    const windowed = { ...criteria, clockedIn: { gte: at(0) } } satisfies PunchFilter
    expectTypeOf(windowed.clockedIn.gte).toEqualTypeOf<DateTime.Utc>()
    expectTypeOf(withClockWindows(criteria, { clockedIn: undefined, clockedOut: {} })).toEqualTypeOf<PunchFilter>()
    expectTypeOf(withDates(windowed, {})).toEqualTypeOf<PunchFilter>()
    // @ts-expect-error business dates are not a clock window
    withClockWindows(criteria, { businessDate: {} })
    // @ts-expect-error instants are not business dates
    withDates(criteria, { gte: at(0) })

    assert.strictEqual(either({}).length, 3)
  })

  it("refuses unknown names and values", () => {
    // @ts-expect-error a field of the wire
    accepts<PunchFilter>({ sortBy: [["clocked_in", "asc"]] })
    // @ts-expect-error a list has no order
    accepts<PunchFilter>({ sortBy: [["breaks", "asc"]] })
    // @ts-expect-error no direction
    accepts<PunchFilter>({ sortBy: [["clockedIn"]] })
    // @ts-expect-error no such flag
    accepts<PunchFilter>({ flags: ["early"] })
    // @ts-expect-error `deleted` has words, not null
    accepts<PunchFilter>({ deleted: null })
    // @ts-expect-error a text is not an instant
    accepts<PunchFilter>({ modifiedSince: "2026-03-01T00:00:00Z" })
    // @ts-expect-error nor is a Date
    accepts<PunchFilter>({ clockedIn: { gte: new Date(0) } })
    // @ts-expect-error a misspelt key
    accepts<PunchFilter>({ userID: UserId.make(1) })
    // @ts-expect-error the deprecated parameter is not there
    accepts<PunchFilter>({ includeDeleted: true })
  })
})

describe("the options of a call", () => {
  it("accept a cursor as an error or a page has it", () => {
    const resume = (error: ListError) => TimePunches.list(company, {}, { cursor: error.resumeFrom })
    // @ts-expect-error behind the last page it is None, which would read as the first page for ever
    const follow = (page: Page) => TimePunches.page({ id: company }, {}, { cursor: page.cursor.next })
    accepts<PageOptions>({ cursor: "start" })
    // @ts-expect-error a text is not a cursor
    accepts<ListOptions>({ from: "next" })

    assert.isFunction(resume)
    assert.isFunction(follow)
  })
})

describe("every layer", () => {
  const secret = Redacted.make("secret")
  type Plain = Layer.Layer<Credentials, Config.ConfigError>
  type OverHttp = Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints>

  it("has its requirements in its type", () => {
    expectTypeOf(TimePunches.layer).toEqualTypeOf<
      Layer.Layer<TimePunches, never, HttpClient.HttpClient | Credentials | Endpoints>
    >()
    expectTypeOf(TimePunches.make).toEqualTypeOf<
      Effect.Effect<TimePunches["Service"], never, HttpClient.HttpClient | Credentials | Endpoints>
    >()
    expectTypeOf(TimePunches.layerFromConfig).toEqualTypeOf<
      Layer.Layer<TimePunches, Config.ConfigError, HttpClient.HttpClient>
    >()
    expectTypeOf(Layer.mock(TimePunches)({})).toEqualTypeOf<Layer.Layer<TimePunches>>()
    expectTypeOf(Credentials.layerAccessToken(secret)).toEqualTypeOf<Plain>()
    expectTypeOf(Credentials.layerSessionCookie(secret)).toEqualTypeOf<Plain>()
    expectTypeOf(Credentials.layerAccessTokens(() => Effect.succeed(secret))).toEqualTypeOf<Layer.Layer<Credentials>>()
    expectTypeOf(Credentials.layerOAuth({ clientId: "id", clientSecret: secret })).toEqualTypeOf<OverHttp>()
    expectTypeOf(Credentials.layerFromConfig).toEqualTypeOf<OverHttp>()
    expectTypeOf(Endpoints.layerFromConfig).toEqualTypeOf<Layer.Layer<Endpoints, Config.ConfigError>>()
    expectTypeOf(Endpoints.layer({ baseUrl: "" })).toEqualTypeOf<Layer.Layer<Endpoints, Config.ConfigError>>()
    expectTypeOf(ApiVersion.layer("")).toEqualTypeOf<Layer.Layer<never, Config.ConfigError>>()
    expectTypeOf(ApiVersion.layerTokenDefault).toEqualTypeOf<Layer.Layer<never>>()
    expectTypeOf(ApiVersion.layerFromConfig).toEqualTypeOf<Layer.Layer<never, Config.ConfigError>>()
    expectTypeOf(RetryPolicy.layer({})).toEqualTypeOf<Layer.Layer<never, Config.ConfigError>>()
    expectTypeOf(RetryPolicy.layerNone).toEqualTypeOf<Layer.Layer<never>>()
    expectTypeOf(TokenCache.layer).toEqualTypeOf<Layer.Layer<TokenCache, never, TokenEndpoint>>()
    expectTypeOf(TokenEndpoint.layer({ clientId: "id", clientSecret: secret })).toEqualTypeOf<
      Layer.Layer<TokenEndpoint, Config.ConfigError, HttpClient.HttpClient | Endpoints>
    >()
    expectTypeOf<TokenCache["Service"]["get"]>().toEqualTypeOf<Effect.Effect<CachedToken, TokenError>>()
  })

  it("accepts no secret that is not Redacted", () => {
    // @ts-expect-error a bare text
    const bare = () => Credentials.layerAccessToken("secret")
    // @ts-expect-error a bare text among the options
    const option = () => Credentials.layerOAuth({ clientId: "id", clientSecret: "secret" })
    // @ts-expect-error no such scope
    const scope = () => Credentials.layerOAuth({ clientId: "id", clientSecret: secret, scopes: ["punches:read"] })
    // @ts-expect-error a text is not a guid
    const guid = () => TimePunches.page({ id: company, guid: "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60" })

    for (const never of [bare, option, scope, guid]) assert.isFunction(never)
    assert.isFunction(CompanyGuid.make)
  })

  it("accepts mock members only with their types", () => {
    Layer.mock(TimePunches)({ list: () => Stream.empty })
    // @ts-expect-error an error that the operation does not have
    const wrong = () => Layer.mock(TimePunches)({ list: () => Stream.fail("boom") })
    // @ts-expect-error a member that the service does not have
    const unknown = () => Layer.mock(TimePunches)({ lists: () => Stream.empty })

    for (const never of [wrong, unknown]) assert.isFunction(never)
  })
})
