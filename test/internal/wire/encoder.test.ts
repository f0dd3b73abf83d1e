/** The straight-line encoder against the schemas that it answers for. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Schema } from "effect"
import { Break, TimePunch } from "../../../src/index.ts"
import { encodePunch } from "../../../src/internal/wire/encoder.ts"
import { Envelope } from "../../../src/listing/rows.ts"
import { prng } from "../../../src/testing/base/prng.ts"
import { wireBreak, wirePage, wirePunch } from "../../support/wire.ts"
import { difference, disagreement, findings, watched } from "./difference.ts"
import { legalPunch, somePunch } from "./spoiltPunch.ts"

const seed = 20_261_122

/** A rule for excess keys, even the one that is in force anyway, is for the schema as it is written. */
const asWritten = { onExcessProperty: "ignore" } as const

const encode = Schema.encodeUnknownResult(TimePunch.Wire)
const encodeAsWritten = Schema.encodeUnknownResult(TimePunch.Wire, asWritten)
const decodeAsWritten = Schema.decodeUnknownResult(TimePunch.Wire, asWritten)

/** The outcome, or what is thrown. */
const attempt = <A>(run: () => A) => Result.mapError(Result.try(run), (thrown) => String(thrown))

describe("encodePunch", () => {
  it("gives what the schema gives, value or issue, for 10 000 punches with anything wrong in them", () => {
    const seen = { accepted: 0, refused: 0, thrown: 0 }
    for (let index = 0; index < 10_000; index++) {
      const punch = somePunch(index)
      const outcome = attempt(() => encode(punch))
      const written = attempt(() => encodeAsWritten(punch))
      if (Result.isFailure(outcome) || Result.isFailure(written)) {
        seen.thrown++
        assert.deepStrictEqual(outcome, written, `punch ${index}`)
        continue
      }
      seen[Result.isSuccess(outcome.success) ? "accepted" : "refused"]++
      assert.isUndefined(disagreement(outcome.success, written.success), `punch ${index}`)
    }

    assert.isAbove(seen.accepted, 3000)
    assert.isAbove(seen.refused, 3000)
    assert.isAbove(seen.thrown, 100)
  })

  it("accepts every punch of a listing, so that none costs more", () => {
    for (let index = 0; index < 5000; index++) {
      const punch = legalPunch(prng(seed + index))

      assert.isUndefined(difference(encodePunch(punch), Result.getOrThrow(encodeAsWritten(punch))), `punch ${index}`)
    }
  })

  it("writes only what it has checked of a value that changes from one reading to the next", () => {
    const punch = legalPunch(prng(seed))
    let accepted = 0
    for (const key of Object.keys(punch)) {
      for (const wrong of [{}, "7", 7.5, Option.some({}), null]) {
        for (const wrongAt of [0, 1, 2, 3]) {
          let reads = 0
          const get = () => reads++ === wrongAt ? wrong : Reflect.get(punch, key)
          const outcome = encode(Object.defineProperty({ ...punch }, key, { get }))
          if (Result.isFailure(outcome)) continue
          accepted++
          assert.isTrue(Result.isSuccess(decodeAsWritten(outcome.success)), `${key}, wrong at ${wrongAt}`)
        }
      }
    }

    assert.isAbove(accepted, 100)
  })

  it("lists all issues where `errors` is `all`", () => {
    const all = Schema.encodeUnknownResult(TimePunch.Wire, { errors: "all" })
    const allAsWritten = Schema.encodeUnknownResult(TimePunch.Wire, { ...asWritten, errors: "all" })
    for (let index = 0; index < 1000; index++) {
      const punch = somePunch(index)
      const [outcome, written] = [attempt(() => all(punch)), attempt(() => allAsWritten(punch))]
      if (Result.isFailure(outcome) || Result.isFailure(written)) assert.deepStrictEqual(outcome, written)
      else assert.isUndefined(disagreement(outcome.success, written.success), `punch ${index}`)
    }
  })
})

describe.each([
  { name: "TimePunch.Wire", codec: TimePunch.Wire, wire: wirePunch() },
  { name: "Break.Wire", codec: Break.Wire, wire: wireBreak() }
])("$name", ({ codec, wire }) => {
  const value: object = Schema.decodeUnknownSync(codec, asWritten)(wire)
  const plain = Schema.encodeUnknownSync(codec, asWritten)(value)

  it("encodes in straight lines under every function of the schema", async () => {
    const lookedFor: Array<PropertyKey> = []
    const input = watched(value, lookedFor)

    assert.isUndefined(difference(Schema.encodeUnknownSync(codec)(input), plain))
    assert.isUndefined(difference(Result.getOrThrow(Schema.encodeUnknownResult(codec)(input)), plain))
    assert.isUndefined(difference(Option.getOrThrow(Schema.encodeUnknownOption(codec)(input)), plain))
    assert.isUndefined(difference(Effect.runSync(Schema.encodeUnknownEffect(codec)(input)), plain))
    assert.isUndefined(difference(await Schema.encodeUnknownPromise(codec)(input), plain))
    assert.isUndefined(difference(Schema.encodeUnknownSync(Schema.Array(codec))([input]), [plain]))
    assert.deepStrictEqual(lookedFor, [])
  })

  it("encodes as it is written under a rule for excess keys, and without checks", () => {
    const lookedFor: Array<PropertyKey> = []
    const more = { ...value, more: 1 }

    assert.isUndefined(difference(Schema.encodeUnknownSync(codec, asWritten)(watched(value, lookedFor)), plain))
    assert.includeMembers(lookedFor, Object.keys(value))
    assert.isTrue(Result.isSuccess(Schema.encodeUnknownResult(codec)(more)))
    assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(codec, { onExcessProperty: "error" })(more)))
    assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(codec)({ ...value, id: -1 })))
    assert.isTrue(Result.isSuccess(Schema.encodeUnknownResult(codec, { disableChecks: true })({ ...value, id: -1 })))
  })

  it("names the path of what it refuses, by the names of the wire", () => {
    const error = Result.getOrThrow(Result.flip(Schema.encodeUnknownResult(Schema.Array(codec))([value, null])))
    const key = "in" in value ? "in" : "clockedIn"
    const late = { ...value, [key]: DateTime.makeUnsafe(8.64e15) }
    const unwritable = Result.getOrThrow(Result.flip(Schema.encodeUnknownResult(Schema.Array(codec))([value, late])))

    assert.deepStrictEqual(findings(error.issue).issues[0]?.path, [1])
    assert.deepStrictEqual(findings(unwritable.issue).issues[0]?.path, [1, "in" in value ? "in" : "clocked_in"])
  })
})

describe("Envelope", () => {
  it("encodes as it is written, with the punches in it in straight lines", () => {
    const page = Schema.decodeUnknownSync(Envelope)(wirePage([wirePunch(), wirePunch({ breaks: [] })]))

    assert.isUndefined(
      difference(Schema.encodeSync(Envelope)(page), Schema.encodeUnknownSync(Envelope, asWritten)(page))
    )
  })
})
