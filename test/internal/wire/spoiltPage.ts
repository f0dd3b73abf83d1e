/** Pages of a few punches in every legal form, and ways to spoil them anywhere. */
import type { Prng } from "../../../src/testing/base/prng.ts"
import { malformed, wellFormed } from "../../support/instants.ts"
import { type Wire, wireBreak, wirePage, wirePunch, without } from "../../support/wire.ts"

const isWire = (value: unknown): value is Wire => typeof value === "object" && value !== null && !Array.isArray(value)

const id = (random: Prng) =>
  random.chance(0.9) ? random.between(0, 99_999) : random.pick([0, 2 ** 31, Number.MAX_SAFE_INTEGER])

const flag = (random: Prng) => random.chance(0.5)

const instantOrNull = (random: Prng) => random.chance(0.2) ? null : wellFormed(random)

const rest = (random: Prng): Wire =>
  wireBreak({
    id: id(random),
    custom_break_id: id(random),
    paid: flag(random),
    in: wellFormed(random),
    out: instantOrNull(random)
  })

const punch = (random: Prng): Wire => {
  const changes = {
    id: id(random),
    shift_id: random.pick([null, 0, id(random)]),
    department_id: random.pick([null, 0, id(random)]),
    hourly_wage: random.between(0, 9999),
    tips: random.between(-9999, 9999),
    approved: flag(random),
    clocked_in: wellFormed(random),
    clocked_out: instantOrNull(random),
    notes: random.pick(["", "late", "🧑‍🍳", "\ud800"]),
    auto_clocked_out: flag(random),
    pos_type: random.pick([null, "", "web", "till"]),
    breaks: Array.from({ length: random.between(0, 2) }, () => rest(random)),
    created: instantOrNull(random),
    modified: instantOrNull(random),
    deleted: flag(random)
  }
  const optional = ["shift_id", "department_id", "pos_type", "breaks", "deleted"]
  return without(wirePunch(changes), ...optional.filter(() => random.chance(0.15)))
}

const cursor = (random: Prng) => random.pick([null, "a", "eyJpZCI6NH0="])

/** A legal page of at most five punches. */
export const legalPage = (random: Prng): Wire => {
  const rows = Array.from({ length: random.between(0, 5) }, () => punch(random))
  const count = random.chance(0.2) ? null : random.between(0, 5)
  return wirePage(rows, { current: cursor(random), prev: cursor(random), next: cursor(random), count })
}

/** What JSON can say instead of `value`; 1e400 is `Infinity` once it is parsed. */
const otherJson = (value: unknown, random: Prng): unknown =>
  random.pick<() => unknown>([
    () => null,
    () => flag(random),
    () => random.pick([0, -0, 1, -1, 1.5, 1e21, Infinity, -Infinity, 2 ** 53, -(2 ** 53), Number.MAX_SAFE_INTEGER]),
    () => random.pick(["", "0", "1", "true", "null", "web", "[object Object]"]),
    () => typeof value === "number" ? -value : `${typeof value === "object" ? "" : String(value)}`,
    () => malformed(random).text,
    () => wellFormed(random),
    () => [value],
    () => random.pick<unknown>([[], [null], [[null]], [[[]]]]),
    () => random.pick<unknown>([{}, { value }, { id: null }, { a: { b: { c: null } } }, { length: 1, 0: value }]),
    () => isWire(value) ? Object.fromEntries(Object.entries(value).toReversed()) : JSON.parse(`{"__proto__":{"id":1}}`),
    () => Array.isArray(value) ? [...value, ...value, null] : value
  ])()

/** What only a program can pass instead of `value`. */
const otherThanJson = (value: unknown, random: Prng): unknown =>
  random.pick<() => unknown>([
    () => undefined,
    () => NaN,
    () => 1n,
    () => Symbol.for("value"),
    () => new Date(0),
    () => Object(value),
    () => () => value,
    () => Object.assign([], { length: random.between(1, 2) }),
    () => isWire(value) ? Object.assign([], value) : value,
    () => isWire(value) ? Object.create(value) : value,
    () => isWire(value) ? Object.assign(Object.create(null), value) : value
  ])()

/** The parts where most of the rules are come up more often than their share of the keys. */
const keyOf = (value: Wire, random: Prng): string | undefined => {
  if ("data" in value && random.chance(0.6)) return "data"
  if ("breaks" in value && random.chance(0.2)) return "breaks"
  const keys = Object.keys(value)
  return keys[random.between(0, keys.length - 1)]
}

/** The value with one thing changed somewhere in it; `json` keeps to what JSON can say. */
export const spoil = (value: unknown, random: Prng, json: boolean): unknown => {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.9)) {
    const at = random.between(0, value.length - 1)
    return value.map((each: unknown, index) => index === at ? spoil(each, random, json) : each)
  }
  const key = isWire(value) && random.chance(0.9) ? keyOf(value, random) : undefined
  if (!isWire(value) || key === undefined) {
    return json || random.chance(0.7) ? otherJson(value, random) : otherThanJson(value, random)
  }
  const draw = random.next()
  if (draw < 0.12) return without(value, key)
  if (draw < 0.2) return { ...value, [random.pick(["more", "Id", "deleted_at", "constructor"])]: value[key] }
  if (draw < 0.24 && !json) return { ...value, [key]: undefined }
  return { ...value, [key]: spoil(value[key], random, json) }
}
