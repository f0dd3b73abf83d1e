/** `payroll file --output` on the disk and in the record. What a file has, and what is refused, stands in `test/stories/verbs.txt`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { twoCompanies } from "../../../src/cli/sandbox/companies.ts"
import { FakeService } from "../../../src/testing/index.ts"
import { root } from "../../docs/support/examples.ts"
import { byCode } from "../../support/mappings.ts"
import { cli, companyOnly, execute, inFakeOf, onCopy, read, temporaryFolder } from "../support.ts"
import { punch, shift } from "./checkSupport.ts"

/** A closed week of two persons, the mapping and the codes of its file; `run` has no credential and no address. */
const opened = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  const write = (name: string, text: string) => Fs.writeFileSync(`${folder}/${name}`, text)
  write("codes.json", JSON.stringify(byCode))
  write("codes.csv", "kind,id,code\nuser,501,00501\nuser,502,00502\n")
  const run = (...args: ReadonlyArray<string>) =>
    onCopy(`${folder}/punches.db`)(...args.map((arg) => /^[\w-]+\.(csv|json)$/.test(arg) ? `${folder}/${arg}` : arg))
  done(yield* cli(["sync", "--database", `${folder}/punches.db`, "--history"]))
  const week = ["--week", "2026-03-02", "--zone", "America/New_York", "--weekly-threshold", "40h"]
  done(yield* run("payroll", "close", ...week))
  return { folder, run, write }
})

const done = (ran: { readonly code: number; readonly stderr: string }) => assert.strictEqual(ran.code, 0, ran.stderr)

const inFake = inFakeOf([shift(1, "2026-03-03"), shift(2, "2026-03-04")])

const args = ["payroll", "file", "1.1", "--mapping", "codes.json", "--codes", "codes.csv"]

describe("time-punches payroll file --output", () => {
  it.live("writes a file that its owner alone may read, and replaces one as a whole with its rights", () =>
    inFake(Effect.gen(function*() {
      const { folder, run, write } = yield* opened
      const { stdout: text } = yield* run(...args)
      const written = yield* run(...args, "--output", "pay.csv")

      assert.deepStrictEqual([written.code, written.stdout], [0, ""], written.stderr)
      assert.strictEqual(read(`${folder}/pay.csv`), text)
      assert.strictEqual(Fs.statSync(`${folder}/pay.csv`).mode & 0o777, 0o600)
      write("old.csv", "the file of last week")
      Fs.chmodSync(`${folder}/old.csv`, 0o640)
      const refused = yield* run(...args, "--output", "old.csv")
      assert.deepStrictEqual([refused.code, read(`${folder}/old.csv`)], [2, "the file of last week"])
      done(yield* run(...args, "--output", "old.csv", "--force"))
      assert.strictEqual(read(`${folder}/old.csv`), text)
      assert.strictEqual(Fs.statSync(`${folder}/old.csv`).mode & 0o777, 0o640)
      // A file is replaced by a whole one, or not at all.
      write("codes.csv", "kind,id,code\nuser,501,1\n")
      const failed = yield* run(...args, "--output", "old.csv", "--force")
      assert.strictEqual(failed.code, 2)
      assert.strictEqual(read(`${folder}/old.csv`), text)
      assert.deepStrictEqual(
        Fs.readdirSync(folder).filter((name) => name.endsWith(".tmp") || name.endsWith(".part")),
        []
      )
    })))

  it.live("notes each file that is written out, and has written it where the record takes no note", () =>
    inFake(Effect.gen(function*() {
      const { folder, run } = yield* opened
      const notes = Effect.suspend(() =>
        Effect.map(
          run("payroll", "show", "1", "--json"),
          ({ stdout }): ReadonlyArray<unknown> => JSON.parse(stdout).revisions[0].files
        )
      )
      // Standard output is no file that was written out.
      done(yield* run(...args, "--output", "-"))
      assert.deepStrictEqual(yield* notes, [])
      done(yield* run(...args, "--output", "pay.csv"))
      const [noted] = yield* notes
      assert.hasAllKeys(noted, ["at", "user", "mappingHash", "codesHash"])

      execute(
        `${folder}/punches.db`,
        "CREATE TRIGGER refused BEFORE INSERT ON time_punches_close_file BEGIN SELECT RAISE(ABORT, 'no rights'); END"
      )
      Fs.rmSync(`${folder}/pay.csv`)
      const unnoted = yield* run(...args, "--output", "pay.csv")
      done(unnoted)
      assert.match(unnoted.stderr, /the file was written, and close 1 has no note of it: .*cannot be noted/)
      assert.include(read(`${folder}/pay.csv`), "00501,REG,8.00,")
      assert.lengthOf(yield* notes, 1)
    })))
  it.live("refuses a mapping that is not UTF-8, which would print other characters than it has", () =>
    inFake(Effect.gen(function*() {
      const { folder, run } = yield* opened
      const text = JSON.stringify({ ...byCode, preamble: ["für Büro 3"] })
      for (const encoding of ["latin1", "utf16le"] as const) {
        Fs.writeFileSync(`${folder}/codes.json`, `\uFEFF${text}`, encoding)
        const refused = yield* run(...args)
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
        assert.match(refused.stderr, /codes\.json is not UTF-8/)
      }
      Fs.writeFileSync(`${folder}/codes.json`, `\uFEFF${text}`)
      assert.match((yield* run(...args)).stdout, /^für Büro 3\r\n/)
    })))

  it.live("fails for a revision that is voided before its file is noted, and says not to pay that file", () =>
    inFake(Effect.gen(function*() {
      const { folder, run } = yield* opened
      const service = yield* Effect.context<FakeService>()
      const voided = run("payroll", "void", "1.1", "--note", "not sent").pipe(Effect.map(done), Effect.provide(service))
      const of = (name: string) => `${folder}/${name}`
      const { code, stderr } = yield* cli(
        [
          ...args.map((arg) => /^[\w-]+\.(csv|json)$/.test(arg) ? of(arg) : arg),
          "--output",
          of("pay.csv"),
          "--database",
          of("punches.db")
        ],
        {
          env: companyOnly,
          files: (fs) => ({ ...fs, link: (from, to) => Effect.andThen(voided, fs.link(from, to)) })
        }
      )
      assert.strictEqual(code, 2)
      assert.match(stderr, /1\.1: it was voided by 1\.2, so there is nothing to pay of it/)
      assert.match(stderr, /The file was written before that: do not pay it\./)
      assert.isTrue(Fs.existsSync(of("pay.csv")))
    })))

  it.live("prints nothing of a file by day whose history was edited by hand, with exit code 7", () =>
    inFake(Effect.gen(function*() {
      const { folder, run, write } = yield* opened
      write(
        "days.json",
        JSON.stringify({
          v: 1,
          by: ["user", "day"],
          hours: "decimal:2",
          rounding: "halfUp",
          columns: [
            { header: "Employee", value: "userCode" },
            { header: "Day", value: "date" },
            { header: "Hours", value: "hours" }
          ]
        })
      )
      const byDay = ["payroll", "file", "1.1", "--mapping", "days.json", "--codes", "codes.csv"]
      const { stdout } = yield* run(...byDay)
      assert.include(stdout, ",2026-03-03,8.00")
      // What it knows of an instant without a later version is in the rows of now.
      execute(`${folder}/punches.db`, "UPDATE time_punches SET hourly_wage = hourly_wage + 100 WHERE user_id = 501")
      for (const output of [[], ["--output", "days.csv"]]) {
        const edited = yield* run(...byDay, ...output)
        assert.deepStrictEqual([edited.code, edited.stdout], [7, ""])
        assert.match(edited.stderr, /1\.1: its history was edited, users 501/)
      }
      assert.isFalse(Fs.existsSync(`${folder}/days.csv`))
    })))
})

