/** Text of others on a terminal: no command lets a control of a note, a name or a code reach it; files and pipes keep each byte. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import * as Fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { logOf } from "../../../src/cli/print/messages.ts"
import { shownCells } from "../../../src/cli/print/output.ts"
import { FakeService, Fault } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { cli, environment, temporaryFolder } from "../support.ts"

const week = ["--week", "2026-03-02", "--zone", "America/New_York"]

/** Each control of C0, DEL and of C1; what begins a sequence is a whole one: of the clipboard, of a link, of the cursor. */
const sequences = [
  "\u001b]52;c;cm0=\u0007",
  "\u001b]8;;https://x.test\u001b\\here\u001b]8;;\u001b\\",
  "\u001b[2J",
  "\u009b2J"
]
const controls = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 33 }, (_, code) => String.fromCharCode(0x7f + code))
]
/** What turns a text around, or ends a line of some programs. */
const turning = [..."\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
const hostile = [...controls, ...turning, ...sequences, "over\rwritten", "a\r\nb", "\"\u001b[1m\"", ",\u001b[1m\","]
  .join("|")

/** A name, in quotes. */
const inFiles = `"${hostile.replaceAll("\"", "\"\"")}"`

/** Every command that prints cells. */
const writers: Readonly<Record<string, (folder: string) => ReadonlyArray<string>>> = {
  list: () => ["list", "--format", "csv"],
  "list ;": () => ["list", "--format", "csv", "--separator", "semicolon", "--excel"],
  export: () => ["export", "--format", "csv", "--output", "-"],
  summary: (folder) => ["summary", "--format", "csv", "--by", "user", "--names", `${folder}/names.csv`],
  check: (folder) => ["payroll", "check", ...week, "--format", "csv", "--names", `${folder}/names.csv`],
  "diff of punches": (
    folder
  ) => ["payroll", "diff", "--close", "1", "--format", "csv", "--rows", "punches", "--names", `${folder}/names.csv`],
  "diff of people": (
    folder
  ) => ["payroll", "diff", "--close", "1", "--format", "csv", "--rows", "people", "--names", `${folder}/names.csv`],
  file: (folder) => ["payroll", "file", "1", "--mapping", `${folder}/mapping.json`, "--names", `${folder}/names.csv`],
  preview: (folder) => [
    "payroll",
    "file",
    "--preview",
    ...week,
    "--source",
    "service",
    "--mapping",
    `${folder}/mapping.json`,
    "--names",
    `${folder}/names.csv`
  ],
  // Those that are escaped where they are laid out, or as JSON.
  "ndjson of feed": () => ["copy", "feed"],
  "table of feed": () => ["copy", "feed", "--format", "table"],
  "json of show": () => ["payroll", "show", "1", "--json"],
  "table of closes": () => ["payroll", "list"],
  table: () => ["list"],
  ndjson: () => ["list", "--format", "ndjson"],
  json: () => ["list", "--json"],
  "table of check": (folder) => ["payroll", "check", ...week, "--names", `${folder}/names.csv`],
  "table of summary": (folder) => ["summary", "--by", "user", "--names", `${folder}/names.csv`],
  "page of report": (folder) => ["report", ...week, "--names", `${folder}/names.csv`, "--output", "-"],
  "table of doctor": () => ["doctor"],
  "json of doctor": () => ["doctor", "--json"],
  "table of fleet": () => ["fleet", "list"],
  "json of fleet": () => ["fleet", "list", "--json"],
  "table of turns": () => ["fleet", "status", "4021"],
  "json of turns": () => ["fleet", "status", "4021", "--json"],
  "table of runners": () => ["fleet", "runners"],
  "table of diff": (folder) => ["payroll", "diff", "--close", "1", "--names", `${folder}/names.csv`]
}

const onDatabase = new Set([
  "diff of punches",
  "diff of people",
  "file",
  "table of diff",
  "ndjson of feed",
  "table of feed",
  "json of show",
  "table of closes"
])
const onFleet = new Set(["table of fleet", "json of fleet", "table of turns", "json of turns", "table of runners"])

/** A fleet whose texts are hostile, as another program could have written them. */
const plantFleet = (file: string) => {
  using database = new DatabaseSync(file)
  const [now, error] = [Date.now(), JSON.stringify({ at: "2026-03-09T15:00:00.000Z", tag: hostile, text: hostile })]
  database.prepare("UPDATE fleet_company SET state = 'blocked', reason = ?, last_error = ?").run(hostile, error)
  database.prepare("INSERT INTO fleet_run VALUES (4021, 1, ?, 0, ?, 1, 1, ?)").run(hostile, now, hostile)
  database.prepare("INSERT INTO fleet_pause VALUES (?, ?, 0, NULL, NULL, ?)").run(hostile, now + 60_000, hostile)
  database.prepare("INSERT INTO fleet_runner VALUES (?, ?, 0, ?, ?)").run(hostile, hostile, now, "{}")
}
/** What prints the text of a mapping, whose separator is a tab. */
const ofMapping = new Set(["file", "preview"])

const punches = [1, 2, 3].map((id) =>
  servicePunch({
    id,
    user_id: 501,
    approved: id !== 3,
    notes: hostile,
    clocked_in: `2026-03-0${id + 1}T14:00:00Z`,
    clocked_out: `2026-03-0${id + 1}T22:00:00Z`
  })
)

/** What a terminal gets beside what we style: SGR of ours, the line that is erased, and line ends. */
const obeyedIn = (text: string) =>
  [...text.replaceAll(/\u001b\[(?:0|1|31|32|33)m|\r\u001b\[2K/g, "").replaceAll("\r\n", "\n")]
    .filter((char) => char !== "\n" && (turning.includes(char) || /[\u0000-\u001f\u007f-\u009f]/.test(char)))

describe("controls in text of others", () => {
  for (const [name, argsOf] of Object.entries(writers)) {
    it.live(`do not reach a terminal by ${name}, with any setting of colours`, () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const database = ["--database", `${folder}/punches.db`]
        if (onDatabase.has(name)) {
          yield* cli(["sync", "--history", ...database])
          const note = ["--note", hostile.replaceAll("\u0000", "")]
          const closed = yield* cli(["payroll", "close", ...week, "--accept", "unapproved,stale", ...note, ...database])
          assert.strictEqual(closed.code, 0, closed.stderr)
          yield* FakeService.use((service) =>
            service.edit([2], { clocked_out: "2026-03-03T23:00:00Z", notes: `${hostile}!` })
          )
          yield* cli(["sync", "--history", ...database])
        }
        if (onFleet.has(name)) {
          yield* cli(["fleet", "add", "4021", ...database])
          plantFleet(`${folder}/punches.db`)
        }
        Fs.writeFileSync(`${folder}/names.csv`, `kind,id,name\nuser,501,${inFiles}\n`)
        const columns = [{ header: "Id", value: "userId" }, { header: "User", value: "userName" }, {
          header: "Hours",
          value: "hours"
        }]
        Fs.writeFileSync(
          `${folder}/mapping.json`,
          JSON.stringify({
            v: 1,
            by: ["user"],
            hours: "decimal:2",
            rounding: "halfUp",
            separator: "\t",
            formulas: "keep",
            preamble: ["Company \u001b]0;title\u0007"],
            columns
          })
        )
        const args = [...argsOf(folder), ...(onDatabase.has(name) || onFleet.has(name) ? database : [])]
        const piped = yield* cli(args, { terminal: false })
        assert.include([0, 9], piped.code, piped.stderr)
        for (const settings of [["--color", "never"], ["--color", "always"], [], ["no colour"]]) {
          const env = settings[0] === "no colour" ? { ...environment, NO_COLOR: "1" } : environment
          const flags = settings[0] === "no colour" ? [] : settings
          const { code, stderr, stdout } = yield* cli([...args, ...flags], { terminal: true, colour: true, env })
          assert.strictEqual(code, piped.code, stderr)
          assert.deepStrictEqual(
            obeyedIn(stdout).filter((char) => char !== (ofMapping.has(name) ? "\t" : "")),
            [],
            JSON.stringify(stdout)
          )
          assert.deepStrictEqual(obeyedIn(stderr), [])
          assert.isAbove(stdout.length, 20)
          if (!/^(table|ndjson|json|page)/.test(name)) {
            // What is left out shows as what it is, once for each time that it is there.
            assert.notInclude(stdout, "\u001b[1m")
            const written = yield* cli([...args, ...flags, "--output", `${folder}/out`, "--force"], {
              terminal: true,
              colour: true,
              env
            })
            if (name !== "export") {
              assert.strictEqual(written.code, piped.code, written.stderr)
              assert.strictEqual(Fs.readFileSync(`${folder}/out`, "utf8"), piped.stdout)
            }
          }
        }
        // The pipe has the bytes: else nothing was tried.
        if (!/^(table|ndjson|json|page)/.test(name) && name !== "diff of people") assert.include(piped.stdout, "\u001b")
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches }))))
  }

  it.live("do not reach a terminal by an error, a retry, a warning of the log, or an event as JSON", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const text = JSON.stringify({ title: hostile, detail: hostile, message: hostile })
      const folder = yield* temporaryFolder
      const askers = [["export", "--output", `${folder}/out`], ["copy", "sync", "--database", `${folder}/c.db`], [
        "report",
        ...week,
        "--output",
        "-"
      ], ["doctor"]]
      const calls = [["list"], ["list", "--log-format", "json"], ["list", "--verbose"], ...askers]
      for (const status of [403, 503]) {
        for (const words of calls) {
          yield* service.inject(
            Fault.status(status, { body: { contentType: "application/problem+json", text } }),
            { times: 2 }
          )
          const { stderr, stdout } = yield* cli(words, { terminal: true, colour: true })
          yield* service.clearFaults
          assert.deepStrictEqual(obeyedIn(stdout + stderr), [], JSON.stringify(stderr))
          if (status === 403) assert.include(stdout + stderr, "403")
        }
      }
      const logged: Array<string> = []
      for (const format of ["lines", "json"] as const) {
        for (const isServer of [false, true]) {
          yield* Effect.logWarning(`a database says: ${hostile}`).pipe(
            Effect.provide(logOf(format, isServer)),
            Effect.provideService(Console.Console, { ...console, error: (line: string) => void logged.push(line) })
          )
        }
      }
      assert.lengthOf(logged, 4)
      for (const line of logged) assert.deepStrictEqual(obeyedIn(line), [], JSON.stringify(line))
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches }))))

  it.live("leave what we style: titles are bold, and what is negative is red", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["list", "--color", "always"], { terminal: true, colour: true })
      assert.include(stdout, "\u001b[1m")
      const help = yield* cli(["list", "--help", "--color", "always"], { terminal: true, colour: true })
      assert.include(help.stdout, "\u001b[1m")
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches }))))

  it("are escaped within a cell, and the ends of records and separators stay", () => {
    for (const control of controls) {
      const code = `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`
      const shown = (text: string, separator = ",") => shownCells(text, separator)
      if (!"\r\n".includes(control)) assert.strictEqual(shown(`a,b${control}c\r\n`), `a,b${code}c\r\n`)
      assert.strictEqual(shown(`a,"b""${control},c",d\r\n1,"${control}"\r\n`), `a,"b""${code},c",d\r\n1,"${code}"\r\n`)
    }
    assert.strictEqual(shownCells("a\tb\n\"c\td\"\n", "\t"), "a\tb\n\"c\\u0009d\"\n")
    assert.strictEqual(shownCells("a\rb\r\n", ","), "a\\u000db\r\n")
  })
})
