/** From the JSON of a page to the value of its schema in straight lines; `undefined` where the schema must say why not. */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { dayOf, isInYears, no, timeOf } from "./instant.ts"
import { isCursor, type WireBreak, type wireEnvelope, type wireTimePunch } from "./schema.ts"
import { utc } from "./utc.ts"

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

/** The value of `Break.fromWire`. */
export const decodeBreak = (input: unknown) => {
  if (!isRecord<Break>(input)) return undefined
  const { custom_break_id: customBreakId, id, paid, user_id: userId } = input
  if (!isNatural(id) || !isNatural(userId) || !isNatural(customBreakId) || typeof paid !== "boolean") return undefined
  const start = instant(input.in)
  const out = nullableInstant(input.out)
  if (start === undefined || out === undefined) return undefined
  return { id, userId, customBreakId, paid, in: start, out }
}

const decodeEach = <A>(input: unknown, decode: (input: unknown) => A | undefined): ReadonlyArray<A> | undefined => {
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

/** The value of `TimePunch.fromWire`. A key with `undefined` is left to the schema, which refuses it. */
export const decodePunch = (input: unknown) => {
  if (!isRecord<Punch>(input)) return undefined
  const { company_id: companyId, id, location_id: locationId, role_id: roleId, user_id: userId } = input
  if (!isNatural(id) || !isNatural(companyId) || !isNatural(userId) || !isNatural(roleId) || !isNatural(locationId)) {
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
