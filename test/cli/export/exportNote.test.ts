/** Notes and rows that were edited between two runs: each is refused, or the finished file is right. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Fs from "node:fs"
import { checksumOf } from "../../../src/cli/export/note.ts"
import { Cursor } from "../../../src/index.ts"
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

const number = (note: Fields, name: string): number => Number(note[name])

/** A note with a true checksum, as only a program that knows its form would write it. */
const sealed = (note: Fields): Fields => ({
  ...note,
  checksum: checksumOf({
    about: "",
    form: 2,
    run: String(note["run"]),
    spec: Object(note["spec"]),
    bytes: number(note, "bytes"),
    pages: number(note, "pages"),
    punches: number(note, "punches"),
    cursor: Option.flatMap(Option.fromNullishOr(note["cursor"]), (cursor) => Cursor.makeOption(String(cursor))),
    complete: note["complete"] === true,
    rows: String(note["rows"])
  })
})

const resume = /resume\.json/

/** Edits of a note, and why the export refuses it when the checksum is not that of the edit, and when it is. */
const edits: ReadonlyArray<readonly [name: string, edit: (note: Fields) => Fields, as: RegExp, sealed: RegExp]> = [
  ["bytes 0 with pages", () => ({ bytes: 0 }), /without bytes/, /without bytes/],
  ["bytes in the middle of a line", (note) => ({ bytes: number(note, "bytes") - 7 }), /was changed/, /does not hold/],
  ["bytes at an earlier end of a line", () => ({ bytes: 502 }), /was changed/, /does not hold/],
  ["one byte less", (note) => ({ bytes: number(note, "bytes") - 1 }), /was changed/, /does not hold/],
  ["negative bytes", () => ({ bytes: -1 }), /cannot be read/, /cannot be read/],
  ["unsafe bytes", () => ({ bytes: 2 ** 60 }), /cannot be read/, /cannot be read/],
  ["half a byte", () => ({ bytes: 1000.5 }), /cannot be read/, /cannot be read/],
  ["no cursor and not complete", () => ({ cursor: null }), /or neither/, /or neither/],
  ["complete with a cursor", () => ({ complete: true }), /complete and a next page/, /complete and a next page/],
  ["an empty cursor", () => ({ cursor: "" }), /cannot be read/, /cannot be read/],
  ["a number as cursor", () => ({ cursor: 7 }), /cannot be read/, /cannot be read/],
  ["no pages with bytes", () => ({ pages: 0 }), /without pages/, /without pages/],
  ["punches without pages", () => ({ bytes: 0, pages: 0, cursor: null }), /without pages/, /without pages/],
  ["complete without pages", () => ({ bytes: 0, pages: 0, punches: 0, cursor: null, complete: true }), resume, resume],
  ["a cursor without pages", () => ({ bytes: 0, pages: 0, punches: 0 }), /without pages/, /without pages/],
  ["negative pages", () => ({ pages: -3 }), /cannot be read/, /cannot be read/],
  ["negative punches", () => ({ punches: -1 }), /cannot be read/, /cannot be read/],
  ["a hash of other rows", () => ({ rows: "0".repeat(64) }), /was changed/, /does not hold/],
  ["a hash that is none", () => ({ rows: "rows" }), /cannot be read/, /cannot be read/],
  ["another form", () => ({ form: 3 }), /another version/, /another version/]
]

/** Edits that only the checksum shows. */
const hidden: ReadonlyArray<readonly [name: string, edit: (note: Fields) => Fields]> = [
  ["another cursor", () => ({ cursor: "WyJuIiwyMF0" })],
  ["other flags, which are those of this run", (note) => ({ spec: { ...Object(note["spec"]), "--user-id": "7" } })],
  ["more punches", (note) => ({ punches: number(note, "punches") + 1 })],
  ["fewer pages", () => ({ pages: 1 })],
  ["complete instead of a cursor", () => ({ complete: true, cursor: null })],
  ["another run", () => ({ run: "1" })]
]

describe("time-punches export refuses a note with", () => {
  const refuses = (name: string, edit: (note: Fields) => Fields, ...expected: ReadonlyArray<RegExp>) =>
    inFake(Effect.gen(function*() {
      const { folder, note, output, part } = yield* begun()
      const asked = (yield* queries).length
      const edited = { ...note, ...edit(note) }
      for (const [index, written] of [edited, sealed(edited)].slice(0, expected.length).entries()) {
        writeNote(output, written)
        const flags = name.startsWith("other flags") ? ["--user-id", "7"] : []
        const { code, stderr } = yield* exported(output, {}, ...flags)

        assert.strictEqual(code, 2, stderr)
        assert.match(stderr, expected[index] ?? resume)
        assert.match(stderr, /--force/)
      }
      assert.strictEqual(read(`${output}.part`), part)
      assert.deepStrictEqual(filesOf(folder), ["punches.part", "punches.resume.json"])
      assert.lengthOf(yield* queries, asked)
    }))

  it.effect.each(edits)(
    "%s, also if its checksum is right",
    ([name, edit, as, whenSealed]) => refuses(name, edit, as, whenSealed)
  )

  it.effect.each(hidden)("%s", ([name, edit]) => refuses(name, edit, /was changed since a run wrote it/))

  it.effect("the form of an earlier version", () =>
    refuses("earlier", () => ({ form: 1, checksum: undefined }), /another version/))
})

describe("time-punches export refuses", () => {
  const changes: ReadonlyArray<readonly [name: string, change: (part: Buffer) => Buffer]> = [
    ["a changed byte in the first row", (part) => (part.writeUInt8(0x39, 6), part)],
    ["a changed byte in the last row", (part) => (part.writeUInt8(0x39, part.length - 20), part)],
    ["a changed end of the last row", (part) => (part.write(" ", part.length - 1), part)],
    ["two rows in turn", (part) => {
      const [one = "", two = "", ...rest] = part.toString().split("\n")
      return Buffer.from([two, one, ...rest].join("\n"))
    }],
    ["the rows of another export", (part) => Buffer.alloc(part.length, "other\n")]
  ]

  it.effect.each(changes)("a part with %s", ([, change]) =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* begun()
      const changed = change(Fs.readFileSync(`${output}.part`))
      Fs.writeFileSync(`${output}.part`, changed)
      const { code, stderr } = yield* exported(output)
      const forced = yield* exported(output, {}, "--force")

      assert.strictEqual(code, 2)
      assert.match(stderr, /punches\.part does not hold the rows that .*punches\.resume\.json counts.*\n.*--force/)
      assert.strictEqual(forced.code, 0)
      assert.strictEqual(read(output), whole)
    })))

  it.effect("a part that is a link", () =>
    inFake(Effect.gen(function*() {
      const { folder, output, part } = yield* begun()
      Fs.renameSync(`${output}.part`, `${folder}/elsewhere`)
      Fs.symlinkSync(`${folder}/elsewhere`, `${output}.part`)
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 2)
      assert.match(stderr, /punches\.part is not a regular file/)
      assert.strictEqual(read(`${folder}/elsewhere`), part)
    })))

  it.effect("flags of a note without the control characters in them", () =>
    inFake(Effect.gen(function*() {
      const { note, output } = yield* begun()
      writeNote(output, sealed({ ...note, spec: { ...Object(note["spec"]), "--user-id": "\u001b[2J\u0007" } }))
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
