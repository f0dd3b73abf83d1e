/** `--output`, by one rule: the same bytes as on standard output, whole or not at all, and over another file only with `--force`. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber, type FileSystem } from "effect"
import nodeFs, * as Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { isStill } from "../../../src/internal/files/whose.ts"
import { FakeService, Fault } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { failAfter, systemError } from "../export/exportSupport.ts"
import { cli, queries, temporaryFolder } from "../support.ts"

const week = ["--week", "2026-03-02", "--zone", "America/New_York"]

const database = (folder: string) => ["--database", `${folder}/punches.db`]

/** Every command that prints data, with its exit code. */
const commands: Readonly<Record<string, readonly [args: (folder: string) => ReadonlyArray<string>, code: number]>> = {
  list: [() => ["list"], 0],
  export: [() => ["export"], 0],
  summary: [() => ["summary"], 0],
  "payroll check": [() => ["payroll", "check", ...week], 9],
  report: [() => ["report", ...week], 0],
  "payroll diff": [(folder) => ["payroll", "diff", "--close", "1", ...database(folder)], 0],
  "payroll list": [(folder) => ["payroll", "list", ...database(folder)], 0],
  "payroll show": [(folder) => ["payroll", "show", "1.1", ...database(folder)], 0],
  "payroll due": [(folder) => ["payroll", "due", ...database(folder)], 0],
  "payroll verify": [(folder) => ["payroll", "verify", ...database(folder)], 0],
  "payroll file": [(folder) => ["payroll", "file", "1", "--mapping", `${folder}/mapping.json`, ...database(folder)], 0]
}

const names = Object.keys(commands)

/** Has a folder with a copy, whose week is closed and has changed since. */
const inFake = <A, E, R>(use: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const folder = yield* temporaryFolder
    const sync = cli(["sync", "--history", ...database(folder)])
    yield* sync
    const closed = yield* cli(["payroll", "close", ...week, "--accept", "unapproved,stale", ...database(folder)])
    assert.strictEqual(closed.code, 0, closed.stderr)
    yield* FakeService.use((service) => service.edit([2], { clocked_out: "2026-03-03T23:00:00Z" }))
    yield* sync
    Fs.mkdirSync(`${folder}/out`)
    const columns = [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }]
    const mapping = { v: 1, by: ["user"], hours: "decimal:2", rounding: "halfUp", columns }
    Fs.writeFileSync(`${folder}/mapping.json`, JSON.stringify(mapping))
    return yield* use(folder)
  }).pipe(
    Effect.scoped,
    Effect.provide(FakeService.layer({
      punches: [1, 2, 3].map((id) =>
        servicePunch({
          id,
          user_id: 500 + id,
          approved: id !== 3,
          clocked_in: "2026-03-03T14:00:00Z",
          clocked_out: "2026-03-03T22:00:00Z"
        })
      )
    }))
  )

const argsOf = (name: string, folder: string) => commands[name]?.[0](folder) ?? []

const filesOf = (folder: string) => Fs.readdirSync(`${folder}/out`)

/** The results of two runs differ in nothing but times. */
const timeless = (text: string) => text.replace(/\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, "T")

