/** `--excel`, `--separator` and `--formulas` of every command that writes CSV: the bytes that a spreadsheet or a program opens. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Stream } from "effect"
import { Csv } from "effect/encoding"
import * as Fs from "node:fs"
import { FakeService, Fault } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { cli, inFakeOf, queries, temporaryFolder } from "../support.ts"

const notes = ["Jürgen; \"Zoë\"", "late,=1+1", "7;=2+2", "one, -5 min", "-20 min, bus", "@Bo covered"]

const stored = notes.map((notes, at) =>
  servicePunch({
    id: at + 1,
    user_id: 500 + at,
    approved: false,
    notes,
    clocked_in: `2026-03-0${at + 2}T09:00:00Z`,
    clocked_out: `2026-03-0${at + 2}T17:00:00.500Z`
  })
)

const week = ["--week", "2026-03-02", "--zone", "UTC"]

const mark = Buffer.from([0xef, 0xbb, 0xbf])

/** Runs a command that writes CSV; its output as bytes, of the file if it writes one. */
type Write = (...flags: ReadonlyArray<string>) => Effect.Effect<Buffer, never, FakeService>

const prints = (args: ReadonlyArray<string>, expected = 0): Write => (...flags) =>
  Effect.map(cli([...args, ...flags]), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, expected, stderr)
    return Buffer.from(stdout)
  })

const changes = (folder: string, names: string, since: string) =>
  `payroll diff ${week.join(" ")} --since ${since} --database ${folder}/punches.db --format csv --names ${names}`.split(
    " "
  )

/** The commands that write CSV, once a copy with a history is in the folder. */
const writers: Readonly<Record<string, (folder: string, names: string, since: string) => Write>> = {
  list: (_folder, names) => prints(["list", "--format", "csv", "--page-size", "2", "--names", names]),
  summary: (_folder, names) => prints(["summary", "--format", "csv", "--by", "user", "--names", names]),
  check: (_folder, names) => prints(["payroll", "check", ...week, "--format", "csv", "--names", names], 9),
  "diff of people": (folder, names, since) => prints(changes(folder, names, since)),
  "diff of punches": (folder, names, since) => prints([...changes(folder, names, since), "--rows", "punches"]),
  export: (folder) => (...flags) =>
    Effect.map(
      cli(["export", "--format", "csv", "--page-size", "2", "--force", "--output", `${folder}/punches.csv`, ...flags]),
      ({ code, stderr }) => {
        assert.strictEqual(code, 0, stderr)
        return Fs.readFileSync(`${folder}/punches.csv`)
      }
    )
}

const setting = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  const names = `${folder}/names.csv`
  Fs.writeFileSync(names, "kind,id,name\nuser,500,\"Jürgen; \"\"Zoë\"\"\"\nuser,501,\"a,=1+1\"\nuser,502,=Bo\n")
  const sync = cli(["sync", "--history", "--database", `${folder}/punches.db`])
  assert.strictEqual((yield* sync).code, 0)
  yield* Effect.sleep("5 millis")
  const since = DateTime.formatIso(yield* DateTime.now)
  yield* Effect.sleep("5 millis")
  yield* FakeService.use((service) => service.edit(stored.map(({ id }) => id), { clocked_out: "2026-03-08T20:00:00Z" }))
  assert.strictEqual((yield* sync).code, 0)
  return { folder, names, since }
})

const rowsOf = (bytes: Buffer, delimiter: string) =>
  Stream.make(bytes.toString()).pipe(Stream.pipeThroughChannel(Csv.decodeString({ delimiter })), Stream.runCollect)

const inFake = inFakeOf(stored)

