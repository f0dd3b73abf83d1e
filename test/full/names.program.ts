/** The public names as a strict program uses them: compiled here, and once more against the packed package. */
import {
  Config,
  DateTime,
  Duration,
  Effect,
  type HashMap,
  Layer,
  Option,
  Redacted,
  type Result,
  Schema,
  Stream
} from "effect"
import {
  ApiVersion,
  BackfillError,
  type BackfillFilter,
  type BackfillOptions,
  BackfillSegment,
  Break,
  BreakId,
  BusinessDate,
  type CachedToken,
  Cents,
  type ClientOptions,
  Company,
  CompanyGuid,
  CompanyId,
  Credentials,
  Cursor,
  CustomBreakId,
  type DateRange,
  DecodeError,
  DepartmentId,
  type EmployeeApprovalStatus,
  Endpoints,
  Forbidden,
  type InstantRange,
  InvalidPunch,
  InvalidRequest,
  type IssuedToken,
  LimitReached,
  ListError,
  type ListOptions,
  LocationId,
  OAuthScope,
  Page,
  type PageOptions,
  PaginationError,
  Problem,
  type PunchCriteria,
  PunchFilter,
  PunchFlag,
  RateLimited,
  RetryPolicy,
  RoleId,
  ServerError,
  ServiceUnavailable,
  ShiftId,
  type SignedRequest,
  TimePunch,
  TimePunches,
  TimePunchId,
  TokenCache,
  TokenEndpoint,
  TokenError,
  TracePropagation,
  TransportError,
  Unauthorized,
  UnexpectedStatus,
  UnprocessableEntity,
  UserId
} from "effect-time-punches"
import { Csv, Ndjson } from "effect-time-punches/export"
import { Labor, PayCalendar, PayPeriod, Period, PeriodCheck, WorkedTime } from "effect-time-punches/payroll"
import {
  defaultCompany,
  type FakeRequest,
  type FakeResponse,
  FakeService,
  Fault,
  generatePunches
} from "effect-time-punches/testing"
import { FakeServer } from "effect-time-punches/testing/node"

const company = { id: CompanyId.make(7), guid: CompanyGuid.make("7f6d3c1e-2c55-4be0-9d0b-0a4f2f6c1a11") }
export const configured = Company.config
const at = DateTime.makeUnsafe("2026-03-09T04:00:00Z")

// Filters: a base that is narrowed, both kinds of window, and the codec that writes a filter down.
const base: PunchCriteria = {
  locationId: LocationId.make(1),
  departmentId: DepartmentId.make(2),
  roleId: RoleId.make(3),
  userId: UserId.make(4),
  approved: true,
  deleted: "include",
  modifiedSince: at,
  flags: [PunchFlag.literals[0]],
  employeeApprovalStatuses: ["disputed" satisfies EmployeeApprovalStatus],
  sortBy: [["clockedIn", "asc"]]
}
const range: InstantRange = { gte: at, lt: DateTime.add(at, { days: 7 }) }
const dates: DateRange = { first: BusinessDate.make("2026-03-09"), last: BusinessDate.make("2026-03-15") }
const filters: ReadonlyArray<PunchFilter> = [{ ...base, clockedIn: range }, { ...base, businessDate: dates }]
const written = Effect.forEach(filters, (filter) => Schema.encodeEffect(PunchFilter)(filter))
const readBack: Effect.Effect<PunchFilter, Schema.SchemaError> = Schema.decodeUnknownEffect(PunchFilter)({
  locationId: 1,
  clockedIn: { gte: "2026-03-09T04:00:00Z" }
})

// Layers.
const endpoints = Endpoints.layer({
  baseUrl: "https://punches.example.com",
  authUrl: new URL("https://auth.example.com")
})
const environment: ReadonlyArray<Layer.Layer<never, Config.ConfigError, never> | Layer.Any> = [
  Endpoints.layerFromConfig,
  Credentials.layerFromConfig,
  ApiVersion.layerFromConfig,
  TimePunches.layerFromConfig
]
const scopes: ReadonlyArray<OAuthScope> = OAuthScope.literals.filter((scope) => scope.endsWith(":read"))
const secret = Redacted.make("secret")
const credentials = [
  Credentials.layerAccessToken(secret),
  Credentials.layerAccessTokens((id: CompanyId) => Effect.succeed(Redacted.make(`token-${id}`))),
  Credentials.layerSessionCookie(secret, { name: "svcsession" }),
  Credentials.layerOAuth({ clientId: "client", clientSecret: secret, scopes, company })
]
const versions = [ApiVersion.layer("2026-06-01"), ApiVersion.layerTokenDefault]
const retries = [RetryPolicy.layer({ attempts: 5, attemptTimeout: "1 minute", budget: 100 }), RetryPolicy.layerNone]
const propagation = Layer.succeed(TracePropagation, true)
const mock = Layer.mock(TimePunches)({ list: () => Stream.fail(new Forbidden({})) })

