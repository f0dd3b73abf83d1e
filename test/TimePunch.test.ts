import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Result, Schema, SchemaIssue } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Break, ShiftId, TimePunch } from "../src/index.ts"
import { PunchPair, samplePair } from "./support/punchPair.ts"
import { type Wire, wireBreak, wirePunch, without } from "./support/wire.ts"

const decode = Schema.decodeUnknownResult(TimePunch.Wire)
const encode = Schema.encodeSync(TimePunch.Wire)
const decoded = (wire: unknown) => Result.getOrThrow(decode(wire))

/** The value after a trip over the wire. */
const overJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const paths = SchemaIssue.makeFormatterStandardSchemaV1()

/** Path and message of the first issue, or nothing where there is none. */
const fault = (wire: unknown) =>
  Result.match(decode(wire), {
    onSuccess: () => undefined,
    onFailure: (error) => ({
      path: (paths(error.issue).issues[0]?.path ?? []).map(String).join("."),
      message: error.message
    })
  })

const millis = ({ epochMilliseconds }: DateTime.DateTime) => epochMilliseconds

const runs = { arbitrary: { runs: 400, seed: 1 } }

describe("TimePunch.Wire", () => {
  it.prop("decodes every legal form of a punch to the value that it means", [PunchPair], ([{ domain, wire }]) => {
    const interpreted = Schema.decodeUnknownSync(TimePunch.Wire, { onExcessProperty: "ignore" })

    assert.deepStrictEqual(decoded(overJson(wire)), domain)
    assert.deepStrictEqual(interpreted(overJson(wire)), domain)
  }, runs)

  it.prop("decodes what it encodes to the same punch, by way of JSON", [PunchPair], ([{ domain }]) => {
    assert.deepStrictEqual(decoded(overJson(encode(domain))), domain)
  }, runs)

  it.prop("writes a punch with every key of the interface, in UTC", [PunchPair], ([{ domain }]) => {
    const wire: Wire = encode(domain)

    assert.sameMembers(Object.keys(wire), Object.keys(wirePunch()))
    assert.strictEqual(Date.parse(String(wire["clocked_in"])), millis(domain.clockedIn))
    for (const [key, value] of Object.entries(wire)) {
      if (key === "clocked_in" || (key === "clocked_out" && value !== null)) assert.match(String(value), /Z$/)
    }
  }, runs)

  it("reads each field of the interface", () => {
    const punch = decoded(wirePunch())

    assert.deepInclude(
      Object(overJson(punch)),
      Object(overJson({
        id: 1,
        companyId: 4021,
        userId: 7,
        roleId: 3,
        locationId: 4,
        shiftId: Option.some(5),
        departmentId: Option.some(6),
        clockedIn: "2026-03-02T08:00:00.000Z",
        clockedOut: Option.some("2026-03-02T16:30:00.000Z"),
        hourlyWage: 1550,
        tips: 250,
        approved: true,
        editablePunch: true,
        notes: "",
        posType: Option.some("web"),
        breaks: [{
          id: 31,
          userId: 7,
          customBreakId: 2,
          paid: true,
          in: "2026-03-02T12:00:00.000Z",
          out: Option.some("2026-03-02T12:30:00.000Z"),
          deleted: false
        }],
        autoClockedOut: false,
        clockedInOffline: false,
        clockedOutOffline: false,
        created: Option.some("2026-03-02T08:00:01.000Z"),
        modified: Option.none(),
        deleted: false
      }))
    )
  })

  it("writes what is none in the form that the interface allows for the field", () => {
    const none = decoded(wirePunch({
      shift_id: 0,
      department_id: null,
      clocked_out: null,
      pos_type: null,
      created: null,
      modified: null,
      breaks: [wireBreak({ out: null })]
    }))
    const wire: Wire = encode(none)

    assert.strictEqual(wire["shift_id"], 0)
    for (const key of ["department_id", "clocked_out", "pos_type", "created", "modified"]) assert.isNull(wire[key], key)
    assert.deepStrictEqual(wire["breaks"], [wireBreak({ in: "2026-03-02T12:00:00Z", out: null })])
  })

  it.each(["shift_id", "department_id"] as const)("takes 0, null and no key for no %s", (key) => {
    const field = key === "shift_id" ? "shiftId" : "departmentId"

    for (const wire of [wirePunch({ [key]: 0 }), wirePunch({ [key]: null }), without(wirePunch(), key)]) {
      assert.isTrue(Option.isNone<number>(decoded(wire)[field]))
    }
    assert.deepStrictEqual(Option.getOrNull<number>(decoded(wirePunch({ [key]: 8 }))[field]), 8)
  })

  it("takes absent breaks for none, an absent deleted for false, and an absent or unknown source as it is", () => {
    const punch = decoded(without(wirePunch(), "breaks", "deleted", "pos_type"))

    assert.deepStrictEqual(punch.breaks, [])
    assert.isFalse(punch.deleted)
    assert.isTrue(Option.isNone(punch.posType))
    assert.deepStrictEqual(
      decoded(wirePunch({ pos_type: "a till of the future" })).posType,
      Option.some("a till of the future")
    )
    assert.deepStrictEqual(decoded(wirePunch({ pos_type: "" })).posType, Option.some(""))
  })

  const required = {
    id: ["1", 1.5, -1, true],
    company_id: ["4021", -1, 0],
    user_id: ["7", 0.1],
    role_id: ["3", []],
    location_id: ["4", {}],
    clocked_in: [1_772_438_400_000, "", "2026-03-02", "2026-02-30T08:00:00Z"],
    hourly_wage: ["1550", 15.5, -1],
    tips: ["0", 2.5],
    approved: ["true", 1],
    editable_punch: [0],
    notes: [1, []],
    auto_clocked_out: ["false"],
    clocked_in_offline: [0],
    clocked_out_offline: [1]
  }

  it.each(Object.entries(required))("refuses a punch whose %s is missing, null or of another type", (key, wrong) => {
    assert.strictEqual(fault(without(wirePunch(), key))?.path, key)
    for (const value of [null, ...wrong]) assert.strictEqual(fault(wirePunch({ [key]: value }))?.path, key)
  })

  const nullable = { clocked_out: 5, created: "yesterday", modified: "2026-03-02T08:00:00" }

  it.each(Object.entries(nullable))("takes null for %s, but neither no key nor anything else", (key, wrong) => {
    assert.isUndefined(fault(wirePunch({ [key]: null })))
    assert.strictEqual(fault(without(wirePunch(), key))?.path, key)
    assert.strictEqual(fault(wirePunch({ [key]: wrong }))?.path, key)
  })

  const optional = { shift_id: "5", department_id: "6", pos_type: 5, breaks: {}, deleted: "false" }

  it.each(Object.entries(optional))("refuses a %s of another type", (key, wrong) => {
    assert.isUndefined(fault(without(wirePunch(), key)))
    assert.strictEqual(fault(wirePunch({ [key]: wrong }))?.path, key)
  })

  it.each(["breaks", "deleted"])("refuses null for %s, which the interface lets be absent only", (key) => {
    assert.strictEqual(fault(wirePunch({ [key]: null }))?.path, key)
  })

  const breakFields = { id: "31", user_id: null, custom_break_id: 2.5, paid: "yes", in: null, out: "12:30" }

  it.each(Object.entries(breakFields))("names the break that has a wrong %s", (key, wrong) => {
    const [good, bad, less] = [wireBreak(), wireBreak({ [key]: wrong }), without(wireBreak(), key)]

    assert.strictEqual(fault(wirePunch({ breaks: [good, bad] }))?.path, `breaks.1.${key}`)
    assert.strictEqual(fault(wirePunch({ breaks: [good, good, less] }))?.path, `breaks.2.${key}`)
  })

  it("takes null and no key for a break that is not deleted, and refuses all but booleans", () => {
    const marks = [{}, { deleted: null }, { deleted: false }, { deleted: true }]
    const breaks = marks.map((mark) => Object.assign({}, without(wireBreak(), "deleted"), mark))

    assert.deepStrictEqual(decoded(wirePunch({ breaks })).breaks.map(({ deleted }) => deleted), [
      false,
      false,
      false,
      true
    ])
    for (const deleted of ["true", "false", "", 0, 1, [], {}]) {
      assert.strictEqual(fault(wirePunch({ breaks: [wireBreak({ deleted })] }))?.path, "breaks.0.deleted")
    }
  })

  it.each([null, [], "punch", 1, true])("refuses %j for a punch", (wire) => {
    assert.isDefined(fault(wire))
  })

  it("says where and what, but never the value", () => {
    for (const key of Object.keys(required)) {
      assert.notInclude(fault(wirePunch({ [key]: "the-private-note" }))?.message ?? "", "the-private-note")
    }
  })

  it("ignores fields that it does not know, at any depth", () => {
    const future = { future: { deeply: ["nested"] }, "": 1, constructor: "x", toString: 2 }

    assert.deepStrictEqual(
      decoded(wirePunch({ ...future, breaks: [wireBreak(future)] })),
      decoded(wirePunch())
    )
  })

  it("takes data that is odd but well-formed", () => {
    const odd = decoded(wirePunch({
      clocked_out: "2026-03-02T07:00:00Z",
      breaks: [wireBreak({ in: "2026-01-01T00:00:00Z", out: "2025-01-01T00:00:00Z" })]
    }))

    assert.isBelow(millis(Option.getOrThrow(odd.clockedOut)), millis(odd.clockedIn))
  })

  it.each(["0000-01-01T00:00:00.000Z", "+010000-01-01T00:00:00.000Z"])(
    "does not write %s, which four digits of year cannot",
    (iso) => {
      const punch: TimePunch = { ...decoded(wirePunch()), clockedIn: DateTime.makeUnsafe(Date.parse(iso)) }

      assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(TimePunch.Wire)(punch)))
    }
  )
})

