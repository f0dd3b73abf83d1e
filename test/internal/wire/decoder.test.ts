/** The straight-line decoder against the schemas that it answers for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result, Schema } from "effect"
import { Break, TimePunch } from "../../../src/index.ts"
import { decodeEnvelope } from "../../../src/internal/wire/decoder.ts"
import { Envelope } from "../../../src/listing/rows.ts"
import { prng } from "../../../src/testing/base/prng.ts"
import { wireBreak, wirePage, wirePunch, without } from "../../support/wire.ts"
import { difference, disagreement, findings, watched } from "./difference.ts"
import { legalPage, spoil } from "./spoiltPage.ts"

const seed = 20_260_302

/** A rule for excess keys, even the one that is in force anyway, is for the schema as it is written. */
const asWritten = { onExcessProperty: "ignore" } as const

const decode = Schema.decodeUnknownResult(Envelope)
const decodeAsWritten = Schema.decodeUnknownResult(Envelope, asWritten)

/** A page with up to three things wrong. */
const somePage = (index: number, json: boolean) => {
  const chance = prng(seed + index)
  let page: unknown = legalPage(chance)
  for (let wrong = chance.between(0, 3); wrong > 0; wrong--) page = spoil(page, chance, json)
  return page
}

describe("decodeEnvelope", () => {
  it("gives what the schema gives, value or issue, for 8000 pages with anything wrong in them", () => {
    const seen = { accepted: 0, refused: 0 }
    for (let index = 0; index < 8000; index++) {
      const page = somePage(index, false)
      const outcome = decode(page)
      seen[Result.isSuccess(outcome) ? "accepted" : "refused"]++
      assert.isUndefined(disagreement(outcome, decodeAsWritten(page)), `page ${index}`)
    }

    assert.isAbove(seen.accepted, 2000)
    assert.isAbove(seen.refused, 2000)
  })

  it("accepts every page of JSON that the schema accepts, and no other", () => {
    for (let index = 0; index < 5000; index++) {
      const page = somePage(index, true)
      const straight = decodeEnvelope(page)
      const written = decodeAsWritten(page)

      assert.strictEqual(straight !== undefined, Result.isSuccess(written), `page ${index}`)
      if (Result.isSuccess(written)) assert.isUndefined(difference(straight, written.success), `page ${index}`)
    }
  })

  it("accepts an instant at the ends of the calendar exactly where the schema does, and what it accepts can be written", () => {
    const chance = prng(seed)
    const seen = { accepted: 0, refused: 0 }
    const two = (value: number) => `${value}`.padStart(2, "0")
    for (let run = 0; run < 5000; run++) {
      const day = chance.chance(0.5) ? "9999-12-31T" : "0001-01-01T"
      const zone = `${chance.pick(["+", "-"])}${two(chance.between(0, 23))}:${two(chance.between(0, 59))}`
      const second = chance.pick(["00", "59", "59.999", "60"])
      const text = `${day}${two(chance.between(0, 23))}:${two(chance.between(0, 59))}:${second}${zone}`
      const name = chance.pick(["clocked_in", "clocked_out", "created", "modified"])
      const page = wirePage([{ ...wirePunch(), [name]: text }])
      const straight = decodeEnvelope(page)
      const written = decodeAsWritten(page)

      assert.strictEqual(straight !== undefined, Result.isSuccess(written), text)
      if (Result.isFailure(written)) {
        seen.refused++
        continue
      }
      seen.accepted++
      assert.isTrue(Result.isSuccess(Schema.encodeResult(Envelope)(written.success)), text)
    }

    assert.isAbove(seen.accepted, 1000)
    assert.isAbove(seen.refused, 1000)
  })

  it("lists all issues where `errors` is `all`", () => {
    const all = Schema.decodeUnknownResult(Envelope, { errors: "all" })
    const allAsWritten = Schema.decodeUnknownResult(Envelope, { ...asWritten, errors: "all" })
    for (let index = 0; index < 1000; index++) {
      const page = somePage(index, false)
      assert.isUndefined(disagreement(all(page), allAsWritten(page)), `page ${index}`)
    }
  })
})

describe.each([
  { name: "TimePunch.Wire", codec: TimePunch.Wire, wire: wirePunch() },
  { name: "Break.Wire", codec: Break.Wire, wire: wireBreak() },
  { name: "Envelope", codec: Envelope, wire: wirePage([wirePunch()]) }
])("$name", ({ codec, wire }) => {
  const plain = Schema.decodeUnknownSync(codec, asWritten)(wire)

  it("decodes in straight lines under every function of the schema", async () => {
    const lookedFor: Array<PropertyKey> = []
    const input = watched(wire, lookedFor)

    assert.isUndefined(difference(Schema.decodeUnknownSync(codec)(input), plain))
    assert.isUndefined(difference(Result.getOrThrow(Schema.decodeUnknownResult(codec)(input)), plain))
    assert.isUndefined(difference(Option.getOrThrow(Schema.decodeUnknownOption(codec)(input)), plain))
    assert.isUndefined(difference(Effect.runSync(Schema.decodeUnknownEffect(codec)(input)), plain))
    assert.isUndefined(difference(await Schema.decodeUnknownPromise(codec)(input), plain))
    assert.isUndefined(difference(Schema.decodeUnknownSync(Schema.Array(codec))([input]), [plain]))
    assert.isUndefined(
      difference(Schema.decodeUnknownSync(Schema.fromJsonString(codec))(JSON.stringify(wire)), plain)
    )
    assert.deepStrictEqual(lookedFor, [])
  })

  it("decodes as it is written under a rule for excess keys", () => {
    const lookedFor: Array<PropertyKey> = []
    const more = { ...wire, more: 1 }

    assert.isUndefined(difference(Schema.decodeUnknownSync(codec, asWritten)(watched(wire, lookedFor)), plain))
    assert.includeMembers(lookedFor, Object.keys(wire))
    assert.isTrue(Result.isSuccess(Schema.decodeUnknownResult(codec)(more)))
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(codec, { onExcessProperty: "error" })(more)))
  })

  it("reports an absent key like any schema", () => {
    const Holder = Schema.Struct({ held: codec })
    const message = Result.getOrThrow(Result.flip(Schema.decodeUnknownResult(Holder)({}))).message

    assert.strictEqual(
      message,
      Result.getOrThrow(Result.flip(Schema.decodeUnknownResult(Schema.Struct({ held: Schema.String }))({}))).message
    )
    assert.deepStrictEqual(Schema.decodeUnknownSync(Schema.Struct({ held: Schema.optionalKey(codec) }))({}), {})
  })

  it("names the path of what it refuses", () => {
    const error = Result.getOrThrow(Result.flip(Schema.decodeUnknownResult(Schema.Array(codec))([wire, null])))
    const [key = ""] = Object.keys(wire)
    const missing = Result.getOrThrow(
      Result.flip(Schema.decodeUnknownResult(Schema.Array(codec))([wire, without(wire, key)]))
    )

    assert.deepStrictEqual(findings(error.issue).issues[0]?.path, [1])
    assert.deepStrictEqual(findings(missing.issue).issues[0]?.path, [1, key])
  })

  it("does not affect the type side", () => {
    assert.isFalse(Schema.is(codec)(wire))
    assert.isTrue(Schema.is(codec)(plain))
  })
})
