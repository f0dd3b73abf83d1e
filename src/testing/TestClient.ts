/** Punches for a mock, and a client over the fake service in one layer. No test runner, no Node. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Company } from "../Company.ts"
import { Credentials } from "../Credentials.ts"
import { Endpoints } from "../Endpoints.ts"
import {
  BreakId,
  Cents,
  CompanyGuid,
  CompanyId,
  CustomBreakId,
  DepartmentId,
  LocationId,
  RoleId,
  ShiftId,
  TimePunchId,
  UserId
} from "../Ids.ts"
import { parseInstant } from "../internal/wire/instant.ts"
import { Break, TimePunch } from "../TimePunch.ts"
import { TimePunches } from "../TimePunches.ts"
import type { StoredPunch, WirePunch } from "./base/WirePunch.ts"
import { FakeService } from "./FakeService.ts"
import { defaultCompany, type FakeServiceOptions } from "./service/options.ts"

/** The company of punches that name no other, with its guid: 4021, the first company of the fake service. */
export const company: Company = {
  id: CompanyId.make(defaultCompany.id),
  guid: CompanyGuid.make(defaultCompany.guid)
}

/** An instant: an ISO 8601 text with a zone, such as `2026-03-02T14:00:00Z`, or a `DateTime`. */
export type InstantInput = string | DateTime.DateTime

/** How a test writes a value: a plain number for an id or cents, a text for an instant, `null` for `None`. */
export type Given<A> = A extends number ? number
  : A extends Option.Option<infer B> ? Given<B> | null
  : A extends DateTime.Utc ? InstantInput
  : A

/** The fields of a punch that a test names. */
export type PunchInput = { readonly [Field in keyof TimePunch]?: Given<TimePunch[Field]> | undefined }

/** The fields of a break that a test names. */
export type BreakInput = { readonly [Field in keyof Break]?: Given<Break[Field]> | undefined }

/**
 * A punch with the fields that a test names. The others are those of an approved shift of eight hours from
 * 2026-03-02T14:00:00Z (9:00 in New York) of user 501, role 11, location 301, company 4021, for 1500 cents an hour,
 * without tips or breaks. `clockedOut: null` leaves it open; without `clockedOut` it ends eight hours after `clockedIn`.
 * `created` and `modified` are the clock-in and the clock-out unless they are given. Without `id`, user and clock-in give
 * one, so that two punches of a test differ.
 *
 * Throws a `RangeError` on a text that is not an instant, and a `SchemaError` on a value that no punch has.
 *
 * **Example** (A mock of one listing)
 *
 * ```ts
 * import { Layer, Stream } from "effect"
 * import { TimePunches } from "effect-time-punches"
 * import { TestClient } from "effect-time-punches/testing"
 *
 * const lunch = TestClient.punchBreak({ in: "2026-03-02T17:00:00Z", out: "2026-03-02T17:30:00Z" })
 *
 * export const mock = Layer.mock(TimePunches)({
 *   list: () => Stream.make(TestClient.punch({ userId: 7, clockedIn: "2026-03-02T14:00:00Z", breaks: [lunch] }))
 * })
 * ```
 */
export const punch = (input: PunchInput = {}): TimePunch => {
  const clockedIn = instant("clockedIn", input.clockedIn ?? "2026-03-02T14:00:00Z")
  const clockedOut = input.clockedOut === undefined
    ? Option.some(DateTime.add(clockedIn, { hours: 8 }))
    : optionalInstant("clockedOut", input.clockedOut)
  const userId = input.userId ?? usualUser
  return TimePunch.make({
    id: TimePunchId.make(input.id ?? idFrom(userId, clockedIn)),
    companyId: CompanyId.make(input.companyId ?? defaultCompany.id),
    userId: UserId.make(userId),
    roleId: RoleId.make(input.roleId ?? 11),
    locationId: LocationId.make(input.locationId ?? 301),
    shiftId: optional(input.shiftId, (id) => ShiftId.make(id)),
    departmentId: optional(input.departmentId, (id) => DepartmentId.make(id)),
    clockedIn,
    clockedOut,
    hourlyWage: Cents.make(input.hourlyWage ?? 1500),
    tips: Cents.make(input.tips ?? 0),
    approved: input.approved ?? true,
    editablePunch: input.editablePunch ?? true,
    notes: input.notes ?? "",
    posType: optional(input.posType, (type) => type),
    breaks: input.breaks ?? [],
    autoClockedOut: input.autoClockedOut ?? false,
    clockedInOffline: input.clockedInOffline ?? false,
    clockedOutOffline: input.clockedOutOffline ?? false,
    created: input.created === undefined ? Option.some(clockedIn) : optionalInstant("created", input.created),
    modified: input.modified === undefined
      ? Option.some(Option.getOrElse(clockedOut, () => clockedIn))
      : optionalInstant("modified", input.modified),
    deleted: input.deleted ?? false
  })
}

