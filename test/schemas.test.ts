/** Every schema that an entry exports has a JSON form that gives the same value back. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, BigDecimal, DateTime, Duration, Effect, Option, Predicate, Schema } from "effect"
import packageJson from "../package.json" with { type: "json" }
import { RecordedRevision } from "../src/close/index.ts"
import { CompanyStatus } from "../src/fleet/index.ts"
import { BackfillError, BackfillSegment, ListError } from "../src/index.ts"
import { PeriodCheck, WorkedTime } from "../src/payroll/index.ts"
import { textOf } from "../src/Segment.ts"
import { FeedEvent } from "../src/sql/feedEvent.ts"
import { PunchChange } from "../src/sql/index.ts"
import { RunningPass } from "../src/sync/index.ts"
import { scenario } from "./support/listing.ts"

/** The source of each entry. */
const entries = Object.entries(packageJson.exports).flatMap(([entry, target]) =>
  Predicate.hasProperty(target, "effect-time-punches:source")
    ? [[entry, target["effect-time-punches:source"]] as const]
    : []
)

const isCodec = (value: unknown): value is Schema.Codec<unknown, unknown> => Schema.isSchema(value)

/** The schemas among the members of a value, of namespaces in it too, by their names. */
const schemasIn = (
  value: unknown,
  name: string,
  seen: Set<unknown>
): ReadonlyArray<readonly [string, Schema.Codec<unknown, unknown>]> => {
  if (seen.has(value) || !(Predicate.isObject(value) || Predicate.isFunction(value))) return []
  seen.add(value)
  const isSchema = isCodec(value)
  const members = Object.entries(Object.getOwnPropertyDescriptors(value)).flatMap(([key, { get, value: member }]) => {
    // Members of a schema itself, such as `fields`, are small; its types, such as `Type`, have no value.
    if (!/^[A-Z]/.test(key)) return []
    const found: unknown = get === undefined ? member : Reflect.get(value, key)
    return schemasIn(found, `${name}.${key}`, seen)
  })
  return isSchema ? [[name, value], ...members] : members
}

const found = await Promise.all(entries.map(async ([entry, file]) => {
  const exported: unknown = await import(new URL(`../${file}`, import.meta.url).href)
  return schemasIn(exported, entry, new Set())
}))
const schemas = [...new Map(found.flat().map(([name, schema]) => [schema, name])).entries()]

const zone = DateTime.zoneMakeNamedUnsafe("America/New_York")

/**
 * The value with what a text can hold: JSON has neither -0 nor an infinite number, durations are whole milliseconds, and instants lie
 * in the years that the wire can write.
 */
const writable = (value: unknown): unknown => {
  if (Predicate.isNumber(value)) return Number.isFinite(value) ? value + 0 : 0
  if (Duration.isDuration(value)) return Duration.millis(Math.trunc(Duration.toMillis(value) % 1e9) + 0 || 0)
  if (DateTime.isDateTime(value)) {
    const { epochMilliseconds: at } = value
    // The text of a zone has no offset in seconds, as zones had a century ago.
    return DateTime.isUtc(value)
      ? DateTime.makeUnsafe(at % 6e13)
      : DateTime.setZone(DateTime.makeUnsafe(Math.abs(at % 1e12)), zone)
  }
  if (Option.isOption(value)) return Option.map(value, writable)
  if (Array.isArray(value)) return value.map(writable)
  if (!Predicate.isObject(value) || BigDecimal.isBigDecimal(value)) return value
  const { constructor } = value
  // The cause of an error is not enumerable.
  const keys = isClass(constructor) ? Object.keys(constructor.fields) : Object.keys(value)
  const given = keys.filter((key) => Object.hasOwn(value, key) && key !== "_tag")
  const fields = Object.fromEntries(given.map((key) => [key, writable(Reflect.get(value, key))]))
  return isClass(constructor) ? Reflect.construct(constructor, [fields]) : { ...value, ...fields }
}

const isClass = (value: unknown): value is (new() => object) & { readonly fields: object } =>
  Schema.isSchema(value) && Predicate.isFunction(value) && Predicate.hasProperty(value, "fields")

