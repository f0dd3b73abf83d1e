/** A time punch and its breaks: the schemas of the domain side, and `Wire`, the codecs of the wire side. */
import * as Schema from "effect/Schema"
import * as Transformation from "effect/SchemaTransformation"
import {
  BreakId,
  Cents,
  CompanyId,
  CustomBreakId,
  DepartmentId,
  LocationId,
  RoleId,
  ShiftId,
  TimePunchId,
  UserId
} from "./Ids.ts"
import { compiled, decodeBreak, decodePunch } from "./internal/wire/decoder.ts"
import { encodeBreak, encodePunch } from "./internal/wire/encoder.ts"
import { breakNames, fromWireNames, timePunchNames, toWireNames } from "./internal/wire/names.ts"
import { StoredInstant, Wage, WireBreak, wireTimePunch } from "./internal/wire/schema.ts"

/** A break taken during a punch: a plain value with camelCase names. */
export class Break extends Schema.Opaque<Break>()(
  Schema.Struct({
    /** Identifies the break. */
    id: BreakId,
    /** The user who took the break: the user of the punch. */
    userId: UserId,
    /** The type of break, as the company defines it; 0 is a value that services send. */
    customBreakId: CustomBreakId,
    /** Whether the break counts as paid time. */
    paid: Schema.Boolean,
    /** Start of the break, UTC to the millisecond. */
    in: StoredInstant,
    /** End of the break, UTC to the millisecond; `None` while the break is open. */
    out: Schema.OptionFromNullOr(StoredInstant),
    /** Whether the break was deleted: it counts nowhere. `false` if the wire has null or no key. */
    deleted: Schema.Boolean
  }).annotate({ identifier: "Break" })
) {
  /**
   * The codec between a break and its JSON on the wire, whose keys are snake_case. A failure names the path by the wire
   * names and states what was expected, never the value.
   */
  static get Wire(): Schema.Codec<Break, typeof WireBreak.Encoded> {
    return breakFromWire
  }
}

const positive = Schema.isGreaterThan(0)

/**
 * When a user clocked in and out, with role, place, wage, tips and breaks: a plain value with camelCase names.
 *
 * Instants are UTC to the millisecond; finer digits are cut. Amounts are cents.
 */
export class TimePunch extends Schema.Opaque<TimePunch>()(
  Schema.Struct({
    /** Identifies the punch. */
    id: TimePunchId,
    /** The company that the punch belongs to. */
    companyId: CompanyId,
    /** The user who clocked in. */
    userId: UserId,
    /** The role that the user worked in. */
    roleId: RoleId,
    /** The location where the user worked. */
    locationId: LocationId,
    /** The scheduled shift; `None` for the 0, null and absent of the wire. */
    shiftId: Schema.OptionFromNullOr(ShiftId.check(positive)),
    /** The department; `None` for the 0, null and absent of the wire. */
    departmentId: Schema.OptionFromNullOr(DepartmentId.check(positive)),
    /** Start of the punch. */
    clockedIn: StoredInstant,
    /** End of the punch; `None` while the user is clocked in. */
    clockedOut: Schema.OptionFromNullOr(StoredInstant),
    /** Wage per hour in cents, 0 or more. */
    hourlyWage: Wage,
    /** Tips in cents, of any sign. */
    tips: Cents,
    /** Whether a manager approved the punch. */
    approved: Schema.Boolean,
    /** Whether the punch may be edited. */
    editablePunch: Schema.Boolean,
    /** Free text; empty if the punch has none. */
    notes: Schema.String,
    /** The source of the punch, such as `web`; values that are not known yet are kept. `None` if the wire has none. */
    posType: Schema.OptionFromNullOr(Schema.String),
    /** The breaks in the order of the service, also those that were deleted; empty if the wire has no key. */
    breaks: Schema.Array(Break),
    /** Whether the service clocked the user out. */
    autoClockedOut: Schema.Boolean,
    /** Whether the clock in was recorded while the device was offline. */
    clockedInOffline: Schema.Boolean,
    /** Whether the clock out was recorded while the device was offline. */
    clockedOutOffline: Schema.Boolean,
    /** When the record was created; `None` if the wire has null. */
    created: Schema.OptionFromNullOr(StoredInstant),
    /** When the record was last changed; `None` if the wire has null. */
    modified: Schema.OptionFromNullOr(StoredInstant),
    /** Whether the punch was deleted; `false` if the wire has no key. */
    deleted: Schema.Boolean
  }).annotate({ identifier: "TimePunch" })
) {
  /**
   * The codec between a punch and an element of `data` on the wire, whose keys are snake_case. Decoding what was encoded
   * gives the same punch. A failure names the path by the wire names and states what was expected, never the value.
   */
  static get Wire(): Schema.Codec<TimePunch, typeof WireTimePunch.Encoded> {
    return timePunchFromWire
  }
}

const breakFromWire: Schema.Codec<Break, typeof WireBreak.Encoded> = WireBreak.pipe(
  Schema.decodeTo(
    Schema.toType(Break),
    Transformation.transform({ decode: fromWireNames(breakNames), encode: toWireNames(breakNames) })
  ),
  compiled<Break, typeof WireBreak.Encoded>({ decode: decodeBreak, encode: encodeBreak })
)

const WireTimePunch = wireTimePunch(breakFromWire)

const timePunchFromWire: Schema.Codec<TimePunch, typeof WireTimePunch.Encoded> = WireTimePunch.pipe(
  Schema.decodeTo(
    Schema.toType(TimePunch),
    Transformation.transform({ decode: fromWireNames(timePunchNames), encode: toWireNames(timePunchNames) })
  ),
  compiled<TimePunch, typeof WireTimePunch.Encoded>({ decode: decodePunch, encode: encodePunch })
)
