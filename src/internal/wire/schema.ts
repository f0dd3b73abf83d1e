/** START HERE. The shapes of the wire, under their wire names: instants, breaks, punches, and the envelope of a page. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as Issue from "effect/SchemaIssue"
import {
  BreakId,
  Cents,
  CompanyId,
  Cursor,
  CustomBreakId,
  DepartmentId,
  LocationId,
  RoleId,
  ShiftId,
  TimePunchId,
  UserId
} from "../../Ids.ts"
import { formatInstant, isWritable, parseInstant } from "./instant.ts"

const instantFormat = { expected: "an RFC 3339 date-time with a zone" }

/** Between a text and an instant: strict when decoding, `Z` when encoding. */
export const instantFromText = {
  decode: Getter.transformEffect((text: string, options) => {
    const millis = parseInstant(text)
    return Number.isNaN(millis)
      ? Effect.fail(new Issue.InvalidValue(instantFormat, text, options))
      : Effect.succeed(DateTime.makeUnsafe(millis))
  }),
  encode: Getter.transformEffect((instant: DateTime.DateTime, options) =>
    isWritable(instant.epochMilliseconds)
      ? Effect.succeed(formatInstant(instant.epochMilliseconds))
      : Effect.fail(new Issue.InvalidValue({ expected: "an instant of the years 0001 to 9999" }, instant, options))
  )
}

/** A duration as seconds, with up to three decimals. */
export const Seconds = Schema.Number.pipe(Schema.decodeTo(Schema.Duration, {
  decode: Getter.transform((seconds: number) => Duration.millis(Math.round(seconds * 1000))),
  encode: Getter.transform((duration: Duration.Duration) => Duration.toMillis(duration) / 1000)
}))

/** A text of the wire, as an instant. */
export const Instant = Schema.String.pipe(Schema.decodeTo(Schema.DateTimeUtc, instantFromText))

const NullableInstant = Schema.OptionFromNullOr(Instant)

const optional = <S extends Schema.Constraint>(schema: S) =>
  Schema.OptionFromOptionalNullOr(schema, { onNoneEncoding: null })

/** `0` is how the wire says that there is none; null and an absent key say the same. */
const unlessZero = <A extends number>(id: Option.Option<A>) => Option.filter(id, (value) => value !== 0)

const optionalShift = optional(ShiftId).pipe(Schema.decode({
  decode: Getter.transform(unlessZero),
  encode: Getter.transform(Option.orElseSome(() => ShiftId.make(0)))
}))

const optionalDepartment = optional(DepartmentId).pipe(Schema.decode({
  decode: Getter.transform(unlessZero),
  encode: Getter.passthrough()
}))

/** Null and an absent key are false. */
const optionalMark = optional(Schema.Boolean).pipe(Schema.decodeTo(Schema.Boolean, {
  decode: Getter.transform(Option.getOrElse(() => false)),
  encode: Getter.transform(Option.some)
}))

/** An amount that cannot be negative. */
export const Wage = Cents.check(Schema.isGreaterThanOrEqualTo(0))

export const WireBreak = Schema.Struct({
  id: BreakId,
  user_id: UserId,
  custom_break_id: CustomBreakId,
  paid: Schema.Boolean,
  in: Instant,
  out: NullableInstant,
  deleted: optionalMark
})

/** A punch; `item` is the codec of its breaks. */
export const wireTimePunch = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({
    id: TimePunchId,
    company_id: CompanyId,
    user_id: UserId,
    role_id: RoleId,
    location_id: LocationId,
    shift_id: optionalShift,
    department_id: optionalDepartment,
    clocked_in: Instant,
    clocked_out: NullableInstant,
    hourly_wage: Wage,
    tips: Cents,
    approved: Schema.Boolean,
    editable_punch: Schema.Boolean,
    notes: Schema.String,
    pos_type: optional(Schema.String),
    breaks: Schema.Array(item).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
    auto_clocked_out: Schema.Boolean,
    clocked_in_offline: Schema.Boolean,
    clocked_out_offline: Schema.Boolean,
    created: NullableInstant,
    modified: NullableInstant,
    deleted: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))
  })

const NullableCursor = Schema.OptionFromNullOr(Cursor)

/** Whether a text is a cursor. */
export const isCursor = Schema.is(Cursor)

/** `meta.cursor`: four keys that must all be there, so that a missing `next` is never taken for the end. */
export const WireCursor = Schema.Struct({
  current: NullableCursor,
  prev: NullableCursor,
  next: NullableCursor,
  count: Schema.OptionFromNullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
})

/** A page; `item` is the codec of its rows. */
export const wireEnvelope = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({
    object: Schema.String,
    data: Schema.Array(item),
    meta: Schema.Struct({ cursor: WireCursor })
  })