const segment = textOf(1, {
  gte: DateTime.makeUnsafe("2026-03-02T08:00:00Z"),
  until: DateTime.makeUnsafe("2026-04-02T08:00:00Z"),
  inclusive: true,
  cursor: Option.none()
})

const position = "4021/2026-03-02T08:00:00.000Z/17"

/** Random values of the few schemas for which none can be derived. */
const others: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>> = {
  PunchFilter: Arbitrary.map(Arbitrary.schema(Schema.Int), (seed) => scenario(seed).filter),
  BackfillSegment: Arbitrary.Constant(segment),
  BackfillError: Arbitrary.map(
    Arbitrary.schema(
      Schema.toType(Schema.Struct({ cause: ListError, unfinished: Schema.Array(Schema.Literal(segment)) }))
    ),
    ({ cause, unfinished }) =>
      writable(new BackfillError({ cause, unfinished: unfinished.map((text) => BackfillSegment.make(text)) }))
  ),
  DateFormat: Arbitrary.schema(Schema.Literals(["YYYY-MM-DD", "D.M.YY", "MMDDYYYY"])),
  FeedPosition: Arbitrary.Constant(position),
  FeedEvent: Arbitrary.map(
    Arbitrary.schema(Schema.toType(Schema.Struct({ ...FeedEvent.fields, position: Schema.Literal(position) }))),
    writable
  )
}

describe("every public schema", () => {
  it("is found", () => {
    assert.isAbove(schemas.length, 90)
  })

  it.effect.each(schemas.map(([schema, name]) => ({ name, schema })))(
    "goes through JSON and back: $name",
    ({ name, schema }) => {
      const codec = Schema.fromJsonString(schema)
      const same = Schema.toEquivalence(schema)
      return Effect.gen(function*() {
        const result = yield* Arbitrary.checkEffect(
          others[name.slice(name.lastIndexOf(".") + 1)] ??
            Arbitrary.map(Arbitrary.schema(Schema.toType(schema)), writable),
          (value) =>
            Effect.gen(function*() {
              const text = yield* Schema.encodeEffect(codec)(value)
              const again = yield* Schema.decodeEffect(codec)(text)
              if (!same(value, again)) return yield* Effect.die(`${text} is read back as ${JSON.stringify(again)}`)
              return true
            })
        )
        assert.isUndefined(Arbitrary.formatCheckFailure(result))
      })
    }
  )
})

describe("a word of a later release", () => {
  const company = {
    companyId: 7,
    reason: null,
    everySeconds: 900,
    nextAt: "2026-03-09T15:00:00.000Z",
    lastOkAt: null,
    lateSeconds: 0,
    failures: 0,
    lastError: null,
    rows: 0
  }
  const open: ReadonlyArray<readonly [name: string, schema: Schema.Codec<unknown, unknown>, json: unknown]> = [
    ["the kind of an event", FeedEvent.fields.kind, "merged"],
    ["the kind of a change", PunchChange.fields.kind, "merged"],
    ["the kind of an issue", PeriodCheck.Issue.fields.kind, "earlyClockIn"],
    ["an anomaly", WorkedTime.WorkedTime.fields.anomalies, ["OpenPunch", "TooManyBreaks"]],
    ["the state and phase of a company", CompanyStatus, { ...company, state: "draining", phase: "repair" }]
  ]

  it.each(open)("is kept where a reader can continue: %s", (_, schema, json) => {
    assert.deepStrictEqual(Schema.encodeUnknownSync(schema)(Schema.decodeUnknownSync(schema)(json)), json)
  })

  // A copy that is synced in another way, or a sum that is paid, is refused rather than misread.
  it.each(
    [
      ["the kind of a pass", RunningPass.fields.kind, "repair"],
      ["the kind of a revision", RecordedRevision.from.fields.kind, "merge"]
    ] as const
  )("fails where money depends on it: %s", (_, schema, json) => {
    assert.isTrue(Option.isNone(Schema.decodeUnknownOption(schema)(json)))
  })
})