describe("TimePunch", () => {
  it.prop("is the schema of what is decoded", [PunchPair], ([{ domain }]) => {
    assert.isTrue(Schema.is(TimePunch)(domain))
  }, runs)

  it.prop("survives the JSON codec that every schema has", [PunchPair], ([{ domain }]) => {
    const codec = Schema.toCodecJson(TimePunch)

    assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(overJson(Schema.encodeSync(codec)(domain))), domain)
  }, runs)

  it("refuses the sentinels of the wire in a domain value", () => {
    const punch = decoded(wirePunch())

    assert.isFalse(Schema.is(TimePunch)({ ...punch, shiftId: Option.some(ShiftId.make(0)) }))
    assert.isFalse(Schema.is(TimePunch)({ ...punch, departmentId: null }))
    assert.isFalse(Schema.is(TimePunch)({ ...punch, hourlyWage: -1 }))
  })
})

describe("Break.Wire", () => {
  it("writes whether a break is deleted, also where the wire had no key", () => {
    const codec = Schema.decodeUnknownSync(Break.Wire)

    for (const mark of [{}, { deleted: null }, { deleted: true }]) {
      const rest = codec({ ...without(wireBreak(), "deleted"), ...mark })
      assert.strictEqual(Schema.encodeSync(Break.Wire)(rest).deleted, mark.deleted === true)
    }
  })

  it("reads and writes a break by itself", () => {
    const rest = Schema.decodeUnknownSync(Break.Wire)(wireBreak({ out: null, custom_break_id: 0 }))

    assert.isTrue(Option.isNone(rest.out))
    assert.deepStrictEqual(
      Schema.encodeSync(Break.Wire)(rest),
      wireBreak({ in: "2026-03-02T12:00:00Z", out: null, custom_break_id: 0 })
    )
  })
})

