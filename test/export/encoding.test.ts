/** The files of an export against what they are with the schema alone: the same bytes, the same verdict, the same words. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Stream } from "effect"
import { Csv, Ndjson } from "../../src/export/index.ts"
import type { TimePunch } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { legalPunch, somePunch } from "../internal/wire/spoiltPunch.ts"
import { untyped } from "../support/untyped.ts"

/** How many punches the straight-line encoder received and refused. */
let refused = 0

/** A second copy of the modules, where the straight-line encoder refuses every punch. */
const withSchemaAlone = await (async () => {
  vi.resetModules()
  const refuse = () => {
    refused++
    return undefined
  }
  vi.doMock("../../src/internal/wire/encoder.ts", () => ({ encodeBreak: refuse, encodePunch: refuse }))
  const copy = await import("../../src/export/index.ts")
  vi.doUnmock("../../src/internal/wire/encoder.ts")
  return copy
})()

/** The text before the end, and the words of the failure, if any. */
const outcome = <E>(stream: Stream.Stream<string, E>) => {
  const texts: Array<string> = []
  const exit = Effect.runSyncExit(Stream.runForEach(stream, (text) => Effect.sync(() => texts.push(text))))
  if (Exit.isSuccess(exit)) return { text: texts.join(""), failure: "" }
  const failure = Option.match(Exit.findErrorOption(exit), {
    onNone: () => String(Cause.squash(exit.cause)),
    onSome: (error) => JSON.stringify({ ...error, message: String(error) })
  })
  return { text: texts.join(""), failure }
}

describe.each([
  {
    name: "Ndjson.encode",
    write: (punches: Stream.Stream<TimePunch>) => Ndjson.encode(punches),
    writeWithSchemaAlone: (punches: Stream.Stream<TimePunch>) => withSchemaAlone.Ndjson.encode(punches)
  },
  {
    name: "Csv.encode",
    write: (punches: Stream.Stream<TimePunch>) => Csv.encode(punches),
    writeWithSchemaAlone: (punches: Stream.Stream<TimePunch>) => withSchemaAlone.Csv.encode(punches)
  }
])("$name", ({ write, writeWithSchemaAlone }) => {
  it("writes the bytes that the schema alone writes, or fails with its words, for 1000 punches with anything wrong in them", () => {
    const seen = { written: 0, failed: 0 }
    refused = 0
    for (let index = 0; index < 1000; index++) {
      const punches = Stream.make(legalPunch(prng(index)), untyped(somePunch(index)))
      const straight = outcome(write(punches))

      assert.deepStrictEqual(straight, outcome(writeWithSchemaAlone(punches)), `punch ${index}`)
      seen[straight.failure === "" ? "written" : "failed"]++
    }

    assert.isAbove(seen.written, 300)
    assert.isAbove(seen.failed, 300)
    assert.isAtLeast(refused, 1500)
  })
})