// A credential and a token endpoint of the caller's own need public names only.
const signing = Layer.succeed(Credentials, {
  sign: ({ request }) => Effect.succeed({ request, onUnauthorized: Effect.succeed(false) } satisfies SignedRequest)
})
const withOptions: ClientOptions<never, never> = {
  baseUrl: "https://punches.example.com",
  credentials: signing,
  retry: { attempts: 5 },
  apiVersion: Option.none(),
  transformClient: (client) => client
}
const wired = TimePunches.layerWith(withOptions)
const vault = Layer.succeed(TokenEndpoint, {
  requestToken: Effect.fail(
    new TokenError({ reason: "Throttled", status: Option.some(429), retryAfter: Option.some(Duration.seconds(5)) })
  )
})
const issued: IssuedToken = { token: secret, lifetime: Duration.hours(1) }
const cached: Effect.Effect<CachedToken, TokenError, TokenCache> = TokenCache.use((cache) =>
  Effect.tap(cache.get, cache.invalidate)
)
const cacheOverVault: Layer.Layer<TokenCache> = Layer.provide(TokenCache.layer, vault)

// Listings.
const options: ListOptions = { pageSize: 50, cursor: Option.none(), maxPages: 100, prefetchPages: 1 }
const onePage: PageOptions = { pageSize: 50, cursor: Cursor.make("eyJpZCI6MX0=") }
const rows: Stream.Stream<TimePunch, ListError, TimePunches> = TimePunches.list(company, filters[0], options)
const pages: Stream.Stream<Page, ListError, TimePunches> = TimePunches.pages(company.id)
const results: Stream.Stream<Result.Result<TimePunch, InvalidPunch>, ListError, TimePunches> = TimePunches.listResults(
  company
)
const page: Effect.Effect<Page, ListError, TimePunches> = TimePunches.page(company, undefined, onePage)
const resumable = (segments: ReadonlyArray<BackfillSegment>): string => JSON.stringify(segments)
const stored = Schema.fromJsonString(Schema.Array(BackfillSegment))
const window: BackfillFilter = { clockedIn: { gte: at, lt: DateTime.add(at, { days: 30 }) } }
const parallel: BackfillOptions = { concurrency: 8, order: "byTime", pageSize: 200 }
const history = TimePunches.backfill(company, window, parallel).pipe(
  Stream.catchTag("BackfillError", (error: BackfillError) =>
    TimePunches.backfill(company, window, {
      concurrency: 1,
      order: "asCompleted",
      segments: Schema.decodeSync(stored)(resumable(error.unfinished))
    }))
)

// Errors: every tag, its fields, and the union as a schema.
const advise = (error: ListError): string => {
  switch (error._tag) {
    case "Unauthorized":
    case "Forbidden":
    case "UnprocessableEntity":
    case "ServerError":
    case "ServiceUnavailable":
    case "UnexpectedStatus":
      return `${error.status} ${error.problem.title ?? ""}`
    case "RateLimited":
      return Option.match(error.retryAfter, { onNone: () => "later", onSome: Duration.format })
    case "TransportError":
      return `${error.reason} ${Option.getOrElse(error.code, () => "")}`
    case "DecodeError":
      return `${error.reason} ${error.path} ${Option.getOrElse(error.punchId, () => 0)}`
    case "LimitReached":
    case "PaginationError":
      return `${error.reason} after ${error.pagesCompleted} pages, ${error.attempts} attempts`
    case "InvalidRequest":
      return `${error.field} ${error.detail} of ${error.companyId}`
    case "TokenError":
      return `${error.reason} ${Option.getOrElse(error.status, () => 0)}`
  }
}
const resume = (error: ListError) => TimePunches.list(company, {}, { cursor: error.resumeFrom })
const logged = Schema.encodeEffect(ListError)
const problem: Problem = { title: "Forbidden", code: 1000 }
const made: ReadonlyArray<ListError> = [
  new Unauthorized({}),
  new Forbidden({ problem }),
  new UnprocessableEntity({}),
  new ServerError({}),
  new RateLimited({ retryAfter: Option.some(Duration.seconds(1)) }),
  new ServiceUnavailable({}),
  new UnexpectedStatus({ status: 404 }),
  new TransportError({ reason: "Connect" }),
  new DecodeError({ reason: "Schema" }),
  new PaginationError({ reason: "CursorCycle" }),
  new LimitReached({ reason: "MaxPages" }),
  new InvalidRequest({ field: "pageSize", detail: "must be 200 at most" }),
  new TokenError({ reason: "InvalidClient" })
]
const row = new InvalidPunch({ index: 0, path: "clocked_in" })

