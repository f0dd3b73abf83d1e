/** Filters, and the query that each sends. */
import { Console, DateTime, Effect, Layer, Redacted, Stream } from "effect"
import {
  BusinessDate,
  CompanyId,
  Credentials,
  Endpoints,
  LocationId,
  type PunchCriteria,
  type PunchFilter,
  TimePunches,
  withClockWindows,
  withDates
} from "effect-time-punches"
import { Period } from "effect-time-punches/payroll"
import { defaultCompany, FakeService } from "effect-time-punches/testing"

const berlin = DateTime.zoneMakeNamedUnsafe("Europe/Berlin")

export const atOneLocation: PunchFilter = { locationId: LocationId.make(301), approved: true }

export const changed: PunchFilter = { modifiedSince: DateTime.makeUnsafe("2026-03-08T00:00:00Z"), deleted: "include" }

export const toReview: PunchFilter = { flags: ["late", "missed_break"], employeeApprovalStatuses: ["disputed"] }

export const newestFirst: PunchFilter = { sortBy: [["clockedIn", "desc"], ["id", "asc"]] }

export const march: PunchFilter = {
  clockedIn: { gte: DateTime.makeUnsafe("2026-03-01T00:00:00Z"), lt: DateTime.makeUnsafe("2026-04-01T00:00:00Z") }
}

export const weekInBerlin: PunchFilter = { clockedIn: Period.week(berlin, BusinessDate.make("2026-03-29")) }

export const withDeleted: PunchFilter = { deleted: "include" }

export const twoBusinessDays: PunchFilter = {
  businessDate: { first: BusinessDate.make("2026-03-02"), last: BusinessDate.make("2026-03-03") }
}

export const base: PunchCriteria = { locationId: LocationId.make(301), deleted: "include" }

export const firstOfMarch = {
  ...base,
  clockedIn: { gte: DateTime.makeUnsafe("2026-03-01T00:00:00Z"), lt: DateTime.makeUnsafe("2026-03-02T00:00:00Z") }
} satisfies PunchFilter

export const closedInMarch = withClockWindows(firstOfMarch, { clockedOut: march.clockedIn })

export const datesOfMarch = withDates(closedInMarch, {
  first: BusinessDate.make("2026-03-01"),
  last: BusinessDate.make("2026-03-31")
})

const wanted = [LocationId.make(301), LocationId.make(302)]

/** Two listings, one after the other: only the rows of both locations are sent. Sorted within each location. */
export const twoLocations = (company: CompanyId) =>
  Stream.flatMap(Stream.fromIterable(wanted), (locationId) => TimePunches.list(company, { locationId }))

/** One listing, in one order and from one cursor: the rows of every location are sent. */
export const ofTwoLocations = (company: CompanyId) =>
  Stream.filter(TimePunches.list(company), ({ locationId }) => wanted.includes(locationId))

/** Prints the query of each filter, as the service received it. */
export const printQueries = Effect.gen(function*() {
  const service = yield* FakeService
  const filters = {
    atOneLocation,
    withDeleted,
    changed,
    toReview,
    march,
    weekInBerlin,
    twoBusinessDays,
    newestFirst,
    firstOfMarch,
    closedInMarch,
    datesOfMarch
  }
  for (const [name, filter] of Object.entries(filters)) {
    yield* TimePunches.page(CompanyId.make(defaultCompany.id), filter)
    const sent = (yield* service.requests).at(-1)
    yield* Console.log(`${name}\n  ${sent?.rawQuery}`)
  }
})

export const app = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
  Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
  Layer.provide(FakeService.layerClient),
  Layer.provideMerge(FakeService.layer())
)

if (import.meta.main) await Effect.runPromise(Effect.provide(printQueries, app))