describe("CSV for a spreadsheet", () => {
  it.live.each(Object.keys(writers))(
    "of %s begins with one mark, and is otherwise the same bytes",
    (name) =>
      inFake(Effect.gen(function*() {
        const { folder, names, since } = yield* setting
        const write = writers[name]?.(folder, names, since)
        if (write === undefined) return assert.fail(name)
        const plain = yield* write()
        const excel = yield* write("--excel")

        assert.include(plain.toString(), "Jürgen")
        assert.isAbove(plain.length, 100)
        assert.isFalse(plain.includes(mark))
        assert.isTrue(excel.equals(Buffer.concat([mark, plain])))
        assert.isTrue((yield* write("--separator", "comma")).equals(plain))
      }))
  )

  it.live.each(Object.keys(writers))(
    "of %s has the same cells between semicolons, and none that runs between commas",
    (name) =>
      inFake(Effect.gen(function*() {
        const { folder, names, since } = yield* setting
        const write = writers[name]?.(folder, names, since)
        if (write === undefined) return assert.fail(name)
        const plain = yield* rowsOf(yield* write(), ",")
        const bytes = yield* write("--excel", "--separator", "semicolon")
        const rows = yield* rowsOf(bytes.subarray(mark.length), ";")

        assert.isTrue(bytes.subarray(0, 3).equals(mark))
        assert.isFalse(bytes.subarray(3).includes(mark))
        assert.deepStrictEqual(
          rows,
          plain.map((cells) => cells.map((cell) => cell.replace(/(?<=,)(?= ?[=-])/g, "'")))
        )
        for (const cell of bytes.toString().split(/[,;\r\n]/)) assert.notMatch(cell.replace(/^["\s]*/, ""), /^[=@]/)
        assert.include(bytes.toString(), "\"Jürgen;")
      }))
  )

  it.live.each(Object.keys(writers))(
    "of %s has each text as it is for a program, with --formulas keep",
    (name) =>
      inFake(Effect.gen(function*() {
        const { folder, names, since } = yield* setting
        const write = writers[name]?.(folder, names, since)
        if (write === undefined) return assert.fail(name)
        const plain = yield* write()
        const guarded = yield* rowsOf(plain, ",")
        const expected = guarded.map((cells) => cells.map((cell) => cell.replace(/^'(?=[=@-])|(?<=;)'(?==)/g, "")))
        const semicolons = ["--formulas", "keep", "--separator", "semicolon"]

        assert.notDeepEqual(expected, guarded)
        assert.deepStrictEqual(yield* rowsOf(yield* write("--formulas", "keep"), ","), expected)
        assert.deepStrictEqual(yield* rowsOf(yield* write(...semicolons), ";"), expected)
        assert.isTrue((yield* write("--formulas", "guard")).equals(plain))
      }))
  )

  it.effect("is another export: an unfinished one is not continued in another form", () =>
    inFake(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const service = yield* FakeService
      const run = (...flags: ReadonlyArray<string>) =>
        cli(["export", "--format", "csv", "--page-size", "2", "--output", `${folder}/punches.csv`, ...flags])
      yield* service.inject(Fault.status(404), { requests: 2, times: 1 })
      const failed = yield* run("--excel")
      const plain = yield* run()
      const semicolon = yield* run("--excel", "--separator", "semicolon")
      const kept = yield* run("--excel", "--formulas", "keep")
      const resumed = yield* run("--excel", "--separator", "comma")
      const bytes = Fs.readFileSync(`${folder}/punches.csv`)

      assert.deepStrictEqual([failed.code !== 0, plain.code, semicolon.code, kept.code, resumed.code], [
        true,
        2,
        2,
        2,
        0
      ])
      assert.match(plain.stderr, /--excel/)
      assert.match(semicolon.stderr, /--separator/)
      assert.match(kept.stderr, /--formulas/)
      assert.match(resumed.stderr, /^resuming after 2 punches, 1 page/)
      assert.isTrue(bytes.subarray(0, 3).equals(mark))
      assert.strictEqual(bytes.lastIndexOf(mark), 0)
    })))

  it.effect.each([
    ["list", "table"],
    ["list --json", "json"],
    ["list --format ndjson", "ndjson"],
    ["summary", "table"],
    [`payroll check ${week.join(" ")} --json`, "json"],
    [`payroll diff ${week.join(" ")} --since 2026-03-01T00:00:00Z --database d`, "table"],
    ["export --output /nowhere/punches", "ndjson"]
  ])("is refused of another form: %s", ([args = "", form = ""]) =>
    inFake(Effect.gen(function*() {
      for (
        const flags of [["--excel"], ["--separator", "semicolon"], ["--excel", "--separator", "comma"], [
          "--formulas",
          "keep"
        ]]
      ) {
        const { code, stderr, stdout } = yield* cli([...args.split(" "), ...flags])

        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.include(stderr, `${flags[0]} goes with --format csv, and this output is ${form}`)
      }
      assert.deepStrictEqual(yield* queries, [])
    })))

  it.effect("is refused beside the mapping of a payroll file, which decides itself", () =>
    inFake(Effect.gen(function*() {
      const { code, stderr } = yield* cli(["payroll", "file", "--preview", ...week, "--mapping", "map.json", "--excel"])

      assert.deepStrictEqual([code, yield* queries], [2, []])
      assert.include(stderr, "--excel is not a flag")
    })))
})
