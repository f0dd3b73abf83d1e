/** From the JSON of a page to the value of its schema in straight lines; `undefined` leaves it to the schema to say why not. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { dayOf, isInYears, no, timeOf, utc } from "./instant.ts"
import { isCursor, type WireBreak, type wireEnvelope, type wireTimePunch } from "./schema.ts"

type Break = typeof WireBreak.Encoded
type Punch = ReturnType<typeof wireTimePunch<typeof WireBreak>>["Encoded"]
type Envelope = ReturnType<typeof wireEnvelope<Schema.Unknown>>["Encoded"]

/** An object that may have the keys of `A`, with anything under them. */
export const isRecord = <A>(input: unknown): input is { readonly [K in keyof A]?: unknown } =>
  typeof input === "object" && input !== null && !Array.isArray(input)

export const isInt = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value)

export const isNatural = (value: unknown): value is number => isInt(value) && value >= 0

const none = Option.none()

/** An id; null, zero and an absent key are none. */
const optionalId = (value: unknown): Option.Option<number> | undefined =>
  value === null || value === undefined || value === 0 ? none : isNatural(value) ? Option.some(value) : undefined

const optionalText = (value: unknown): Option.Option<string> | undefined =>
  value === null || value === undefined ? none : typeof value === "string" ? Option.some(value) : undefined

const instant = (value: unknown): DateTime.Utc | undefined => {
  if (typeof value !== "string") return undefined
  const day = dayOf(value)
  const time = timeOf(value)
  if (day === no || time === no) return undefined
  const millis = day * 86_400_000 + time
  return isInYears(millis) ? utc(millis) : undefined
}

const nullableInstant = (value: unknown): Option.Option<DateTime.Utc> | undefined => {
  if (value === null) return none
  const at = instant(value)
  return at === undefined ? undefined : Option.some(at)
}

/** The value of `Break.Wire`. */
export const decodeBreak = (input: unknown) => {
  if (!isRecord<Break>(input)) return undefined
  const { custom_break_id: customBreakId, id, paid, user_id: userId } = input
  if (!isNatural(id) || !isNatural(userId) || !isNatural(customBreakId) || typeof paid !== "boolean") return undefined
  const start = instant(input.in)
  const out = nullableInstant(input.out)
  const deleted = input.deleted ?? false
  if (start === undefined || out === undefined || typeof deleted !== "boolean") return undefined
  return { id, userId, customBreakId, paid, in: start, out, deleted }
}

/** The values of an array, each decoded. */
export const decodeEach = <A>(
  input: unknown,
  decode: (input: unknown) => A | undefined
): ReadonlyArray<A> | undefined => {
  if (!Array.isArray(input)) return undefined
  // A copy is allocated at the size of its elements; an array that grows starts with room for sixteen.
  const all = input.slice()
  for (let i = 0; i < all.length; i++) {
    const one = decode(all[i])
    if (one === undefined) return undefined
    all[i] = one
  }
  return all
}

/** The value of `TimePunch.Wire`. A key with `undefined` is left to the schema, which refuses it. */
export const decodePunch = (input: unknown) => {
  if (!isRecord<Punch>(input)) return undefined
  const { company_id: companyId, id, location_id: locationId, role_id: roleId, user_id: userId } = input
  if (
    !isNatural(id) || !isNatural(companyId) || companyId === 0 || !isNatural(userId) || !isNatural(roleId) ||
    !isNatural(locationId)
  ) {
    return undefined
  }
  const { approved, editable_punch: editablePunch, hourly_wage: hourlyWage, notes, tips } = input
  if (!isNatural(hourlyWage) || !isInt(tips)) return undefined
  if (typeof approved !== "boolean" || typeof editablePunch !== "boolean" || typeof notes !== "string") return undefined
  const {
    auto_clocked_out: autoClockedOut,
    clocked_in_offline: clockedInOffline,
    clocked_out_offline: clockedOutOffline
  } = input
  if (
    typeof autoClockedOut !== "boolean" || typeof clockedInOffline !== "boolean" ||
    typeof clockedOutOffline !== "boolean"
  ) return undefined
  const deleted = input.deleted === undefined && !("deleted" in input) ? false : input.deleted
  if (typeof deleted !== "boolean") return undefined
  const shiftId = optionalId(input.shift_id)
  const departmentId = optionalId(input.department_id)
  const posType = optionalText(input.pos_type)
  if (shiftId === undefined || departmentId === undefined || posType === undefined) return undefined
  const clockedIn = instant(input.clocked_in)
  const clockedOut = nullableInstant(input.clocked_out)
  const created = nullableInstant(input.created)
  const modified = nullableInstant(input.modified)
  if (clockedIn === undefined || clockedOut === undefined || created === undefined || modified === undefined) {
    return undefined
  }
  const breaks = input.breaks === undefined && !("breaks" in input) ? [] : decodeEach(input.breaks, decodeBreak)
  if (breaks === undefined) return undefined
  return {
    id,
    companyId,
    userId,
    roleId,
    locationId,
    shiftId,
    departmentId,
    clockedIn,
    clockedOut,
    hourlyWage,
    tips,
    approved,
    editablePunch,
    notes,
    posType,
    breaks,
    autoClockedOut,
    clockedInOffline,
    clockedOutOffline,
    created,
    modified,
    deleted
  }
}

