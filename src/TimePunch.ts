/** A time punch and its breaks: the schemas of the domain side, and `fromWire`, the codecs (spec 2.1, 2.2). */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as Issue from "effect/SchemaIssue"
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
import { compiled } from "./internal/wire/compiled.ts"
import { decodeBreak, decodePunch } from "./internal/wire/decoder.ts"
import { formatInstant, isWritable, parseInstant } from "./internal/wire/instant.ts"

/**
 * A break taken during a punch (spec 2.2). `out` is `None` while the break is open.
 *
 * @since 0.1.0
 */
export class Break extends Schema.Opaque<Break>()(Schema.Struct({
  id: BreakId,
  userId: UserId,
  customBreakId: CustomBreakId,
  paid: Schema.Boolean,
  in: Schema.DateTimeUtc,
  out: Schema.Option(Schema.DateTimeUtc)
})) {
  /** The codec between a break and its wire form. */
  static get fromWire(): Schema.Codec<Break, typeof WireBreak.Encoded> {
    return breakFromWire
  }
}

const positive = Schema.isGreaterThan(0)
const Wage = Cents.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * When a user clocked in and out, with role, place, wage, tips and breaks (spec 2.1): plain values, camelCase.
 *
 * Instants are UTC to the millisecond; finer digits are cut. `hourlyWage` and `tips` are cents. `clockedOut` is `None`
 * while the user is clocked in; `shiftId` and `departmentId` are `None` for the 0, null and absent of the wire.
 *
 * @since 0.1.0
 */
export class TimePunch extends Schema.Opaque<TimePunch>()(Schema.Struct({
  id: TimePunchId,
  companyId: CompanyId,
  userId: UserId,
  roleId: RoleId,
  locationId: LocationId,
  shiftId: Schema.Option(ShiftId.check(positive)),
  departmentId: Schema.Option(DepartmentId.check(positive)),
  clockedIn: Schema.DateTimeUtc,
  clockedOut: Schema.Option(Schema.DateTimeUtc),
  hourlyWage: Wage,
  tips: Cents,
  approved: Schema.Boolean,
  editablePunch: Schema.Boolean,
  notes: Schema.String,
  posType: Schema.Option(Schema.String),
  breaks: Schema.Array(Break),
  autoClockedOut: Schema.Boolean,
  clockedInOffline: Schema.Boolean,
  clockedOutOffline: Schema.Boolean,
  created: Schema.Option(Schema.DateTimeUtc),
  modified: Schema.Option(Schema.DateTimeUtc),
  deleted: Schema.Boolean
})) {
  /** The codec between a punch and an element of `data`; decode after encode is identity. */
  static get fromWire(): Schema.Codec<TimePunch, typeof WireTimePunch.Encoded> {
    return timePunchFromWire
  }
}

const instantFormat = { expected: "an RFC 3339 date-time with a zone" }

/** An instant as text: strict on the way in, `Z` on the way out. */
const Instant = Schema.String.pipe(Schema.decodeTo(Schema.DateTimeUtc, {
  decode: Getter.transformEffect((text, options) => {
    const millis = parseInstant(text)
    return Number.isNaN(millis)
      ? Effect.fail(new Issue.InvalidValue(instantFormat, text, options))
      : Effect.succeed(DateTime.makeUnsafe(millis))
  }),
  encode: Getter.transformEffect((instant, options) =>
    isWritable(instant.epochMilliseconds)
      ? Effect.succeed(formatInstant(instant.epochMilliseconds))
      : Effect.fail(new Issue.InvalidValue({ expected: "an instant of the years 0001 to 9999" }, instant, options))
  )
}))

const NullableInstant = Schema.OptionFromNullOr(Instant)

const optional = <S extends Schema.Constraint>(schema: S) =>
  Schema.OptionFromOptionalNullOr(schema, { onNoneEncoding: null })

/** `0` is how the wire says that there is none; null and an absent key say the same. */
const unlessZero = <A extends number>(id: Option.Option<A>) => Option.filter(id, (value) => value !== 0)

