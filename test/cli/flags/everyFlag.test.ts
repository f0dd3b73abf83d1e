/** Every flag of every subcommand, with values that none may accept. The flags come from the command tree. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as Fs from "node:fs"
import { readGlobals } from "../../../src/cli/args/globals.ts"
import { FakeService } from "../../../src/testing/index.ts"
import { cli, flagsOf, queries, subcommands, temporaryFolder } from "../support.ts"

/** By the placeholder of a flag: a value beyond its limit, and the limit that the message says. */
const limits: Readonly<Record<string, readonly [value: string, limit: RegExp]>> = {
  ID: ["9007199254740992", /to 9007199254740991/],
  "ID[=GUID]": ["9007199254740992", /to 9007199254740991/],
  "ID[=GUID],…": ["9007199254740992", /to 9007199254740991/],
  N: ["9007199254740992", /to [\d,]+/],
  PORT: ["65536", /to 65535/],
  SHARE: ["1.1", /from 0 to 1/],
  TIME: ["367d", /to (366d|1d)/],
  "TIME|all": ["3650d", /to 366d/],
  "TIME|never": ["3650d", /to 366d/],
  "N|none": ["100001", /from 1 to 100000, or none/],
  DAYS: ["99999d", /to (366d|36525)/],
  HOURS: ["1000000h", /up to 99999.99h/],
  INSTANT: ["99999-01-01T00:00:00Z", /years 0001 to 9999/],
  "INSTANT|now": ["99999-01-01T00:00:00Z", /an RFC 3339 instant/],
  DATE: ["99999-01-01", /to 9999-12-31/],
  "DATE|last|current": ["99999-01-01", /to 9999-12-31, or last or current/],
  "YYYY-MM|last|current": ["99999-01", /to 9999-12, or last or current/],
  CALENDAR: ["10000001d:2026-01-05", /to 10000000d/],
  "HH:MM": ["12:01", /to 12:00/],
  "YYYY-MM": ["99999-01", /to 9999-12/],
  AMOUNT: ["9999999999999", /up to 999999999999\.99/],
  ZONE: ["+15:00", /-12:00 to \+14:00/]
}

/** Placeholders of flags whose value has no limit, or not one of a number. */
const unlimited = [
  "FILE",
  "FILE|URL",
  "UUID",
  "CURSOR",
  "FIELD.asc|desc,…",
  "choice",
  "KINDS",
  "FIELDS",
  "POSITION|now",
  "NAME=TEXT",
  "TEXT",
  "NAME",
  "TAG",
  "HOST"
]

/** The flags of a file for which - is a stream. For any other it would be a file of that name. */
const takesStream = ["output", "companies-csv"]

/** The flags for which a value with a minus is legal: a file name, a cursor, a note, a name. */
const takesMinus = ["FILE", "FILE|URL", "CURSOR", "TEXT", "NAME", "TAG", "HOST"]

const isWords = (type: string) => type.includes(",") && !type.startsWith("FIELD")

const refused = Effect.fnUntraced(function*(args: ReadonlyArray<string>, flag: string, message = /./) {
  const { code, stderr, stdout } = yield* cli(args)
  const call = args.join(" ")

  assert.deepStrictEqual([code, stdout], [2, ""], `${call}\n${stderr}`)
  assert.include(stderr, `--${flag}`, call)
  assert.match(stderr, message, call)
  assert.deepStrictEqual(yield* queries, [], call)
})

/** What a subcommand requires, so that nothing else is missing. */
const required: Readonly<Record<string, (folder: string) => ReadonlyArray<string>>> = {
  export: (folder) => [`--output=${folder}/punches`],
  "payroll void": () => ["1.1", "--note=unsent"],
  "payroll show": () => ["7"],
  "payroll file": (folder) => ["7.1", `--mapping=${folder}/mapping.json`],
  ...Object.fromEntries(
    ["remove", "status", "sync", "pause"].map((name) => [`fleet ${name}`, () => ["4021"]])
  )
}

/** What a subcommand asks for before it looks at the form of its output. */
const asked: Readonly<Record<string, ReadonlyArray<string>>> = {
  "payroll check": ["--week=2026-03-02", "--zone=UTC"],
  "payroll diff": ["--week=2026-03-02", "--zone=UTC", "--since=2026-03-09T15:00:00Z"],
  "fleet resume": ["--all"]
}

