import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { Csv as CoreCsv } from "effect/encoding"
import * as Fs from "node:fs"
import { Csv, Ndjson } from "../../../src/export/index.ts"
import { TimePunch } from "../../../src/index.ts"
import { defaultCompany, FakeService, generatePunches, toWire } from "../../../src/testing/index.ts"
import { cli, inFakeOf, linesOf, queries, temporaryFolder } from "../support.ts"

const generated = generatePunches({ seed: 5, count: 230, companyId: defaultCompany.id, deletedShare: 0 })

const punches = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))(generated.map(toWire))
  .toSorted((a, b) => a.id - b.id)

const [first] = punches

/** A name that a terminal or a spreadsheet would run, one in another script, and one that needs quotes. */
const bad = "=HYPERLINK(\"x\")\u001b[2J"

/** The path of a file that names the user, the location and the role of the first punch. */
const namesFile = Effect.map(temporaryFolder, (folder) => {
  const file = `${folder}/names.csv`
  Fs.writeFileSync(
    file,
    `kind,id,name\nuser,${first?.userId},"${bad.replaceAll("\"", "\"\"")}"\nlocation,${first?.locationId},東京 駅\n` +
      `role,${first?.roleId},"Bar, Küche"\n`
  )
  return file
})

const inFake = inFakeOf(generated)

const cellsOf = (csv: string) =>
  Stream.make(csv).pipe(Stream.pipeThroughChannel(CoreCsv.decodeString({ headers: true })), Stream.runCollect)

describe("list --names", () => {
  it.effect("shows names beside the ids, without what controls a terminal", () =>
    inFake(Effect.gen(function*() {
      const { code, stdout } = yield* cli(["list", "--names", yield* namesFile, "--limit", "200"])
      const [head = "", row = ""] = linesOf(stdout)

      assert.strictEqual(code, 0)
      assert.match(head, /^ *id +user_id +user +location_id +location +role_id +role +clocked_in/)
      assert.include(row, ` ${first?.userId}  =HYPERLINK("x")\\u001b[2J`)
      assert.include(row, ` ${first?.locationId}  東京 駅`)
      assert.include(row, ` ${first?.roleId}  Bar, Küche`)
      // oxlint-disable-next-line no-control-regex
      assert.notMatch(stdout.replaceAll("\n", ""), /[\u0000-\u001f]/)
    })))

  const unnamed = ["department_name"]

  it.effect("appends columns to CSV, guarded against formulas, and keeps every other byte", () =>
    inFake(Effect.gen(function*() {
      const named = yield* cli(["list", "--format", "csv", "--names", yield* namesFile])
      const plain = yield* cli(["list", "--format", "csv"])
      const rows = yield* cellsOf(named.stdout)
      const [row] = rows

      assert.deepStrictEqual(
        Object.keys(row ?? {}),
        [...Csv.columns, "user_name", "location_name", "role_name", ...unnamed]
      )
      assert.strictEqual(rows.length, punches.length)
      assert.deepStrictEqual(
        rows.map((row) => Csv.columns.map((name) => row[name])),
        (yield* cellsOf(plain.stdout)).map((row) => Csv.columns.map((name) => row[name]))
      )
      assert.deepStrictEqual(
        [row?.["user_name"], row?.["location_name"], row?.["role_name"], row?.["department_name"]],
        [`'${bad}`, "東京 駅", "Bar, Küche", ""]
      )
    })))

  it.effect("appends keys to NDJSON, which is read as before", () =>
    inFake(Effect.gen(function*() {
      const { stdout } = yield* cli(["list", "--format", "ndjson", "--names", yield* namesFile])
      const read = yield* Stream.runCollect(Ndjson.decode(Stream.make(stdout)))
      const rows: ReadonlyArray<Record<string, unknown>> = linesOf(stdout).map((line) => JSON.parse(line))

      assert.deepStrictEqual(
        Object.entries(rows[0] ?? {}).slice(-4),
        [["user_name", bad], ["location_name", "東京 駅"], ["role_name", "Bar, Küche"], ["department_name", null]]
      )
      assert.strictEqual(
        yield* Stream.mkString(Ndjson.encode(Stream.fromIterable(read))),
        yield* Stream.mkString(Ndjson.encode(Stream.fromIterable(punches)))
      )
      const others = rows.filter((row) => row["user_id"] !== first?.userId)
      assert.isAbove(others.length, 0)
      assert.isTrue(others.every((row) => row["user_name"] === null))
    })))

  it.effect("is refused with the line of its mistake, before a request", () =>
    inFake(Effect.gen(function*() {
      const file = yield* namesFile
      Fs.appendFileSync(file, "boss,1,A\n")
      const wrong = yield* cli(["list", "--names", file])
      const missing = yield* cli(["summary", "--names", `${file}.none`])

      assert.deepStrictEqual([wrong.code, wrong.stdout, missing.code, missing.stdout], [2, "", 8, ""])
      assert.include(wrong.stderr, `${file}, line 5: the kind must be user, location, role or department, not "boss"`)
      assert.include(missing.stderr, `${file}.none: there is no such file`)
      assert.deepStrictEqual(yield* queries, [])
    })))
})

