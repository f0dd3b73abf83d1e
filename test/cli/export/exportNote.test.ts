/** Notes that are edited between two runs to what no run writes, and parts that are cut. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { queries, read } from "../support.ts"
import { exported, failAfter, filesOf, inFake, noteOf, setting } from "./exportSupport.ts"

type Fields = Record<string, unknown>

/** An export whose first three pages are saved. */
const begun = Effect.fnUntraced(function*(format: "ndjson" | "csv" = "ndjson") {
  const { folder, output, whole } = yield* setting(format)
  yield* failAfter(3)
  yield* exported(output, {}, "--format", format)
  return { folder, output, whole, note: noteOf(output), part: read(`${output}.part`) }
})

const writeNote = (output: string, note: Fields) => Fs.writeFileSync(`${output}.resume.json`, JSON.stringify(note))

/** Edits of a note to what no run writes. */
const edits: ReadonlyArray<readonly [name: string, edit: (note: Fields) => Fields]> = [
  ["negative bytes", () => ({ bytes: -1 })],
  ["unsafe bytes", () => ({ bytes: 2 ** 60 })],
  ["half a byte", () => ({ bytes: 1000.5 })],
  ["an empty cursor", () => ({ cursor: "" })],
  ["a number as cursor", () => ({ cursor: 7 })],
  ["negative pages", () => ({ pages: -3 })],
  ["negative punches", () => ({ punches: -1 })],
  ["no run", () => ({ run: undefined })],
  ["another form", () => ({ form: 2 })]
]

describe("time-punches export refuses", () => {
  it.effect.each(edits)("a note with %s", ([, edit]) =>
    inFake(Effect.gen(function*() {
      const { folder, note, output, part } = yield* begun()
      const asked = (yield* queries).length
      writeNote(output, { ...note, ...edit(note) })
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 2, stderr)
      assert.match(stderr, /punches\.resume\.json cannot be read: .*\n.*--force/)
      assert.strictEqual(read(`${output}.part`), part)
      assert.deepStrictEqual(filesOf(folder), ["punches.part", "punches.resume.json"])
      assert.lengthOf(yield* queries, asked)
    })))

  it.effect("a part that is a link", () =>
    inFake(Effect.gen(function*() {
      const { folder, output, part } = yield* begun()
      Fs.renameSync(`${output}.part`, `${folder}/elsewhere`)
      Fs.symlinkSync(`${folder}/elsewhere`, `${output}.part`)
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 8)
      assert.match(stderr, /punches\.part is a link, and not a regular file/)
      assert.strictEqual(read(`${folder}/elsewhere`), part)
    })))

  it.effect("flags of a note without the control characters in them", () =>
    inFake(Effect.gen(function*() {
      const { note, output } = yield* begun()
      writeNote(output, { ...note, spec: { ...Object(note["spec"]), "--user-id": "\u001b[2J\u0007" } })
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 2)
      assert.include(stderr, "--user-id \\u001b[2J\\u0007, now (none)")
    })))
})

describe("time-punches export writes the same file from a part with", () => {
  const changes: ReadonlyArray<readonly [name: string, change: (file: string) => void]> = [
    ["more bytes than its note counts", (file) => Fs.appendFileSync(file, "half a row")],
    ["fewer bytes than its note counts", (file) => Fs.truncateSync(file, 100)],
    ["no bytes", (file) => Fs.truncateSync(file, 0)],
    ["no file", (file) => Fs.rmSync(file)]
  ]

  it.effect.each(
    changes.flatMap((change) => [[change[0], "ndjson", change[1]] as const, [change[0], "csv", change[1]] as const])
  )(
    "%s, in %s",
    ([, format, change]) =>
      inFake(Effect.gen(function*() {
        const { output, whole } = yield* begun(format)
        change(`${output}.part`)
        const { code } = yield* exported(output, {}, "--format", format)

        assert.strictEqual(code, 0)
        assert.strictEqual(read(output), whole)
      }))
  )
})
