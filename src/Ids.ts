/** Every branded identifier and value of the interface. A brand is made with `.make`, never cast. */
import * as Schema from "effect/Schema"
import { parseInstant } from "./internal/wire/instant.ts"

const Id = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Identifies a time punch (spec 2.1). A safe integer >= 0, as every id here; larger int64 values are refused, not rounded. @since 0.1.0 */
export const TimePunchId = Id.pipe(Schema.brand("TimePunchId"))
export type TimePunchId = typeof TimePunchId.Type

/** Identifies a company: the path parameter of the listing (spec 4.1). @since 0.1.0 */
export const CompanyId = Id.pipe(Schema.brand("CompanyId"))
export type CompanyId = typeof CompanyId.Type

/** Identifies the user who clocks in (spec 2.1). @since 0.1.0 */
export const UserId = Id.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

/** Identifies a location (spec 2.1). @since 0.1.0 */
export const LocationId = Id.pipe(Schema.brand("LocationId"))
export type LocationId = typeof LocationId.Type

/** Identifies a department (spec 2.1). On the wire 0 means "not defined", which is `None` here. @since 0.1.0 */
export const DepartmentId = Id.pipe(Schema.brand("DepartmentId"))
export type DepartmentId = typeof DepartmentId.Type

/** Identifies a role (spec 2.1). @since 0.1.0 */
export const RoleId = Id.pipe(Schema.brand("RoleId"))
export type RoleId = typeof RoleId.Type

/** Identifies a shift (spec 2.1). On the wire 0 means "unassigned", which is `None` here. @since 0.1.0 */
export const ShiftId = Id.pipe(Schema.brand("ShiftId"))
export type ShiftId = typeof ShiftId.Type

/** Identifies a break (spec 2.2). @since 0.1.0 */
export const BreakId = Id.pipe(Schema.brand("BreakId"))
export type BreakId = typeof BreakId.Type

/** Identifies the type of a break (spec 2.2); 0 is a value that services send. @since 0.1.0 */
export const CustomBreakId = Id.pipe(Schema.brand("CustomBreakId"))
export type CustomBreakId = typeof CustomBreakId.Type

/** The uuid that maps one-to-one to a company that granted an OAuth client access (spec 5.3); either case. @since 0.1.0 */
export const CompanyGuid = Schema.String.check(Schema.isGUID()).pipe(Schema.brand("CompanyGuid"))
export type CompanyGuid = typeof CompanyGuid.Type

/**
 * The opaque place of a page in a listing (spec 4.3): any text but the empty one and one that no URL can carry. Keep it,
 * send it back, do not look inside.
 *
 * @since 0.1.0
 */
export const Cursor = Schema.NonEmptyString
  .check(Schema.makeFilter((text: string) => !/\p{Surrogate}/u.test(text), { expected: "a text that a URL can carry" }))
  .pipe(Schema.brand("Cursor"))
export type Cursor = typeof Cursor.Type

/** A date is real where its midnight is an instant. */
const isCalendarDate = (text: string): boolean => text.length === 10 && !Number.isNaN(parseInstant(`${text}T00:00:00Z`))

/** A date of the calendar, `YYYY-MM-DD` (spec 4.1); 30 February and year 0000 are refused. @since 0.1.0 */
export const BusinessDate = Schema.String
  .check(Schema.makeFilter(isCalendarDate, { expected: "a real date as YYYY-MM-DD" }))
  .pipe(Schema.brand("BusinessDate"))
export type BusinessDate = typeof BusinessDate.Type

/** An amount in minor currency units, any sign (spec 2.1). A decimal is refused: it would be a wrong amount. @since 0.1.0 */
export const Cents = Schema.Int.pipe(Schema.brand("Cents"))
export type Cents = typeof Cents.Type