describe("--output of", () => {
  it.live.each(names)(
    "%s writes what would be printed, for its owner alone, and - prints it",
    (name) =>
      inFake((folder) =>
        Effect.gen(function*() {
          const file = `${folder}/out/file`
          const args = argsOf(name, folder)
          const printed = yield* cli([...args, "--output", "-"], { terminal: false })
          const written = yield* cli([...args, "-o", file], { terminal: true, colour: true, columns: 40 })
          const code = commands[name]?.[1]

          assert.deepStrictEqual([printed.code, written.code, written.stdout], [code, code, ""], written.stderr)
          assert.isAbove(printed.stdout.length, 0)
          assert.strictEqual(timeless(Fs.readFileSync(file, "utf8")), timeless(printed.stdout))
          assert.strictEqual(Fs.statSync(file).mode & 0o777, 0o600)
          assert.deepStrictEqual(filesOf(folder), ["file"])
        })
      )
  )

  it.live.each(names)(
    "%s refuses a file that exists before it lists, and replaces it with --force and its rights",
    (name) =>
      inFake((folder) =>
        Effect.gen(function*() {
          const file = `${folder}/out/file`
          Fs.writeFileSync(file, "old", { mode: 0o640 })
          const asked = yield* queries
          const args = [...argsOf(name, folder), "--output", file]
          const refused = yield* cli(args)

          assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
          assert.strictEqual(
            refused.stderr,
            `time-punches: --output ${file} exists\n  Add --force to replace it, or choose another name.\n`
          )
          assert.strictEqual(Fs.readFileSync(file, "utf8"), "old")
          assert.deepStrictEqual(yield* queries, asked)
          const forced = yield* cli([...args, "--force"])
          assert.strictEqual(forced.code, commands[name]?.[1], forced.stderr)
          assert.notInclude(Fs.readFileSync(file, "utf8"), "old")
          assert.strictEqual(Fs.statSync(file).mode & 0o777, 0o640)
          assert.deepStrictEqual(filesOf(folder), ["file"])
        })
      )
  )

  it.live.each(names)(
    "%s refuses --force without a file to replace",
    (name) =>
      inFake((folder) =>
        Effect.gen(function*() {
          const asked = yield* queries
          const { code, stderr, stdout } = yield* cli([...argsOf(name, folder), "--output", "-", "--force"])

          assert.deepStrictEqual([code, stdout], [2, ""])
          assert.include(stderr, "--force goes with --output FILE")
          assert.deepStrictEqual(yield* queries, asked)
        })
      )
  )

  it.live.each(names)(
    "%s keeps the old file, and no part of a new one, when the disk is full",
    (name) =>
      inFake((folder) =>
        Effect.gen(function*() {
          const file = `${folder}/out/file`
          Fs.writeFileSync(file, "old")
          const { code, stderr } = yield* cli([...argsOf(name, folder), "--output", file, "--force"], {
            files: (fs) => ({
              ...fs,
              open: (path, options) =>
                Effect.map(
                  fs.open(path, options),
                  (handle) => Object.assign(handle, { writeAll: () => Effect.fail(systemError("ENOSPC", path)) })
                )
            })
          })

          assert.strictEqual(code, 8)
          assert.match(stderr, /file(\.resume\.json)?: no space is left on the disk/)
          assert.strictEqual(Fs.readFileSync(file, "utf8"), "old")
          assert.deepStrictEqual(filesOf(folder), ["file"])
        })
      )
  )

  it.live.each<readonly [string, string, ReadonlyArray<string>]>([
    ["list", "a.csv", ["--format", "csv"]],
    ["list", "a.CSV", ["--format", "csv"]],
    ["list", "a.ndjson", ["--format", "ndjson"]],
    ["list", "a.jsonl", ["--format", "ndjson"]],
    ["list", "a.json", ["--json"]],
    ["list", "a.txt", []],
    ["list", "a.txt", ["--format", "csv", "--output", "a.txt"]],
    ["list", "a.b", []],
    ["list", "csv", []],
    ["export", "a.csv", ["--format", "csv"]],
    ["export", "a.ndjson", []],
    ["export", "a", []],
    ["summary", "a.csv", ["--format", "csv"]],
    ["summary", "a.json", ["--json"]],
    ["payroll check", "a.csv", ["--format", "csv"]],
    ["payroll check", "a.json", ["--format", "json"]],
    ["payroll diff", "a.csv", ["--format", "csv"]],
    ["payroll diff", "a.json", ["--json"]],
    ["payroll list", "a.json", ["--json"]],
    ["payroll show", "a.json", ["--json"]],
    ["payroll due", "a.json", ["--json"]],
    ["payroll verify", "a.json", ["--json"]],
    // The mapping decides on its form.
    ...["json", "txt", "xml", "XML", "yaml", "asc", "imp", "001"].map((ending) =>
      ["payroll file", `a.${ending}`, []] as const
    ),
    ["report", "a.html", []]
  ])("%s to %s has the form of %j", ([name, file, flags]) =>
    inFake((folder) =>
      Effect.gen(function*() {
        const args = argsOf(name, folder)
        const [form] = flags.includes("--output") ? [flags.slice(0, 2)] : [flags]
        const printed = yield* cli([...args, ...form, "--output", "-"])
        yield* cli([...args, "--output", `${folder}/out/${file}`, ...(form === flags ? [] : form)])

        assert.strictEqual(timeless(Fs.readFileSync(`${folder}/out/${file}`, "utf8")), timeless(printed.stdout))
      })
    ))

  it.live.each<readonly [string, string, ReadonlyArray<string>, RegExp]>([
    ["list", "a.ndjson", ["--format", "csv"], /ends like ndjson, and the form is csv/],
    ["list", "a.json", ["--format", "ndjson"], /ends like json, and the form is ndjson/],
    ["list", "a.csv", ["--json"], /ends like csv, and the form is json/],
    ["export", "a.csv", ["--format", "ndjson"], /ends like csv, and the form is ndjson/],
    ["summary", "a.html", ["--format", "csv"], /ends like html, and the form is csv/],
    ["list", "a.html", [], /ends like html, and this command writes table or json or ndjson or csv/],
    ["export", "a.json", [], /ends like json, and this command writes ndjson or csv/],
    ["summary", "a.ndjson", [], /ends like ndjson, and this command writes table or csv or json/],
    ["payroll list", "a.csv", [], /ends like csv, and this command writes table or json/],
    ["report", "a.csv", [], /ends like csv, and this command writes html/],
    ["report", "a.pdf", [], /ends like another form: this command writes html/],
    ["list", "a.xlsx", [], /ends like another form: this command writes table or json or ndjson or csv/],
    [
      "export",
      "a.xlsx",
      [],
      /ends like another form: this command writes ndjson or csv\n  Choose another ending: \.csv, /
    ],
    ["summary", "a.parquet", [], /ends like another form: this command writes table or csv or json/],
    ["payroll check", "a.xls", [], /ends like another form: this command writes table or csv or json/],
    ["payroll due", "a.ods", [], /ends like another form: this command writes table or json/],
    ["payroll file", "a.xlsx", [], /ends like another form: this command writes the text of its mapping/],
    ["payroll file", "a.xml.gz", [], /ends like another form: this command writes the text of its mapping/],
    ["list", "a.xml", [], /ends like another form/],
    ["export", "a.csv.gz", ["--format", "csv"], /ends like another form: this command writes ndjson or csv/]
  ])("%s to %s with %j is refused", ([name, file, flags, message]) =>
    inFake((folder) =>
      Effect.gen(function*() {
        const { code, stderr } = yield* cli([
          ...argsOf(name, folder),
          ...flags,
          "--output",
          `${folder}/out/${file}`
        ])

        assert.strictEqual(code, 2)
        assert.match(stderr, message)
        assert.deepStrictEqual(filesOf(folder), [])
      })
    ))

  it.live("list writes nothing if a page fails, and names the command that resumes", () =>
    inFake((folder) =>
      Effect.gen(function*() {
        const asked = (yield* queries).length
        yield* failAfter(1)
        const file = `${folder}/out/list.csv`
        const { code, stderr, stdout } = yield* cli(["list", "--page-size", "1", "--output", file])

        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.lengthOf(yield* queries, asked + 2)
        assert.match(stderr, /list\.csv was not written; time-punches export resumes where it stopped\./)
        assert.notInclude(stderr, "--cursor")
        assert.deepStrictEqual(filesOf(folder), [])
      })
    ))

  it.live("list leaves nothing if it is interrupted", () =>
    inFake((folder) =>
      Effect.gen(function*() {
        yield* failAfter(1, Fault.stallBeforeHeaders)
        const asked = (yield* queries).length
        const stderr: Array<string> = []
        const run = yield* Effect.forkChild(
          cli(["list", "--page-size", "1", "--output", `${folder}/out/list.csv`], { stderr })
        )
        while ((yield* queries).length < asked + 2 || filesOf(folder).length === 0) yield* Effect.sleep("5 millis")
        const meanwhile = filesOf(folder)
        yield* Fiber.interrupt(run)

        assert.lengthOf(meanwhile, 1)
        assert.match(meanwhile[0] ?? "", /^list\.csv\..*\.tmp$/)
        assert.match(stderr.join(""), /^interrupted after 1 page, 1 punch\n.*list\.csv was not written/)
        assert.deepStrictEqual(filesOf(folder), [])
      })
    ))

  it.live.each(["has", "has no"])(
    "replaces no file that appears meanwhile, on a disk that %s links",
    (links) =>
      inFake((folder) =>
        Effect.gen(function*() {
          const file = `${folder}/out/week.html`
          const files = (fs: FileSystem.FileSystem): FileSystem.FileSystem => ({
            ...fs,
            link: (from, to) => links === "has" ? fs.link(from, to) : Effect.fail(systemError("EPERM", to))
          })
          const before = yield* cli(["report", ...week, "--output", file], { files })
          Fs.rmSync(file)
          const meanwhile = yield* cli(["report", ...week, "--output", file], {
            files: (fs) => ({
              ...files(fs),
              link: (from, to) => {
                Fs.writeFileSync(file, "of another program")
                return files(fs).link(from, to)
              }
            })
          })

          assert.deepStrictEqual([before.code, meanwhile.code], [0, 2])
          assert.match(meanwhile.stderr, /week\.html exists\n {2}Add --force/)
          assert.strictEqual(Fs.readFileSync(file, "utf8"), "of another program")
          assert.deepStrictEqual(filesOf(folder), ["week.html"])
        })
      )
  )
})

describe("a file that was opened", () => {
  it.live("is the same on a file system with numbers from 2^63 on, which Node reads as negative ones", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/file`
      Fs.writeFileSync(file, "")
      const found = Object.assign(Fs.lstatSync(file, { bigint: true }), { ino: -3n, dev: -5n })
      vi.spyOn(nodeFs, "lstatSync").mockReturnValue(found)
      syncBuiltinESMExports()
      const opened = { ino: 2n ** 64n - 3n, dev: 2n ** 64n - 5n }
      const seen = [isStill(file, opened), isStill(file, { ...opened, ino: 3n })]
      vi.restoreAllMocks()
      syncBuiltinESMExports()

      assert.deepStrictEqual(seen, [true, false])
    }).pipe(Effect.scoped))
})