// Values.
const ids = [TimePunchId.make(1), ShiftId.make(2), BreakId.make(3), CustomBreakId.make(4), Cents.make(-5)]
const codecs = [TimePunch.Wire, Break.Wire, Page, BackfillSegment, BackfillError]
const zone = DateTime.zoneMakeNamedUnsafe("America/New_York")
const week = Period.week(zone, BusinessDate.make("2026-03-09"), { firstDay: "sunday" })
const next: Option.Option<BusinessDate> = Period.addDays(BusinessDate.make("2026-03-09"), 7)
const sure: BusinessDate = BusinessDate.make("2026-03-16")
const fortnights = PayCalendar.make({ kind: "days", days: 14, anchor: BusinessDate.make("2026-01-05") })
const paid: PayPeriod = Period.payPeriod(fortnights, sure)
const worked = (punch: TimePunch) => [WorkedTime.measure(punch).durations, Labor.cost(punch, { rounding: "halfUp" })]
const totals = rows.pipe(Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" })))
const overflow = (error: Labor.SumOverflow) => error.field
const byUser = { columns: { user_id: (id: UserId) => id } }
const sums = Effect.map(totals, (each) => [Labor.toCsv(each, byUser), Labor.toJson(each, byUser)])
const zones: Period.DayRules<Period.MissingDayRule> = Period.dayRules(new Map([[LocationId.make(301), zone]]))
const weeks: Period.LocalPeriods<Period.MissingDayRule> = Period.byLocation(zones, (each) => Period.week(each, sure))
const own = rows.pipe(Stream.filterEffect((punch) => Effect.fromResult(weeks.contains(punch))))
const hours: Effect.Effect<
  HashMap.HashMap<UserId, Labor.HoursOverThreshold>,
  ListError | Labor.SumOverflow,
  TimePunches
> = rows
  .pipe(Stream.run(Labor.hoursOverThreshold({ dayRule: zone, weeklyThreshold: "40 hours", dailyThreshold: "8 hours" })))
const closing: PeriodCheck.PeriodCheckOptions<Period.MissingDayRule> = {
  dayRule: zones,
  period: (each) => Period.week(each, sure)
}
const issues: Effect.Effect<
  ReadonlyArray<PeriodCheck.Issue>,
  ListError | Period.MissingDayRule,
  TimePunches
> = TimePunches.list(CompanyId.make(7), { clockedIn: PeriodCheck.queryWindow(closing) }).pipe(
  Stream.run(PeriodCheck.check(closing))
)
const kinds: ReadonlyArray<PeriodCheck.IssueKind> = PeriodCheck.IssueKind.literals

// Subpaths.
const lines = rows.pipe(Ndjson.encode, Ndjson.decode)
const sheet = Csv.encode(rows)
const fake = FakeService.layer({ punches: generatePunches({ seed: 1, count: 10, companyId: defaultCompany.id }) })
const server = Layer.provide(FakeServer.layer(), fake)
const broken = FakeService.use((service) => service.inject(Fault.status(503)))
const seen = (request: FakeRequest, response: FakeResponse) => [request, response]

export const program = {
  advise,
  broken,
  cacheOverVault,
  cached,
  codecs,
  credentials,
  endpoints,
  environment,
  history,
  hours,
  ids,
  issues,
  issued,
  kinds,
  lines,
  logged,
  made,
  mock,
  wired,
  next,
  overflow,
  paid,
  own,
  page,
  pages,
  propagation,
  readBack,
  results,
  resume,
  retries,
  row,
  seen,
  server,
  sheet,
  signing,
  sums,
  totals,
  versions,
  week,
  worked,
  written
}
