/** Every branded identifier and value of the interface. A brand is made with `.make`, never cast. */
import * as Schema from "effect/Schema"
import { isCalendarDate } from "./internal/wire/instant.ts"
import { named } from "./internal/wire/issue.ts"

/** 2^53 is an integer too. */
const SafeInt = Schema.Int.annotate({ expected: "a safe integer" })

const Id = SafeInt.check(Schema.isGreaterThanOrEqualTo(0))

const PositiveId = SafeInt.check(Schema.isGreaterThan(0))

/**
 * Identifies a time punch. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(TimePunchId)`.
 */
export const TimePunchId = Id.pipe(Schema.brand("TimePunchId"), named)

export type TimePunchId = typeof TimePunchId.Type

/**
 * Identifies a company, in the path of every listing. A safe integer, 1 or more; a larger int64 is refused, not rounded.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(CompanyId)`.
 */
export const CompanyId = PositiveId.pipe(Schema.brand("CompanyId"), named)

export type CompanyId = typeof CompanyId.Type

/**
 * Identifies the user who clocks in. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(UserId)`.
 */
export const UserId = Id.pipe(Schema.brand("UserId"), named)

export type UserId = typeof UserId.Type

/**
 * Identifies a location. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(LocationId)`.
 */
export const LocationId = Id.pipe(Schema.brand("LocationId"), named)

export type LocationId = typeof LocationId.Type

/**
 * Identifies a department. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * On the wire of a punch, 0 means "not defined": `None` in `TimePunch`.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(DepartmentId)`.
 */
export const DepartmentId = Id.pipe(Schema.brand("DepartmentId"), named)

export type DepartmentId = typeof DepartmentId.Type

/**
 * Identifies a role. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(RoleId)`.
 */
export const RoleId = Id.pipe(Schema.brand("RoleId"), named)

export type RoleId = typeof RoleId.Type

/**
 * Identifies a scheduled shift. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * On the wire of a punch, 0 means "unassigned": `None` in `TimePunch`.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(ShiftId)`.
 */
export const ShiftId = Id.pipe(Schema.brand("ShiftId"), named)

export type ShiftId = typeof ShiftId.Type

/**
 * Identifies a break. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(BreakId)`.
 */
export const BreakId = Id.pipe(Schema.brand("BreakId"), named)

export type BreakId = typeof BreakId.Type

/**
 * Identifies a type of break. A safe integer, 0 or more; a larger int64 is refused, not rounded.
 * 0 is a value that services send.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(CustomBreakId)`.
 */
export const CustomBreakId = Id.pipe(Schema.brand("CustomBreakId"), named)

export type CustomBreakId = typeof CustomBreakId.Type

/**
 * The UUID of a company that granted access to an OAuth client, in upper or lower case.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(CompanyGuid)`.
 */
export const CompanyGuid = Schema.String.check(Schema.isGUID()).pipe(Schema.brand("CompanyGuid"), named)

export type CompanyGuid = typeof CompanyGuid.Type

/**
 * The place of a page in a listing. It is opaque: store it and send it back, but do not read it. Any text except the
 * empty one and one that no URL can carry.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(Cursor)`.
 */
export const Cursor = Schema.NonEmptyString
  .check(Schema.makeFilter((text: string) => !/\p{Surrogate}/u.test(text), { expected: "a text that a URL can carry" }))
  .pipe(Schema.brand("Cursor"), named)

export type Cursor = typeof Cursor.Type

/**
 * A date of the calendar, `YYYY-MM-DD`. 30 February and the year 0000 are refused.
 * `.make` is for literals only: it throws, and `2026-2-3` is refused, since the service wants two digits. Read a user's text with
 * `Schema.decodeUnknownEffect(BusinessDate)`.
 */
export const BusinessDate = Schema.String
  .check(Schema.makeFilter(isCalendarDate, {
    expected: "a real date as YYYY-MM-DD",
    arbitraryConstraint: { patterns: [{ source: "^[12]\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])$", flags: "" }] }
  }))
  .pipe(Schema.brand("BusinessDate"), named)

export type BusinessDate = typeof BusinessDate.Type

/**
 * An amount in minor currency units, of any sign. A decimal is refused: it would be a wrong amount.
 * `.make` is for literals only: it throws. Read a user's input with
 * `Schema.decodeUnknownEffect(Cents)`.
 */
export const Cents = SafeInt.pipe(Schema.brand("Cents"), named)

export type Cents = typeof Cents.Type