describe("time-punches payroll file --example", () => {
  const folder = `${root}docs/examples/payroll-files`
  const [titles = "", ...lines] = read(`${folder}/punches.csv`).trimEnd().split("\n")
  const punches = lines.map((line) => {
    const cells = Object.fromEntries(titles.split(",").map((title, at) => [title, line.split(",")[at] ?? ""]))
    const number = (title: string) => Number(cells[title])
    return punch(number("id"), cells["clocked_in"] ?? "", null, {
      user_id: number("user_id"),
      clocked_out: cells["clocked_out"] ?? "",
      hourly_wage: number("hourly_wage"),
      tips: number("tips")
    })
  })
  const period = ["--week", "2026-03-02", "--zone", "America/New_York"]
  const thresholds = ["--weekly-threshold", "40h", "--double-threshold", "12h"]
  const names = Fs.readdirSync(folder).filter((file) => file.endsWith(".txt")).map((file) => file.slice(0, -4))

  it.live.each(names)(
    "prints a mapping that writes the file beside it, and the sandbox has people for: %s",
    (name) =>
      Effect.gen(function*() {
        const mapping = `${yield* temporaryFolder}/mapping.json`
        const file = ["payroll", "file"]
        done(yield* cli([...file, "--example", name, "--output", mapping]))
        assert.strictEqual(read(mapping), read(`${folder}/${name}.json`))
        const output = `${mapping}.txt`
        const preview = [
          ...file,
          "--preview",
          ...period,
          ...thresholds,
          "--mapping",
          mapping,
          "--codes",
          `${folder}/codes.csv`
        ]
        done(yield* cli([...preview, "--output", output]))
        assert.deepStrictEqual(Fs.readFileSync(output), Fs.readFileSync(`${folder}/${name}.txt`))
        const ofSandbox = FakeService.layer({ punches: twoCompanies(300, 9153).punchesOf(0) })
        const shown = yield* Effect.provide(cli(preview), ofSandbox)
        done(shown)
        assert.isAbove(shown.stdout.split("\n").length, 8)
        const refused = yield* cli([...preview, "--example", name])
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
        assert.match(refused.stderr, /--example prints a mapping alone: --preview is for a file/)
      }).pipe(inFakeOf(punches))
  )

  it("has six of them, each with its file", () => {
    assert.lengthOf(names, 6)
    assert.lengthOf(Fs.readdirSync(folder), 14)
  })
})
