/** Instants of our constructor against those of the core. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Equal, Equivalence, Hash, HashMap, Option, Schema } from "effect"
import { inspect } from "node:util"
import { utc, utcOf } from "../../../src/internal/wire/instant.ts"
import { prng } from "../../../src/testing/base/prng.ts"

const chance = prng(9)

const millis: ReadonlyArray<number> = [
  0,
  1,
  -1,
  Date.parse("0001-01-01T00:00:00Z"),
  Date.parse("9999-12-31T23:59:59.999Z"),
  ...Array.from({ length: 200 }, () => chance.between(-2e12, 5e12))
]

const pairs = millis.map((at) => ({ ours: utc(at), real: DateTime.makeUnsafe(at), at }))

const zone = DateTime.zoneMakeNamedUnsafe("America/New_York")

/** What a program can do with an instant. */
const uses: Readonly<Record<string, (instant: DateTime.Utc) => unknown>> = {
  String,
  "JSON.stringify": (instant) => JSON.stringify({ instant }),
  inspect: (instant) => inspect({ instant }, { depth: 5 }),
  "Hash.hash": (instant) => Hash.hash(instant),
  "Object.keys": (instant) => Object.keys(instant),
  "the prototype": (instant) => Object.getPrototypeOf(instant),
  spread: (instant) => ({ ...instant }),
  structuredClone: (instant) => structuredClone({ ...instant }),
  isDateTime: (instant) => [DateTime.isDateTime(instant), DateTime.isUtc(instant), DateTime.isZoned(instant)],
  formatIso: (instant) => DateTime.formatIso(instant),
  formatIsoDateUtc: (instant) => DateTime.formatIsoDateUtc(instant),
  formatUtc: (instant) => DateTime.formatUtc(instant, { dateStyle: "full", timeStyle: "full", locale: "en" }),
  toDateUtc: (instant) => DateTime.toDateUtc(instant).getTime(),
  toEpochMillis: (instant) => DateTime.toEpochMillis(instant),
  "add a month": (instant) => DateTime.formatIso(DateTime.add(instant, { months: 1, hours: 5 })),
  "subtract a duration": (instant) => DateTime.formatIso(DateTime.subtractDuration(instant, "90 minutes")),
  "start of a week": (instant) => DateTime.formatIso(DateTime.startOf(instant, "week")),
  distance: (instant) => DateTime.distance(instant, DateTime.makeUnsafe(5)),
  "in a zone": (instant) => DateTime.formatIsoZoned(DateTime.setZone(instant, zone)),
  "parts in a zone": (instant) => DateTime.toParts(DateTime.setZone(instant, zone)),
  "a part": (instant) => DateTime.getPartUtc(instant, "weekDay"),
  "all parts": (instant) => DateTime.toPartsUtc(instant),
  "all parts again": (instant) => DateTime.toPartsUtc(instant),
  encode: (instant) => Schema.encodeSync(Schema.DateTimeUtcFromString)(instant),
  "is of the schema": (instant) => Schema.is(Schema.DateTimeUtc)(instant)
}

describe("utc", () => {
  it("is built by a constructor, not by the core, whose shape is known", () => {
    const hidden = (instant: DateTime.Utc) => Object.getOwnPropertyDescriptor(instant, "partsUtc")

    assert.isUndefined(hidden(utc(0)))
    assert.isFalse(hidden(DateTime.makeUnsafe(0))?.enumerable)
  })

  it.each([
    ["nothing", undefined],
    ["what is no class", () => DateTime.makeUnsafe(0)],
    [
      "a class of another prototype",
      class {
        readonly epochMilliseconds = 1
      }
    ],
    [
      "a class of other instants",
      Object.assign(function() {}, { prototype: Object.getPrototypeOf(DateTime.makeUnsafe(0)) })
    ]
  ])("is made by the core where there is %s", (_, make) => {
    assert.strictEqual(utcOf(make), DateTime.makeUnsafe)
  })

  it.each(Object.entries(uses))("%s is that of the core", (_, use) => {
    for (const { at } of pairs) assert.deepStrictEqual(use(utc(at)), use(DateTime.makeUnsafe(at)))
  })

  it("still agrees after its parts were read", () => {
    for (const { ours, real } of pairs) {
      DateTime.toPartsUtc(ours)
      DateTime.toPartsUtc(real)

      assert.isTrue(Equal.equals(ours, real))
      assert.strictEqual(Hash.hash(ours), Hash.hash(real))
      assert.strictEqual(JSON.stringify(ours), JSON.stringify(real))
      assert.strictEqual(inspect(ours), inspect(real))
      assert.deepStrictEqual(DateTime.toPartsUtc(ours), DateTime.toPartsUtc(real))
    }
  })

  it("is equal to the core's, from either side, alone and inside other values", () => {
    const equivalent: Equivalence.Equivalence<DateTime.Utc> = Schema.toEquivalence(Schema.DateTimeUtc)
    for (const { at, ours, real } of pairs) {
      assert.isTrue(Equal.equals(ours, real) && Equal.equals(real, ours))
      assert.isTrue(DateTime.Equivalence(ours, real) && equivalent(ours, real))
      assert.isTrue(Equal.equals(Option.some(ours), Option.some(real)))
      assert.isTrue(Equal.equals({ at: [ours] }, { at: [real] }))
      assert.deepStrictEqual(HashMap.get(HashMap.make([ours, at]), real), Option.some(at))
      assert.isFalse(Equal.equals(ours, utc(at + 1)))
      assert.strictEqual(DateTime.Order(ours, utc(at + 1)), -1)
    }
  })
})
