/**
 * START HERE. The shapes of the wire: instants, the fields of a punch and of a break, and the envelope of a page. A field is one row:
 * its wire name, its wire form and its column. The wire schemas, the names, the columns, the tables and the types of rows come from it;
 * decoder, encoder and row reader are held to it by types and tests.
 */
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

/** The instant of a text as `millisOf` reads it; fails where that is NaN. */
const readInstant = (millisOf: (text: string) => number) =>
  Getter.transformEffect((text: string, options) => {
    const millis = millisOf(text)
    return Number.isNaN(millis)
      ? Effect.fail(new Issue.InvalidValue(instantFormat, text, options))
      : Effect.succeed(DateTime.makeUnsafe(millis))
  })

/** A word of a list that may grow. What was written by a later release may have another one, which is kept as it is. */
export const openWord = <const L extends ReadonlyArray<string>>(
  words: Schema.Literals<L>
): Schema.Codec<L[number] | (string & {}), string> => Schema.Union([words, Schema.String])

/** Between a text and an instant: strict when decoding, `Z` when encoding. */
export const instantFromText = {
  decode: readInstant(parseInstant),
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

const parseStored = (text: string): number => {
  const millis = Date.parse(text)
  return !Number.isNaN(millis) && new Date(millis).toISOString() === text ? millis : parseInstant(text)
}

/** An instant in JSON of ours: as `toISOString` writes it, also outside of the years that the wire can write. */
export const StoredInstant = Schema.String.annotate({ format: "date-time" }).pipe(Schema.decodeTo(Schema.DateTimeUtc, {
  decode: readInstant(parseStored),
  encode: Getter.transform(DateTime.formatIso)
}))

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

/** A value of a column, before a dialect writes it; an instant is in epoch milliseconds. */
export type Cell = number | string | boolean | null

/** The type of a column, by its name in PostgreSQL. */
export type ColumnType = "bigint" | "timestamptz" | "boolean" | "text" | "jsonb"

export interface Field<
  Name extends string,
  Wire extends Schema.Constraint,
  Type extends ColumnType,
  Nullable extends boolean
> {
  /** On the wire, in CSV and in SQL. */
  readonly name: Name
  readonly wire: Wire
  readonly type: Type
  readonly nullable: Nullable
  readonly cell: (value: Wire["Type"]) => Cell
}

const field = <
  const Name extends string,
  Wire extends Schema.Constraint,
  Type extends ColumnType,
  Nullable extends boolean
>(
  name: Name,
  wire: Wire,
  type: Type,
  nullable: Nullable,
  cell: (value: Wire["Type"]) => Cell
): Field<Name, Wire, Type, Nullable> => ({ name, wire, type, nullable, cell })

const number = <const Name extends string, S extends Schema.Constraint & { readonly Type: number }>(
  name: Name,
  wire: S
) => field(name, wire, "bigint", false, (value) => value)

const flag = <const Name extends string>(name: Name) => field(name, Schema.Boolean, "boolean", false, (value) => value)

const instant = <const Name extends string>(name: Name) =>
  field(name, Instant, "timestamptz", false, (at) => at.epochMilliseconds)

const maybeInstant = <const Name extends string>(name: Name) =>
  field(name, NullableInstant, "timestamptz", true, (at) => Option.isSome(at) ? at.value.epochMilliseconds : null)

const orNull = <A extends Cell>(value: Option.Option<A>): A | null => Option.isSome(value) ? value.value : null

/** Without `cell`, which takes the value of its own field alone. */
export type Fields = Readonly<
  Record<string, Omit<Field<string, Schema.Constraint, ColumnType, boolean>, "cell">>
>

/** The schemas of the wire side, under the wire names. */
function wireOf<F extends Fields>(fields: F): { readonly [K in keyof F as F[K]["name"]]: F[K]["wire"] }
function wireOf(fields: Fields) {
  return Object.fromEntries(Object.values(fields).map(({ name, wire }) => [name, wire]))
}

/** The wire names. */
export function namesOf<F extends Fields>(fields: F): { readonly [K in keyof F]: F[K]["name"] }
export function namesOf(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).map(([key, { name }]) => [key, name]))
}

/** The type of each column, and whether it may be null. */
export type ColumnsOf<F extends Fields> = {
  readonly [K in keyof F as F[K]["name"]]: Pick<F[K], "type" | "nullable">
}

/** The fields of a break. Its columns are in the view of breaks. */
export const breakFields = {
  id: number("id", BreakId),
  userId: number("user_id", UserId),
  customBreakId: number("custom_break_id", CustomBreakId),
  paid: flag("paid"),
  in: instant("in"),
  out: maybeInstant("out"),
  deleted: field("deleted", optionalMark, "boolean", false, (value) => value)
}

/** A break on the wire. */
export const WireBreak = Schema.Struct(wireOf(breakFields))

/** The fields of a punch, in the order of its JSON. */
export const punchFields = {
  id: number("id", TimePunchId),
  companyId: number("company_id", CompanyId),
  userId: number("user_id", UserId),
  roleId: number("role_id", RoleId),
  locationId: number("location_id", LocationId),
  shiftId: field("shift_id", optionalShift, "bigint", true, orNull),
  departmentId: field("department_id", optionalDepartment, "bigint", true, orNull),
  clockedIn: instant("clocked_in"),
  clockedOut: maybeInstant("clocked_out"),
  hourlyWage: number("hourly_wage", Wage),
  tips: number("tips", Cents),
  approved: flag("approved"),
  editablePunch: flag("editable_punch"),
  notes: field("notes", Schema.String, "text", false, (text) => text),
  posType: field("pos_type", optional(Schema.String), "text", true, orNull),
  // A punch has breaks under the names of the domain, of which `sql/columns.ts` writes the cell.
  breaks: { name: "breaks", wire: Schema.Array(WireBreak), type: "jsonb", nullable: false },
  autoClockedOut: flag("auto_clocked_out"),
  clockedInOffline: flag("clocked_in_offline"),
  clockedOutOffline: flag("clocked_out_offline"),
  created: maybeInstant("created"),
  modified: maybeInstant("modified"),
  deleted: field(
    "deleted",
    Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
    "boolean",
    false,
    (value) => value
  )
} as const

/** A punch on the wire; `item` is the codec of its breaks. */
export const wireTimePunch = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({
    ...wireOf(punchFields),
    breaks: Schema.Array(item).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
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