/**
 * A break with the fields that a test names, for `breaks` of `punch`. The others are those of an unpaid break of user 501
 * with id 1, from 2026-03-02T18:00:00Z. `out: null` leaves it open; without `out` it ends half an hour after `in`. Throws
 * as `punch` does.
 */
export const punchBreak = (input: BreakInput = {}): Break => {
  const begin = instant("in", input.in ?? "2026-03-02T18:00:00Z")
  return Break.make({
    id: BreakId.make(input.id ?? 1),
    userId: UserId.make(input.userId ?? usualUser),
    customBreakId: CustomBreakId.make(input.customBreakId ?? 0),
    paid: input.paid ?? false,
    in: begin,
    out: input.out === undefined
      ? Option.some(DateTime.add(begin, { minutes: 30 }))
      : optionalInstant("out", input.out),
    deleted: input.deleted ?? false
  })
}

/** Options of `TestClient.layer`: those of the fake service. */
export interface TestClientOptions extends Omit<FakeServiceOptions, "punches"> {
  /** Punches to begin with: of `punch`, or in the form of the wire. Default: none. */
  readonly punches?: ReadonlyArray<TimePunch | StoredPunch | WirePunch> | undefined
}

/**
 * A client with the access token of each company, over a fake service in memory. `TestClock` controls the time of both,
 * `FakeService` injects faults and changes punches. A company that the service does not have is `Forbidden`. Each call
 * makes a layer with separate state.
 *
 * Throws a `RangeError` if two punches have the same company and id: the service would keep one of them.
 *
 * **Example** (A listing that meets an outage)
 *
 * ```ts
 * import { Effect, Stream } from "effect"
 * import { TimePunches } from "effect-time-punches"
 * import { FakeService, Fault, TestClient } from "effect-time-punches/testing"
 *
 * export const users = Effect.gen(function*() {
 *   const service = yield* FakeService
 *   yield* service.inject(Fault.unauthorizedOnce)
 *   return yield* TimePunches.list(TestClient.company).pipe(Stream.map(({ userId }) => userId), Stream.runCollect)
 * }).pipe(Effect.provide(TestClient.layer({ punches: [7, 8].map((userId) => TestClient.punch({ userId })) })))
 * ```
 */
export const layer = (options: TestClientOptions = {}): Layer.Layer<TimePunches | FakeService> => {
  const punches = (options.punches ?? []).map((punch) => "companyId" in punch ? encode(punch) : punch)
  rejectTwins(punches)
  const companies = options.companies ?? [defaultCompany]
  const tokens = new Map<number, string>(companies.map(({ accessToken, id }) => [id, accessToken]))
  // A company that is not served gets the token of another one, which the service refuses for it.
  const anyToken = companies[0]?.accessToken ?? "none"
  return TimePunches.layer.pipe(
    Layer.provide(
      Credentials.layerAccessTokens((company) => Effect.succeed(Redacted.make(tokens.get(company) ?? anyToken)))
    ),
    Layer.provide(Endpoints.layer({ baseUrl: `http://localhost${options.basePath ?? ""}` })),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer({ ...options, companies, punches })),
    Layer.orDie
  )
}

const usualUser = 501

const instant = (field: string, input: InstantInput): DateTime.Utc => {
  const millis = typeof input === "string" ? parseInstant(input) : input.epochMilliseconds
  if (!Number.isNaN(millis)) return DateTime.makeUnsafe(millis)
  throw new RangeError(`${field} is not an instant with a zone, such as 2026-03-02T14:00:00Z`)
}

const optionalInstant = (field: string, input: InstantInput | null) =>
  Option.map(Option.fromNullOr(input), (input) => instant(field, input))

const optional = <A, B>(input: A | null | undefined, make: (input: A) => B): Option.Option<B> =>
  Option.map(Option.fromNullishOr(input), make)

/** An id below 2³¹ that differs for another user or clock-in of the same year. */
const idFrom = (userId: number, clockedIn: DateTime.Utc): number =>
  1 + (userId * 31_622_401 + Math.floor(clockedIn.epochMilliseconds / 1000)) % 2_147_483_646

const encodePunch = Schema.encodeSync(TimePunch.Wire)

/** The punch as the fake service sends it: with every key, as the service does. */
const encode = (punch: TimePunch): WirePunch => {
  const wire = encodePunch(punch)
  return {
    ...wire,
    shift_id: wire.shift_id ?? 0,
    department_id: wire.department_id ?? null,
    pos_type: wire.pos_type ?? null,
    breaks: (wire.breaks ?? []).map((rest) =>
      Object.assign({}, rest, { out: rest.out ?? null, deleted: rest.deleted ?? false })
    )
  }
}

const rejectTwins = (punches: ReadonlyArray<StoredPunch | WirePunch>): void => {
  const keys = new Set<string>()
  for (const { company_id, id } of punches) {
    const key = `${company_id}/${id}`
    if (keys.has(key)) throw new RangeError(`TestClient.layer: company ${company_id} has two punches with id ${id}`)
    keys.add(key)
  }
}
