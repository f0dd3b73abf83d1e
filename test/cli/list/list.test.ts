import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import { Csv, Ndjson } from "../../../src/export/index.ts"
import { TimePunch } from "../../../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches, toWire } from "../../../src/testing/index.ts"
import { punch, rest } from "../payroll/checkSupport.ts"
import { cli, environment, linesOf, queries } from "../support.ts"

const generated = generatePunches({ seed: 5, count: 450, companyId: defaultCompany.id, deletedShare: 0 })

const fake = FakeService.layer({ punches: generated })

const punches = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))(generated.map(toWire))
  .toSorted((a, b) => a.id - b.id)

const idsOf = (table: string) => linesOf(table).slice(1).map((line) => Number(line.trim().split(" ")[0]))

const cursorFlag = /--cursor='([^']+)'/

describe("time-punches list", () => {
  it.effect("prints every punch as a table with one header", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["list"])

      assert.strictEqual(code, 0)
      assert.strictEqual(stderr, "")
      assert.match(stdout, /^ *id +user_id +location_id +role_id +clocked_in +clocked_out +net +approved +notes\n/)
      assert.deepStrictEqual(idsOf(stdout), punches.map(({ id }) => id))
    }).pipe(Effect.provide(fake)))

  it.effect("marks a punch that the service clocked out and one that is paid nothing, in the table and in CSV", () =>
    Effect.gen(function*() {
      const [table, csv] = [
        yield* cli(["list", "--deleted", "include"]),
        yield* cli(["list", "--deleted", "include", "--format", "csv"])
      ]
      const [header = "", ...rows] = csv.stdout.trim().split("\r\n").map((line) => line.split(","))
      const cells = rows.map((row) =>
        ["auto_clocked_out", "net_seconds", "anomalies"].map((name) => row[header.indexOf(name)])
      )

      assert.deepStrictEqual(linesOf(table.stdout).slice(1).map((line) => /\(.*\)/.exec(line)?.[0]), [
        "(auto clock-out)",
        "(nothing paid)",
        "(deleted) (auto clock-out) (nothing paid)",
        undefined
      ])
      assert.deepStrictEqual(cells, [
        ["true", "28800", ""],
        ["false", "0", "OpenBreakInClosedPunch NothingPaid"],
        ["true", "0", "BreakOutsidePunch NothingPaid"],
        ["false", "0", "ZeroLength"]
      ])
    }).pipe(Effect.provide(FakeService.layer({
      punches: [
        punch(1, "2026-03-02T14:00:00Z", 8, { auto_clocked_out: true }),
        punch(2, "2026-03-03T14:00:00Z", 8, { breaks: [rest("2026-03-03T14:00:00Z", null)] }),
        punch(3, "2026-03-04T14:00:00Z", 8, {
          auto_clocked_out: true,
          breaks: [rest("2026-03-04T13:00:00Z", "2026-03-04T23:00:00Z")],
          deleted: true
        }),
        punch(4, "2026-03-05T14:00:00Z", 0)
      ]
    }))))

  it.effect("prints NDJSON and CSV as the export modules write them", () =>
    Effect.gen(function*() {
      const ndjson = yield* cli(["list", "--format", "ndjson"])
      const csv = yield* cli(["list", "--format", "csv"])

      assert.strictEqual(ndjson.stdout, yield* Stream.mkString(Ndjson.encode(Stream.fromIterable(punches))))
      assert.strictEqual(csv.stdout, yield* Stream.mkString(Csv.encode(Stream.fromIterable(punches))))
    }).pipe(Effect.provide(fake)))

  it.effect("sends the filters, and requests no page after --limit punches", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["list", "--limit", "30", "--page-size", "20", "--deleted", "include"])
      const asked = yield* queries

      assert.deepStrictEqual(idsOf(stdout), punches.slice(0, 30).map(({ id }) => id))
      assert.deepStrictEqual(asked.map(({ deleted, limit }) => [deleted, limit]), [["null", "20"], ["null", "20"]])
    }).pipe(Effect.provide(fake)))

  it.effect("requests no larger page than it prints", () =>
    Effect.gen(function*() {
      yield* cli(["list", "--limit", "3"])

      assert.deepStrictEqual((yield* queries).map(({ limit }) => limit), ["3"])
    }).pipe(Effect.provide(fake)))

  it.effect("escapes what controls a terminal", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const [first] = generated
      const notes = "\u001b[2J\u202eclear\nme\u0007 " + "long ".repeat(20)
      if (first !== undefined) yield* service.seed([{ ...toWire(first), notes }])
      const { stdout } = yield* cli(["list", "--user-id", `${first?.user_id}`, "--limit", "200"])

      // oxlint-disable-next-line no-control-regex
      assert.notMatch(stdout.replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f\u202e]/)
      assert.include(stdout, "\\u001b[2J\\u202eclear\\u000ame\\u0007")
      // In a pipe nothing is cut.
      assert.include(stdout, "long ".repeat(20).trim())
    }).pipe(Effect.provide(fake)))

  it.effect("escapes what turns text around in JSON on a terminal, and writes it as it is into a pipe", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const [first] = generated
      const notes = "\u202eclear\u009b2J \u2066me"
      if (first !== undefined) yield* service.seed([{ ...toWire(first), notes }])
      const args = ["list", "--user-id", `${first?.user_id}`, "--format", "ndjson", "--limit", "1"]
      const shown = yield* cli(args, { terminal: true })
      const piped = yield* cli(args)

      assert.include(shown.stdout, String.raw`"\u202eclear\u009b2J \u2066me"`)
      assert.include(piped.stdout, `"${notes}"`)
      assert.deepStrictEqual(JSON.parse(shown.stdout), JSON.parse(piped.stdout))
    }).pipe(Effect.provide(fake)))

  it.effect("lists who is clocked in with --open, in each form and up to --limit, from a full page", () =>
    Effect.gen(function*() {
      const open = punches.filter(({ clockedOut }) => Option.isNone(clockedOut)).map(({ id }) => id)
      const all = yield* cli(["list", "--open"])
      const json = yield* cli(["list", "--open", "--json"])
      const one = yield* cli(["list", "--open", "--limit", "1"])
      const [, , last] = yield* queries

      assert.isAbove(open.length, 2)
      assert.isBelow(open.length, punches.length)
      assert.deepStrictEqual(idsOf(all.stdout), open)
      assert.lengthOf(JSON.parse(json.stdout), open.length)
      assert.deepStrictEqual(idsOf(one.stdout), open.slice(0, 1))
      assert.isTrue((yield* queries).every(({ limit }) => limit === last?.limit))
    }).pipe(Effect.provide(fake)))

  it.effect("says what a period is called", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["list", "--since", "2026-03-01"])

      assert.strictEqual(code, 2)
      assert.include(stderr, "A period has --from and --to, --last, --week or --month: see time-punches help periods.")
    }).pipe(Effect.provide(fake)))

  it.effect("says so when no punch matches", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["list", "--user-id", "1"])

      assert.deepStrictEqual([code, stderr, linesOf(stdout).length], [0, "no punch matches\n", 1])
    }).pipe(Effect.provide(fake)))

  it.effect("names the cursor when it fails, and resumes from there without loss", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(404), { requests: 3, times: 1 })
      const broken = yield* cli(["list", "--format", "ndjson", "--page-size", "100"])
      const cursor = cursorFlag.exec(broken.stderr)?.[1] ?? ""
      const rest = yield* cli(["list", "--format", "ndjson", "--page-size", "100", `--cursor=${cursor}`])

      assert.strictEqual(broken.code, 7)
      assert.strictEqual(linesOf(broken.stdout).length, 200)
      assert.strictEqual(rest.code, 0)
      assert.strictEqual(
        broken.stdout + rest.stdout,
        yield* Stream.mkString(Ndjson.encode(Stream.fromIterable(punches)))
      )
    }).pipe(Effect.provide(fake)))

  it.effect("shows no progress on the terminal that results go to", () =>
    Effect.gen(function*() {
      const { stderr } = yield* cli(["list"], { terminal: true })

      assert.strictEqual(stderr, "")
    }).pipe(Effect.provide(fake)))

  it.effect("takes company and guid from a flag", () =>
    Effect.gen(function*() {
      const { TIME_PUNCHES_COMPANY_GUID: guid = "", ...env } = environment
      const byFlag = yield* cli(["list", "--limit", "1", "--company", `4021=${guid}`], { env })
      const help = yield* cli(["list", "--help"])
      const other = yield* cli(["list", "--company", "4022"])

      assert.deepStrictEqual([byFlag.code, byFlag.stderr], [0, ""])
      assert.include(help.stdout, "--company ID[=GUID]")
      assert.strictEqual(other.code, 2, "the guid of the environment belongs to another company")
      assert.match(
        other.stderr,
        /the guid of the company is required for an OAuth client: give --company ID=GUID, or set TIME_PUNCHES_COMPANY_GUID/
      )
    }).pipe(Effect.provide(fake)))

  it.effect("shows times on the clocks of --zone, with their offset, and leaves the machine forms in UTC", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const [first] = generated
      yield* service.clear
      const clocks = { clocked_in: "2026-03-29T00:30:00Z", clocked_out: "2026-03-29T01:30:00Z" }
      if (first !== undefined) yield* service.seed([{ ...toWire(first), ...clocks, breaks: [], notes: "" }])
      const table = yield* cli(["list", "--zone", "Europe/Berlin"])
      const ndjson = yield* cli(["list", "--zone", "Europe/Berlin", "--format", "ndjson"])

      assert.match(table.stdout, / 2026-03-29T01:30:00\+01:00  2026-03-29T03:30:00\+02:00 +1:00 /)
      assert.include(ndjson.stdout, `"clocked_in":"2026-03-29T00:30:00Z","clocked_out":"2026-03-29T01:30:00Z"`)
    }).pipe(Effect.provide(fake)))
})