describe("list --json", () => {
  it.effect("is the array of what NDJSON has, a punch a line, also over pages and with names", () =>
    inFake(Effect.gen(function*() {
      const flags = ["--page-size", "50", "--names", yield* namesFile]
      const json = yield* cli(["list", "--json", ...flags])
      const ndjson = yield* cli(["list", "--format", "ndjson", ...flags])
      const some = yield* cli(["list", "--format", "json", "--json", "--limit", "60", "--page-size", "30"])

      assert.strictEqual(json.code, 0)
      assert.deepStrictEqual(JSON.parse(json.stdout), linesOf(ndjson.stdout).map((line) => JSON.parse(line)))
      assert.strictEqual(linesOf(json.stdout).length, punches.length + 2)
      assert.deepStrictEqual(JSON.parse(some.stdout).length, 60)
    })))

  it.effect("is an empty array without punches", () =>
    inFake(Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["list", "--json", "--user-id", "1"])

      assert.deepStrictEqual([code, stdout, stderr], [0, "[]\n", "no punch matches\n"])
    })))

  it.effect("is no JSON where the listing failed: a part cannot pass for the whole", () =>
    inFake(Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject({ _tag: "Status", status: 404, options: {} }, { requests: 3, times: 1 })
      const { code, stdout } = yield* cli(["list", "--json", "--page-size", "50"])

      assert.strictEqual(code, 7)
      assert.strictEqual(linesOf(stdout).length, 101)
      assert.throws(() => JSON.parse(stdout))
      assert.strictEqual(JSON.parse(`${stdout}]`).length, 100)
    })))

  it.effect("is refused beside another form, and both are named", () =>
    inFake(Effect.gen(function*() {
      const { code, stderr } = yield* cli(["list", "--json", "--format", "csv"])

      assert.strictEqual(code, 2)
      assert.match(stderr, /--json and --format csv are two forms/)
      assert.deepStrictEqual(yield* queries, [])
    })))
})

describe("a table with names", () => {
  const calls = [
    "list --zone Europe/Berlin",
    "list",
    "summary --by user --zone UTC --weekly-threshold 40h --daily-threshold 8h",
    "summary"
  ]

  it.effect.each(
    calls.flatMap((call) => [80, 100, 140].map((columns) => [call, columns] as const))
  )(
    "of %s fits a terminal of %d columns, with the names that were requested",
    ([call, columns]) =>
      inFake(Effect.gen(function*() {
        const args = [...call.split(" "), "--names", yield* namesFile]
        const lines = linesOf((yield* cli(args, { terminal: true, columns })).stdout)
        const id = call.startsWith("list") ? /^ *id +(user_id +)?user / : /^((user|location)_id +)?(user|location) /

        for (const line of lines) assert.isAtMost(displayWidth(line), columns, line)
        assert.match(lines[0] ?? "", id)
      }))
  )
})
