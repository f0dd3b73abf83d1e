/** Punches as a program holds them, and ways to spoil them anywhere. */
import { DateTime, Option, Result, Schema } from "effect"
import { TimePunch } from "../../../src/index.ts"
import { type Prng, prng } from "../../../src/testing/base/prng.ts"
import { legalPage } from "./spoiltPage.ts"

const decode = Schema.decodeUnknownSync(TimePunch.Wire)

/** A legal punch, with every kind of text that an export must take care of. */
export const legalPunch = (random: Prng): TimePunch => {
  const { data } = legalPage(random)
  if (!Array.isArray(data) || data.length === 0) return legalPunch(random)
  const punch = decode(data[0])
  const notes = random.pick([punch.notes, "=1+1", "a,b;\"c\"\r\n-d", "\ud83d", "\udc00\ud800", "\u2028\u0000", "é"])
  return { ...punch, notes }
}

/** An instant that `Schema.DateTimeUtc` accepts, whatever it counts. */
const counting = (epochMilliseconds: unknown): unknown => {
  const instant: unknown = Object.create(Object.getPrototypeOf(DateTime.makeUnsafe(0)))
  return Object.assign(Object(instant), { epochMilliseconds })
}

const first = Date.parse("0001-01-01T00:00:00Z")
const last = Date.parse("9999-12-31T23:59:59.999Z")

const otherInstant = (random: Prng): unknown =>
  random.pick<() => unknown>([
    () =>
      DateTime.makeUnsafe(
        random.pick([first, first - 1, last, last + 1, -1, 0, 8.64e15, -8.64e15, -62_198_755_200_000])
      ),
    () => counting(random.pick([-0, 0.5, 1e12 + 0.5, NaN, Infinity, -Infinity, 2 ** 53])),
    () => counting(random.pick<unknown>(["0", null, undefined, 0n, new Date(0), [0]])),
    () => DateTime.makeZonedUnsafe(0, { timeZone: "Europe/Berlin" }),
    () => new Date(0),
    () => "2026-03-02T08:00:00Z",
    () => 0,
    () => Object.assign(Object(counting(0)), { _tag: "Zoned" })
  ])()

const otherOption = (value: unknown, random: Prng): unknown =>
  random.pick<() => unknown>([
    () => null,
    () => undefined,
    () => Option.none(),
    () => Option.some(value),
    () => Option.some(undefined),
    () => Option.some(null),
    () => Option.some(random.pick<unknown>([0, -0, 1, -1, 1.5, NaN, 2 ** 53, "", "web", "\ud800", true])),
    () => Option.some(otherInstant(random)),
    () => Option.isOption(value) ? Option.getOrNull(value) : value,
    () => ({ _tag: "None" }),
    () => ({ _tag: "Some", value }),
    () => Option.isOption(value) ? Object.assign(Object.create(value), { more: 1 }) : value,
    () => Object.assign(Object.create(Object(Option.some(1))), { _tag: "Other", value: 7 })
  ])()

const otherValue = (value: unknown, random: Prng): unknown =>
  random.pick<() => unknown>([
    () => undefined,
    () => null,
    () =>
      random.pick([0, -0, 1, -1, 1.5, NaN, Infinity, 1e21, 2 ** 53, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER]),
    () => random.pick<unknown>(["", "1", "\ud800", "=1", true, false, 1n, Symbol.for("value")]),
    () => Object(value),
    () => ({ valueOf: () => value, toJSON: () => value, toString: () => "1" }),
    () => () => value,
    () => [value],
    () => typeof value === "number" ? -value : value,
    () => random.pick<unknown>([[], {}, [undefined], Object.assign([], { length: 1 })]),
    () => Array.isArray(value) ? new Proxy(value, {}) : value,
    () => Array.isArray(value) ? Object.assign([...value], { more: 1, toJSON: () => "x" }) : value,
    () => Array.isArray(value) ? new Set(value) : value
  ])()

/** A getter under a key: on the object itself, not enumerable, or on its prototype. */
const behindGetter = (whole: object, key: string, get: () => unknown, random: Prng): unknown => {
  const rest = Object.fromEntries(Object.entries(whole).filter(([name]) => name !== key))
  const getter = { get, enumerable: random.chance(0.5), configurable: true }
  return random.chance(0.5)
    ? Object.defineProperty(rest, key, getter)
    : Object.assign(Object(Object.create(Object.defineProperty({}, key, getter))), rest)
}

const otherWhole = (whole: object, random: Prng): unknown =>
  random.pick<() => unknown>([
    () => Object.create(whole),
    () => Object.assign(Object.create(null), whole),
    () => Object.freeze({ ...whole }),
    () => new Proxy(whole, {}),
    () => Object.fromEntries(Object.entries(whole).toReversed()),
    () => Object.assign([], whole),
    () => Object.assign(() => whole, whole),
    () => ({ ...whole, toJSON: () => "not a punch" }),
    () => ({ ...whole, more: 1, [Symbol.iterator]: 1, user_id: 9 }),
    () => [whole],
    () => null,
    () => undefined
  ])()

/** The value with one thing changed somewhere in it. */
const spoil = (value: unknown, random: Prng): unknown => {
  if (DateTime.isDateTime(value)) return random.chance(0.7) ? otherInstant(random) : otherValue(value, random)
  if (Option.isOption(value)) return random.chance(0.8) ? otherOption(value, random) : otherValue(value, random)
  if (Array.isArray(value) && value.length > 0 && random.chance(0.8)) {
    const at = random.between(0, value.length - 1)
    return value.map((each: unknown, index) => index === at ? spoil(each, random) : each)
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return otherValue(value, random)
  if (random.chance(0.15)) return otherWhole(value, random)
  const keys = Object.keys(value)
  const key = random.chance(0.15) ? "breaks" : keys[random.between(0, keys.length - 1)] ?? "id"
  const held: unknown = Reflect.get(value, key)
  const draw = random.next()
  if (draw < 0.1) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
  if (draw < 0.2) {
    const other = random.chance(0.5) ? held : spoil(held, random)
    return behindGetter(value, key, () => other, random)
  }
  if (draw < 0.25) {
    return behindGetter(value, key, () => {
      throw new Error("this getter throws")
    }, random)
  }
  return { ...value, [key]: spoil(held, random) }
}

const seed = 20_261_122

/** A punch with up to three things wrong. */
export const somePunch = (index: number): unknown => {
  const random = prng(seed + index)
  let punch: unknown = legalPunch(random)
  for (let wrong = random.between(0, 3); wrong > 0; wrong--) {
    // One with a getter that throws stays as it is.
    punch = Result.getOrElse(Result.try(() => spoil(punch, random)), () => punch)
  }
  return punch
}