const optionalCursor = (value: unknown): Option.Option<string> | undefined =>
  value === null ? none : isCursor(value) ? Option.some(value) : undefined

/** The value of `Envelope`. */
export const decodeEnvelope = (input: unknown) => {
  if (!isRecord<Envelope>(input)) return undefined
  const { meta, object } = input
  if (typeof object !== "string" || !isRecord<Envelope["meta"]>(meta)) return undefined
  if (!isRecord<Envelope["meta"]["cursor"]>(meta.cursor)) return undefined
  const current = optionalCursor(meta.cursor.current)
  const prev = optionalCursor(meta.cursor.prev)
  const next = optionalCursor(meta.cursor.next)
  const size = meta.cursor.count
  const count = size === null ? none : isNatural(size) ? Option.some(size) : undefined
  if (current === undefined || prev === undefined || next === undefined || count === undefined) return undefined
  const data = decodeEach(input.data, decodePunch)
  return data === undefined ? undefined : { object, data, meta: { cursor: { current, prev, next, count } } }
}

/** A value without its brands, which only a schema can give. */
type Bare<A> = A extends number ? number
  : A extends string ? string
  : A extends DateTime.Utc ? A
  : A extends Option.Option<infer B> ? Option.Option<Bare<B>>
  : A extends ReadonlyArray<infer B> ? ReadonlyArray<Bare<B>>
  : A extends object ? { readonly [K in keyof A]: Bare<A[K]> }
  : A

/** One direction of a codec in straight lines; `undefined` leaves the input to the codec. */
type Straight<A> = (input: unknown) => A | undefined

/**
 * Makes `decode` the first decoder of a codec, `encode` its first encoder, and returns the codec. What they leave
 * `undefined` is read or written as the codec says, and so is everything under a rule for excess keys or without
 * checks, of which they know nothing. They may refuse what the codec accepts; what they accept, the codec must accept
 * with an equal result. The compiler holds them to its shape, brands aside; property tests hold them to the rest.
 */
export const compiled =
  <A, I>({ decode, encode }: { readonly decode: Straight<Bare<A>>; readonly encode?: Straight<I> }) =>
  (codec: Schema.Codec<A, I>): Schema.Codec<A, I> => {
    // The registry goes by the identity of a syntax tree: under the same one, the codec would find them again.
    const twin = codec.annotate({})
    register(codec.ast, decode, SchemaParser.decodeUnknownEffect(twin))
    // To encode is to decode with the flipped tree, of which there is one for each tree.
    if (encode !== undefined) register(SchemaAST.flip(codec.ast), encode, SchemaParser.encodeUnknownEffect(twin))
    return codec
  }

const register = (
  ast: SchemaAST.AST,
  straight: Straight<unknown>,
  interpreted: SchemaCompiler.DecodeEffect
): void =>
  SchemaCompiler.set(ast, {
    decode: (input, { disableChecks, onExcessProperty }) => {
      if (disableChecks === true || onExcessProperty !== undefined) return SchemaCompiler.invalid
      try {
        return straight(input) ?? SchemaCompiler.invalid
      } catch {
        // A getter that throws: the codec may find an issue before it reads that key.
        return SchemaCompiler.invalid
      }
    },
    decodeEffect: (input, options) =>
      input === SchemaCompiler.missing ? Effect.succeed(input) : interpreted(input, options)
  })

/**
 * The id of a row that is otherwise unreadable, so that a person can find the row. Only a safe integer is an id: JSON.parse
 * rounds a larger one to the id of another row.
 */
export const idOf = (row: unknown): Option.Option<number> =>
  Predicate.hasProperty(row, "id") && Predicate.isNumber(row.id) && Number.isSafeInteger(row.id)
    ? Option.some(row.id)
    : Option.none()