describe("TimePunch in an HTTP API of an application", () => {
  const echo = HttpApiEndpoint.post("echo", "/echo", { payload: TimePunch, success: TimePunch })
  const Api = HttpApi.make("app").add(HttpApiGroup.make("punches").add(echo))
  const handlers = HttpApiBuilder.group(
    Api,
    "punches",
    (group) => group.handle("echo", ({ payload }) => Effect.succeed(payload))
  )

  it("travels as plain JSON", async () => {
    const { dispose, handler } = HttpRouter.toWebHandler(
      HttpApiBuilder.layer(Api).pipe(Layer.provide(handlers), Layer.provide(HttpServer.layerServices))
    )
    const sent = Schema.encodeSync(TimePunch)(samplePair.domain)
    const response = await handler(
      new Request("http://localhost/echo", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(sent)
      })
    )
    const received: unknown = await response.json()
    await dispose()

    assert.deepInclude(sent, { clockedIn: DateTime.formatIso(samplePair.domain.clockedIn) })
    assert.notInclude(JSON.stringify(received), "_tag")
    assert.deepStrictEqual(received, sent)
    assert.deepStrictEqual(Schema.decodeUnknownSync(TimePunch)(received), samplePair.domain)
  })

  it("has a name in the document of the interface", () => {
    const { components } = OpenApi.fromApi(Api)

    assert.includeMembers(Object.keys(components.schemas), ["TimePunch", "Break"])
  })

  it.each(["2026-03-02", "2026-03-02T08:00:00", "2026-02-30T08:00:00Z", "foo 1", "0", ""])(
    "reads no instant from %j",
    (text) => {
      const stored = { ...Schema.encodeSync(TimePunch)(samplePair.domain), clockedIn: text }

      assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(TimePunch)(stored)))
    }
  )
})
