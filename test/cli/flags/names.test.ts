import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Fs from "node:fs"
import { parseNames, readCodes } from "../../../src/cli/flags/names.ts"
import { cli, inFakeOf, queries, temporaryFolder } from "../support.ts"

const encoder = new TextEncoder()

const parse = (...lines: ReadonlyArray<string>) => parseNames(encoder.encode(lines.join("\n")), "names.csv")

const head = "kind,id,name"

const notUtf8 =
  "this is not UTF-8; in a spreadsheet, save it as \"CSV UTF-8\", or with the character set Unicode (UTF-8)"

describe("a file of names", () => {
  it.effect("names ids of each kind, and nothing else", () =>
    Effect.gen(function*() {
      const names = yield* parse(head, "user,501,Анна", "location,501,\"Main St, 5\"", "role,0,Bar", "department,7,=x")

      assert.deepStrictEqual(
        [names("user", 501), names("location", 501), names("role", 0), names("department", 7)],
        ["Анна", "Main St, 5", "Bar", "=x"]
      )
      assert.deepStrictEqual([names("role", 501), names("user", 5010)], [undefined, undefined])
    }))

  it.effect("has the further columns of its header, also without a row", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      Fs.writeFileSync(`${folder}/codes.csv`, "kind,id,code,team\n")
      const codes = yield* Effect.provide(readCodes(Option.some(`${folder}/codes.csv`), false), NodeServices.layer)

      assert.deepStrictEqual(codes?.fields, ["team"])
    }))

  it.effect("may have semicolons, as a spreadsheet writes them, and commas in names", () =>
    Effect.gen(function*() {
      const names = yield* parse("kind;id;name;", "user;501;Lee, Ann;", "role;1;\"a;b\"", ";;;", "role;2;c;;")

      assert.deepStrictEqual([names("user", 501), names("role", 1), names("role", 2)], ["Lee, Ann", "a;b", "c"])
    }))

  it.effect.each(
    [
      ["no line after the header", head],
      ["a byte order mark", `\uFEFF${head}\nuser,1,A`],
      ["CRLF and blank lines", `${head}\r\n\r\nuser,1,A\r\n\r\n`],
      ["quotes and line breaks in a name", `${head}\nuser,1,A\nuser,2,"a ""b""\nc"\nuser,3,"d"`]
    ] as const
  )("may have %s", ([, text]) =>
    Effect.gen(function*() {
      const names = yield* parse(text)

      assert.strictEqual(names("user", 1), text === head ? undefined : "A")
      if (text.includes("\"")) assert.strictEqual(names("user", 2), "a \"b\"\nc")
    }))

  const one = "user,1,A"

  it.effect.each<[what: string, lines: ReadonlyArray<string>, message: string]>([
    ["nothing in it", [""], "line 1: the columns must be kind,id,name, not "],
    ["other columns", ["kind;id;nom"], "line 1: the columns must be kind,id,name, not kind,id,nom"],
    ["columns in another order", ["id,kind,name"], "line 1: the columns must be kind,id,name, not id,kind,name"],
    [
      "another kind",
      [head, one, "manager,1,A"],
      "line 3: the kind must be user, location, role or department, not \"manager\""
    ],
    [
      "an id with a point",
      [head, "user,1.0,A"],
      "line 2: the id must be a whole number from 0 to 9007199254740991, not \"1.0\""
    ],
    ["an id beyond the safe integers", [head, "user,9007199254740993,A"], "line 2: the id must be a whole number"],
    ["an empty name", [head, one, "user,2, "], "line 3: the name is empty"],
    ["a cell too few", [head, one, "user,2"], "line 3: it must have 3 cells, kind,id,name, and has 2"],
    ["a cell too many", [head, one, "user,2,Ann,Lee"], "line 3: it must have 3 cells, kind,id,name, and has 4"],
    ["two names for an id", [head, one, "user,2,B", "user,1,C"], "line 4: line 2 has a name for user 1 already"],
    ["an id with a 0 in front", [head, one, "user,01,C"], "line 3: line 2 has a name for user 1 already"],
    ["a quote that does not end", [head, one, "user,2,\"B", "user,3,C"], "line 3: Unterminated quoted field"],
    ["a quote within a name", [head, one, "user,2,B \"C\""], "line 3: Unexpected quote in an unquoted field"],
    ["an error after a name of two lines", [head, "user,1,\"A\r\nB\"", "", "boss,2,C"], "line 5: the kind must be"],
    ["a control character", [head, "\u001b[2J,1,A"], "not \"\\u001b[2J\""]
  ])("is refused with its line for %s", ([, lines, message]) =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(parse(...lines))

      assert.strictEqual(failure.code, 2)
      assert.match(failure.message, /^names\.csv, line \d+: /)
      assert.include(failure.message, message)
    }))

  it.effect("is refused where it is not UTF-8", () =>
    Effect.gen(function*() {
      const latin1 = Uint8Array.from([...encoder.encode(`${head}\nuser,1,A\nuser,2,J`), 0xfc, 0x72, 0x67])
      const utf16 = Uint8Array.from([0xff, 0xfe, ...[...head].flatMap((char) => [char.charCodeAt(0), 0])])

      assert.strictEqual((yield* Effect.flip(parseNames(latin1, "a.csv"))).message, `a.csv, line 3: ${notUtf8}`)
      assert.strictEqual((yield* Effect.flip(parseNames(utf16, "a.csv"))).message, `a.csv, line 1: ${notUtf8}`)
    }))
})

describe("a file that a flag names", () => {
  it.effect.each(["--names", "--zone-file"])("is read up to a limit: %s", (flag) =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/a.csv`
      Fs.writeFileSync(file, "")
      Fs.truncateSync(file, 16 * 2 ** 20 + 1)
      const { code, stderr } = yield* cli(["list", flag, file])

      assert.strictEqual(code, 2)
      assert.include(stderr, `${file}: it is larger than 16 MiB`)
      assert.lengthOf(yield* queries, 0)
    }).pipe(inFakeOf([])))
})