const WireBreak = Schema.Struct({
  id: BreakId,
  user_id: UserId,
  custom_break_id: CustomBreakId,
  paid: Schema.Boolean,
  in: Instant,
  out: NullableInstant
})

const breakFromWire: Schema.Codec<Break, typeof WireBreak.Encoded> = WireBreak.pipe(
  Schema.decodeTo(
    Schema.toType(Break),
    Transformation.transform({
      decode: (wire) => ({
        id: wire.id,
        userId: wire.user_id,
        customBreakId: wire.custom_break_id,
        paid: wire.paid,
        in: wire.in,
        out: wire.out
      }),
      encode: (rest) => ({
        id: rest.id,
        user_id: rest.userId,
        custom_break_id: rest.customBreakId,
        paid: rest.paid,
        in: rest.in,
        out: rest.out
      })
    })
  ),
  compiled(decodeBreak)
)

const WireTimePunch = Schema.Struct({
  id: TimePunchId,
  company_id: CompanyId,
  user_id: UserId,
  role_id: RoleId,
  location_id: LocationId,
  shift_id: optional(ShiftId),
  department_id: optional(DepartmentId),
  clocked_in: Instant,
  clocked_out: NullableInstant,
  hourly_wage: Wage,
  tips: Cents,
  approved: Schema.Boolean,
  editable_punch: Schema.Boolean,
  notes: Schema.String,
  pos_type: optional(Schema.String),
  breaks: Schema.Array(breakFromWire).pipe(Schema.optionalKey),
  auto_clocked_out: Schema.Boolean,
  clocked_in_offline: Schema.Boolean,
  clocked_out_offline: Schema.Boolean,
  created: NullableInstant,
  modified: NullableInstant,
  deleted: Schema.Boolean.pipe(Schema.optionalKey)
})

const timePunchFromWire: Schema.Codec<TimePunch, typeof WireTimePunch.Encoded> = WireTimePunch.pipe(
  Schema.decodeTo(
    Schema.toType(TimePunch),
    Transformation.transform({
      decode: (wire) => ({
        id: wire.id,
        companyId: wire.company_id,
        userId: wire.user_id,
        roleId: wire.role_id,
        locationId: wire.location_id,
        shiftId: unlessZero(wire.shift_id),
        departmentId: unlessZero(wire.department_id),
        clockedIn: wire.clocked_in,
        clockedOut: wire.clocked_out,
        hourlyWage: wire.hourly_wage,
        tips: wire.tips,
        approved: wire.approved,
        editablePunch: wire.editable_punch,
        notes: wire.notes,
        posType: wire.pos_type,
        breaks: wire.breaks ?? [],
        autoClockedOut: wire.auto_clocked_out,
        clockedInOffline: wire.clocked_in_offline,
        clockedOutOffline: wire.clocked_out_offline,
        created: wire.created,
        modified: wire.modified,
        deleted: wire.deleted ?? false
      }),
      encode: (punch) => ({
        id: punch.id,
        company_id: punch.companyId,
        user_id: punch.userId,
        role_id: punch.roleId,
        location_id: punch.locationId,
        shift_id: Option.orElseSome(punch.shiftId, () => ShiftId.make(0)),
        department_id: punch.departmentId,
        clocked_in: punch.clockedIn,
        clocked_out: punch.clockedOut,
        hourly_wage: punch.hourlyWage,
        tips: punch.tips,
        approved: punch.approved,
        editable_punch: punch.editablePunch,
        notes: punch.notes,
        pos_type: punch.posType,
        breaks: punch.breaks,
        auto_clocked_out: punch.autoClockedOut,
        clocked_in_offline: punch.clockedInOffline,
        clocked_out_offline: punch.clockedOutOffline,
        created: punch.created,
        modified: punch.modified,
        deleted: punch.deleted
      })
    })
  ),
  compiled(decodePunch)
)
