/**
 * From a punch to its wire form in straight lines; `undefined` leaves it to the schema to encode it, or to say why not. Every key
 * is read once, so that what is written is what was checked, even if a key has a getter.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { isInt, isNatural, isRecord } from "./decoder.ts"
import { formatInstant, isWritable } from "./instant.ts"
import type { breakNames, timePunchNames } from "./names.ts"

/** The wire form of what an option holds, or null for none. */
const orNull = <A>(value: unknown, encode: (held: unknown) => A | undefined): A | null | undefined => {
  if (!Option.isOption(value)) return undefined
  return Option.isNone(value) ? null : encode(value.value)
}

/** An id under which the wire has 0 for none. */
const positive = (value: unknown): number | undefined => isInt(value) && value > 0 ? value : undefined

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

const instant = (value: unknown): string | undefined => {
  if (!DateTime.isDateTime(value) || !DateTime.isUtc(value)) return undefined
  const { epochMilliseconds } = value
  return isWritable(epochMilliseconds) ? formatInstant(epochMilliseconds) : undefined
}

/** The wire form of `Break.Wire`. */
export const encodeBreak = (input: unknown) => {
  if (!isRecord<typeof breakNames>(input)) return undefined
  const { customBreakId, deleted, id, in: start, out, paid, userId } = input
  if (!isNatural(id) || !isNatural(userId) || !isNatural(customBreakId)) return undefined
  if (typeof paid !== "boolean" || typeof deleted !== "boolean") return undefined
  const startText = instant(start)
  const outText = orNull(out, instant)
  if (startText === undefined || outText === undefined) return undefined
  return { id, user_id: userId, custom_break_id: customBreakId, paid, in: startText, out: outText, deleted }
}

const encodeBreaks = (input: unknown) => {
  if (!Array.isArray(input)) return undefined
  const all = []
  for (let i = 0; i < input.length; i++) {
    const one = encodeBreak(input[i])
    if (one === undefined) return undefined
    all.push(one)
  }
  return all
}

/** The wire form of `TimePunch.Wire`, with the keys in its order. */
export const encodePunch = (input: unknown) => {
  if (!isRecord<typeof timePunchNames>(input)) return undefined
  const { companyId, id, locationId, roleId, userId } = input
  if (
    !isNatural(id) || !isNatural(companyId) || companyId === 0 || !isNatural(userId) || !isNatural(roleId) ||
    !isNatural(locationId)
  ) {
    return undefined
  }
  const { approved, editablePunch, hourlyWage, notes, tips } = input
  if (!isNatural(hourlyWage) || !isInt(tips)) return undefined
  if (typeof approved !== "boolean" || typeof editablePunch !== "boolean" || typeof notes !== "string") return undefined
  const { autoClockedOut, clockedInOffline, clockedOutOffline, deleted } = input
  if (
    typeof autoClockedOut !== "boolean" || typeof clockedInOffline !== "boolean" ||
    typeof clockedOutOffline !== "boolean" || typeof deleted !== "boolean"
  ) return undefined
  const shiftId = orNull(input.shiftId, positive)
  const departmentId = orNull(input.departmentId, positive)
  const posType = orNull(input.posType, text)
  if (shiftId === undefined || departmentId === undefined || posType === undefined) return undefined
  const clockedIn = instant(input.clockedIn)
  const clockedOut = orNull(input.clockedOut, instant)
  const created = orNull(input.created, instant)
  const modified = orNull(input.modified, instant)
  if (clockedIn === undefined || clockedOut === undefined || created === undefined || modified === undefined) {
    return undefined
  }
  const breaks = encodeBreaks(input.breaks)
  if (breaks === undefined) return undefined
  return {
    id,
    company_id: companyId,
    user_id: userId,
    role_id: roleId,
    location_id: locationId,
    shift_id: shiftId ?? 0,
    department_id: departmentId,
    clocked_in: clockedIn,
    clocked_out: clockedOut,
    hourly_wage: hourlyWage,
    tips,
    approved,
    editable_punch: editablePunch,
    notes,
    pos_type: posType,
    breaks,
    auto_clocked_out: autoClockedOut,
    clocked_in_offline: clockedInOffline,
    clocked_out_offline: clockedOutOffline,
    created,
    modified,
    deleted
  }
}