describe("every flag of", () => {
  it.effect.each(subcommands)(
    "%s is refused by name: empty, with a minus, too large, twice",
    (name) =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const path = name.split(" ")
        const flags = yield* flagsOf(path)
        const base = [...path, ...required[name]?.(folder) ?? []]
        assert.isAbove(flags.length, 0)
        for (const { name: flag, type } of flags) {
          const given = base.filter((arg) => !arg.startsWith(`--${flag}`))
          if (type === "boolean") {
            yield* refused([...given, `--${flag}`, `--${flag}`], flag)
            yield* refused([...given, `--${flag}`, "-16h"], flag)
            continue
          }
          yield* refused([...given, `--${flag}=`], flag)
          const optional = /^\[=(.*)\]$/.exec(type)?.[1]
          if (optional !== undefined) {
            const [value, limit] = limits[optional] ?? []
            yield* refused([...given, `--${flag}`, `--${flag}`], flag)
            yield* refused([...given, `--${flag}`, "-16h"], flag)
            yield* refused([...given, `--${flag}=${value}`], flag, limit)
            continue
          }
          yield* refused([...given, `--${flag}`, ""], flag)
          yield* refused([...given, `--${flag}`, "x", `--${flag}`, "x"], flag)
          if (type === "FILE" && !takesStream.includes(flag)) yield* refused([...given, `--${flag}`, "-"], flag)
          if (!takesMinus.includes(type)) {
            for (const value of ["-16h", "-1", "-x1"]) {
              yield* refused([...given, `--${flag}`, value], flag)
              yield* refused([...given, `--${flag}=${value}`], flag)
            }
          }
          const limit = limits[type]
          if (limit === undefined) assert.isTrue(unlimited.includes(type) || isWords(type), `--${flag} ${type}`)
          else yield* refused([...given, `--${flag}`, limit[0]], flag, limit[1])
        }
        assert.deepStrictEqual(Fs.readdirSync(folder), [])
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer()))
  )

  it.effect.each(subcommands)(
    "%s that has --json takes --format json too, and refuses the two with different forms",
    (name) =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const path = name.split(" ")
        const flags = (yield* flagsOf(path)).map(({ name }) => name)
        if (!flags.includes("json")) return
        assert.include(flags, "format")
        const database = flags.includes("database") ? [`--database=${folder}/none.db`] : []
        const base = [...path, ...required[name]?.(folder) ?? [], ...asked[name] ?? [], ...database]
        const { stderr } = yield* cli([...base, "--format", "yaml"])
        const forms = Array.from(stderr.matchAll(/"([a-z]+)"/g), ([, form = ""]) => form)
        assert.include(forms, "json", stderr)
        for (const form of forms.filter((form) => form !== "json" && form !== "yaml")) {
          yield* refused([...base, "--json", "--format", form], "format", /two forms/)
        }
        assert.deepStrictEqual(Fs.readdirSync(folder), [])
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer()))
  )

  it.effect.each(["--zone -05:00", "--zone=-05:00"])(
    "list takes an offset with a minus: %s",
    (zone) =>
      Effect.gen(function*() {
        const { code, stderr } = yield* cli(["list", "--week", "2026-03-02", ...zone.split(" ")])
        const [query = {}] = yield* queries

        assert.deepStrictEqual([code, stderr], [0, "no punch matches\n"])
        assert.strictEqual(query["clocked_in[gte]"], "2026-03-02T05:00:00Z")
      }).pipe(Effect.provide(FakeService.layer()))
  )
})

/** Each name with one letter left out, one twice, and two swapped. */
const misspellings = (name: string): ReadonlyArray<string> =>
  [...name].flatMap((letter, at) => {
    const [before, after] = [name.slice(0, at), name.slice(at + 1)]
    return [before + after, before + letter + letter + after, before + after.slice(0, 1) + letter + after.slice(1)]
  })

describe("a flag that is misspelt", () => {
  it.effect.each(subcommands)(
    "%s names the one that was meant",
    (name) =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const path = name.split(" ")
        const flags = [...(yield* flagsOf(path)).map(({ name }) => name), "profile", "variables"]
        const builtIns = ["help", "version", "completions", "log-level"]
        for (const flag of flags) {
          // One letter may be that of a flag, as in -o.
          const typos = misspellings(flag).filter((typo) =>
            /^[a-z]./.test(typo) && ![...flags, ...builtIns].includes(typo)
          )
          // Another one for each verb.
          const typo = typos[subcommands.indexOf(name) % typos.length] ?? ""
          const { code, stderr, stdout } = yield* cli([...path, ...required[name]?.(folder) ?? [], `--${typo}`])

          assert.deepStrictEqual([code, stdout], [2, ""], typo)
          const [, said = ""] = new RegExp(`--${typo} is not a flag; did you mean (.*)\\?\n`).exec(stderr) ?? []
          assert.include(said.split(" or "), `--${flag}`, stderr)
        }
        assert.deepStrictEqual(yield* queries, [])
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer()))
  )

  it.effect.each<readonly [string, string]>([
    ["list --locaton 3", "did you mean --location-id?"],
    ["summary --nothing-like-it", "--nothing-like-it is not a flag\n"],
    ["list --profle x", "did you mean --profile?"],
    ["summary --limit 20", "--limit is not a flag\n"],
    ["summary --bu user", "did you mean --by?"],
    ["list --\u001b[31mjsn", "--\\u001b[31mjsn is not a flag"]
  ])("%j says %j", ([args, message]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(args.split(" "))

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, message)
    }).pipe(Effect.provide(FakeService.layer())))
})

describe("an argument that begins with a minus", () => {
  it.each([
    [["payroll", "check", "--zone", "-05:00"], ["payroll", "check", "--zone=-05:00"]],
    [["export", "-o", "-file"], ["export", "-o=-file"]],
    [["export", "-o", "-"], ["export", "-o", "-"]],
    [["list", "--json", "-h"], ["list", "--json", "-h"]],
    [["list", "-o=-x"], ["list", "-o=-x"]],
    [["list", "--", "-16h"], ["list", "--", "-16h"]],
    [["list", "--cursor", "-abc", "--json"], ["list", "--cursor=-abc", "--json"]]
  ])("%j becomes %j", (args, joined) => {
    assert.deepStrictEqual(readGlobals(args).args, Result.succeed(joined))
  })

  it.effect.each(["-16h", "check -16h", "list --zone=UTC -5h", "-vh"])(
    "%j is no request for the help",
    (args) =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* cli(args.split(" "))

        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.include(stderr, "is not a flag")
      }).pipe(Effect.provide(FakeService.layer()))
  )
})
