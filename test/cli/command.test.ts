import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import * as Fs from "node:fs"
import { stripVTControlCharacters } from "node:util"
import { codeOf, exitCode } from "../../src/cli/failure.ts"
import { settings } from "../../src/cli/flags/settings.ts"
import { reference } from "../../src/cli/help/reference.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { defaultSession } from "../../src/testing/service/options.ts"
import {
  cli,
  command,
  type Environment,
  environment,
  linesOf,
  printers,
  queries,
  subcommands as leaves,
  temporaryFolder,
  without
} from "./support.ts"

const fake = FakeService.layer({
  punches: generatePunches({ seed: 6, count: 120, companyId: defaultCompany.id })
})

const subcommands = command.subcommands
  .flatMap(({ commands }) => commands.map(({ name }) => name))
  .filter((name) => !printers.includes(name))

const topics = ["periods", "filters", "csv", ...Object.keys(reference)]

/** A help whose descriptions stand behind their flags again. */
const inLines = (help: string) => help.replace(/^( {2}--\S.*)\n {8}/gm, "$1    ").replace(/\n {8}(?=\S)/g, " ")

/** The flags of a help, with what it says of each. */
const flagsIn = (help: string): ReadonlyMap<string, string> =>
  new Map(
    [...inLines(help).matchAll(/^  (--[a-z-]+)(?:, -\w)?\S*.*? {4,}(\S.*)$/gm)].map((
      [, flag = "", text = ""]
    ) => [flag, text])
  )

const page = Fs.readFileSync(new URL("../../docs/09-command-line.md", import.meta.url), "utf8")

/** The zones that the page shows, of every location of the fake. */
const [, zonesFile = ""] = /```txt\n(location_id,zone\n[\s\S]*?)```/.exec(page) ?? []

/** The calls that a text shows, one a line, without those that run until Ctrl-C or need a cursor. */
const callsIn = (text: string) =>
  linesOf(text).map((line) => line.trim()).filter((line) =>
    /^time-punches (list|export|summary|payroll check|doctor)( |$)/.test(line)
  )

const callsOfDocs = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, code = ""]) => callsIn(code))

/** Splits a call as a shell does, up to a pipe; quotes enclose whole words only. */
const argumentsOf = (call: string, folder: string) =>
  [...call.replace(/\s+[|#>].*$/, "").matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain ?? "")
    .slice(1)
    .map((word, at, words) =>
      ["--output", "--database", "--names", "--zone-file"].includes(words[at - 1] ?? "") ? `${folder}/${word}` : word
    )

const runs = (call: string) =>
  Effect.gen(function*() {
    const folder = yield* temporaryFolder
    Fs.writeFileSync(`${folder}/names.csv`, "kind,id,name\nuser,501,Anna\n")
    Fs.writeFileSync(`${folder}/zones.csv`, zonesFile)
    // A copy that is checked must be there.
    if (call.includes("--database")) yield* cli(argumentsOf("time-punches sync --database punches.db", folder))
    const ran = yield* cli(argumentsOf(call, folder))

    // A check that finds something has succeeded.
    const code = ran.code === exitCode.findings && call.startsWith("time-punches payroll check")
      ? exitCode.ok
      : ran.code
    assert.deepStrictEqual([code, code === 0 ? "" : ran.stderr], [0, ""], call)
    assert.isAbove((yield* queries).length, 0, call)
  }).pipe(Effect.scoped, Effect.provide(fake))

describe("time-punches", () => {
  it.effect("shows its subcommands and its variables when called without arguments", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* cli([])

      assert.strictEqual(code, 0)
      for (const name of [...subcommands, ...topics]) assert.include(stdout, `  ${name} `)
    }).pipe(Effect.provide(fake)))

  it.effect("names the version of the package", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["--version"])
      const { version } = JSON.parse(Fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

      assert.strictEqual(stdout, `time-punches v${version}\n`)
    }).pipe(Effect.provide(fake)))

  it.effect.each<readonly [string, string]>([
    ["help", "--help"],
    ["help payroll void", "payroll void --help"],
    ["help fleet", "fleet --help"],
    ["help fleet add", "fleet add --help"],
    ["help help", "help --help"],
    ["help version", "version --help"],
    ["version", "--version"]
  ])("%s prints what %s prints", ([one, other]) =>
    Effect.gen(function*() {
      const [shown, expected] = [yield* cli(one.split(" ")), yield* cli(other.split(" "))]

      assert.strictEqual(shown.code, 0)
      assert.isAbove(shown.stdout.length, 10)
      assert.deepStrictEqual(shown, expected)
    }).pipe(Effect.provide(fake)))

  it.effect("lists help and version once", () =>
    Effect.gen(function*() {
      const lines = linesOf((yield* cli(["help"])).stdout.split("GLOBAL FLAGS")[1] ?? "")

      for (const name of printers) {
        assert.strictEqual(lines.filter((line) => line.startsWith(`  ${name} `)).length, 1, name)
      }
    }).pipe(Effect.provide(fake)))

  it.effect.each(subcommands)(
    "help %s has every flag, and %s --help those that few calls need on another page",
    (name) =>
      Effect.gen(function*() {
        const [all, usual] = [(yield* cli(["help", name])).stdout, (yield* cli([name, "--help"])).stdout]
        const rare = [...flagsIn(all)].filter(([flag]) => !flagsIn(usual).has(flag))

        assert.deepStrictEqual([...flagsIn(usual)].filter(([flag, text]) => flagsIn(all).get(flag) !== text), [])
        assert.strictEqual(usual.includes(`All flags: time-punches help ${name}\n`), rare.length > 0)
        if (["list", "export", "summary", "doctor"].includes(name)) assert.isAbove(rare.length, 5)
      }).pipe(Effect.provide(fake))
  )

  it.effect.each(topics)("help %s has the descriptions of the flags, and no other", (topic) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["help", topic])
      const flags = flagsIn(stdout)
      const narrow = (yield* cli(["help", topic], { terminal: true, columns: 80 })).stdout

      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.notInclude(stdout, "GLOBAL FLAGS")
      for (const line of narrow.split("\n")) assert.isAtMost(displayWidth(line), 80, line)
      if (topic in reference) {
        // In a pipe as in a terminal.
        assert.strictEqual(stdout, narrow)
        assert.deepStrictEqual([...flags], [])
      } else {
        assert.isAbove(flags.size, 1)
        const ofList = flagsIn((yield* cli(["help", "list"])).stdout)
        for (const [flag, text] of flags) assert.strictEqual(ofList.get(flag), text, flag)
      }
    }).pipe(Effect.provide(fake)))

  it.effect.each(subcommands)("%s --help shows examples that run", (name) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli([name, "--help"])
      const examples = linesOf(stdout.split("EXAMPLES")[1] ?? "").filter((line) => !line.includes("#"))

      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.isAbove(examples.length, 1)
      for (const example of examples)
        assert.match(example, new RegExp(`^  time-punches ${name === "sync" ? "copy sync" : name}( |$)`))
      if (name !== "sandbox")
        yield* Effect.forEach(callsIn(examples.join("\n")), runs)
    }).pipe(Effect.provide(fake)))

  it.effect.each(["", ...new Set([...subcommands, ...leaves])])(
    "%s --help fits a terminal of 80 columns, and has the same words",
    (name) =>
      Effect.gen(function*() {
        const args = [...(name === "" ? [] : name.split(" ")), "--help"]
        const wide = (yield* cli(args)).stdout
        const narrow = (yield* cli(args, { terminal: true, columns: 80 })).stdout
        const [text = ""] = narrow.split("EXAMPLES")

        for (const line of text.split("\n")) assert.isAtMost(displayWidth(line), 80, line)
        for (const line of wide.split("EXAMPLES")[0]?.split("\n") ?? []) assert.isAtMost(displayWidth(line), 100, line)
        assert.deepStrictEqual(stripVTControlCharacters(narrow).split(/\s+/), wide.split(/\s+/))
        assert.notMatch(wide, /\(choices: |(?<!\n)\nEXAMPLES/)
      }).pipe(Effect.provide(fake))
  )

  it.effect.each<readonly [string, ReadonlyArray<string>]>([
    ["list", ["FLAGS", "PERIOD", "FILTERS", "OUTPUT", "COMPANY AND DATABASE"]],
    ["summary", ["FLAGS", "PERIOD", "FILTERS", "OUTPUT", "COMPANY AND DATABASE"]],
    ["payroll close", ["FLAGS", "PERIOD", "OUTPUT", "COMPANY AND DATABASE"]],
    ["copy status", ["FLAGS"]]
  ])("%s --help has its flags under %j, each once", ([name, headings]) =>
    Effect.gen(function*() {
      const [plain, coloured] = yield* Effect.forEach(
        [[], ["--color", "always"]],
        (colour) => cli([...name.split(" "), "--help", ...colour])
      )
      const text = plain?.stdout ?? ""
      const [, flags = ""] = /\n(FLAGS\n[\s\S]*)\n\nEXAMPLES/.exec(text) ?? []
      const under = new Map(
        flags.split("\n\n").map((section) => [section.split("\n")[0] ?? "", [...flagsIn(section).keys()]])
      )

      assert.deepStrictEqual([...under.keys()], headings)
      assert.deepStrictEqual([...under.values()].flat().toSorted(), [...flagsIn(text).keys()].toSorted())
      if (under.has("PERIOD")) assert.includeMembers(under.get("PERIOD") ?? [], ["--week", "--zone-file"])
      if (under.has("OUTPUT")) assert.includeMembers(under.get("OUTPUT") ?? [], ["--format", "--names"])
      assert.strictEqual(stripVTControlCharacters(coloured?.stdout ?? ""), text)
    }).pipe(Effect.provide(fake)))

  it.effect("runs every call that its page of the docs shows", () =>
    Effect.gen(function*() {
      assert.isAbove(callsOfDocs.length, 6)
      yield* Effect.forEach(callsOfDocs, runs)
    }))

  it.effect.each([50, 80])(
    "names each variable and the errors of each exit code in %d columns",
    (columns) =>
      Effect.gen(function*() {
        const shown = (topic: string) =>
          Effect.map(cli(["help", topic], { terminal: true, columns }), ({ stdout }) => {
            for (const line of stdout.split("\n")) assert.isAtMost(displayWidth(line), columns, line)
            return stdout.replaceAll(/\s+/g, " ")
          })
        const [variables, codes] = [yield* shown("environment"), yield* shown("exit-codes")]

        for (const { what, ...each } of settings) {
          const notes = [each.readBy === "command" ? "command only" : "", "isSecret" in each ? "secret" : ""]
            .filter((note) => note !== "").join(", ")
          assert.include(variables, `${each.variable} ${what}${notes === "" ? "" : ` [${notes}]`} `)
        }
        for (const [tag, code] of Object.entries(codeOf)) {
          assert.match(codes, new RegExp(` ${code} [^[]+\\[[\\w, ]*\\b${tag}\\b`))
        }
      }).pipe(Effect.provide(fake))
  )

  it.effect.each(
    [
      [["list", "--user-id", "x"], /--user-id: "x".*whole number/],
      [["list", "--no-such-flag"], /list: --no-such-flag is not a flag\n/],
      [["lisst"], /^time-punches: lisst is not a command; did you mean list\?\nSee time-punches --help\.\n$/],
      [["x\u001b[31my"], /^time-punches: x\\u001b\[31my is not a command\n/],
      [["fleet", "lst"], /^time-punches fleet: lst is not a command; did you mean list\?\n/],
      [["help", "lisst"], /^time-punches: lisst is not a command; did you mean list\?\nSee time-punches --help\.\n$/],
      [["help", "fleet", "lst"], /^time-punches fleet: lst is not a command; did you mean list\?\n/],
      [["help", "list", "extra"], /^time-punches list: extra is not a command\n/],
      [["feed"], /^time-punches: feed is not a command; did you mean copy feed\?\n/],
      [["close"], /^time-punches: close is not a command; did you mean payroll close\?\n/],
      [["help", "status"], /^time-punches: status is not a command; did you mean copy status or fleet status\?\n/],
      [
        ["copy", "list"],
        /^time-punches copy: list is not a command; did you mean list or payroll list or fleet list\?\n/
      ],
      [["list", "--format", "jsonl"], /; did you mean ndjson\?/],
      [
        ["summary", "--by", "user", "--by", "day"],
        /^time-punches summary: --by is given twice or more: give it once\n/
      ],
      [["version", "extra"], /extra/],
      [["list", "extra"], /extra/],
      [["--limit", "3", "list"], /^time-punches: --limit goes after the command, as in time-punches list --limit\nSee/],
      [["--limit=3", "list"], /^time-punches list: --limit goes after the command, as in time-punches list --limit\n/],
      [["fleet", "--late", "list"], /: --late goes after the command, as in time-punches fleet list --late\n/],
      [["list", "--by", "user"], /^time-punches list: --by is not a flag\n/],
      [["export"], /--output/],
      [["summary", "--by", "year"], /--by/],
      [["summary", "--zone", "Mars/Olympus"], /--zone/],
      [["summary", "--week-starts", "sun"], /; did you mean sunday\?/],
      [["list", "--clocked-in-gte", "2026-03-02"], /Expected: a local date with --from and --to, or an RFC 3339/],
      [["list", "--page-size", "201"], /1 to 200/],
      [["list", "--cursor", ""], /--cursor/]
    ] as const
  )("reports a usage error on standard error only: %j", ([args, message]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(args)

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, message)
      assert.match(stderr, /See time-punches.* --help\.\n$/)
      assert.deepStrictEqual(yield* queries, [])
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      [
        ["--clocked-in-gte", "2026-03-02T00:00:00Z", "--clocked-in-lt", "2026-03-01T00:00:00Z"],
        /--clocked-in-… must not end/
      ],
      [
        ["--clocked-in-lt", "2026-03-02T00:00:00Z", "--localize-search-time"],
        /--clocked-in-lt cannot go with --localize/
      ],
      [
        ["--business-date-start", "2026-03-02", "--business-date-end", "2026-03-01"],
        /--business-date-start and -end must not/
      ],
      [["--business-date-end", "2026-03-01", "--clocked-in-gte", "2026-03-01T00:00:00Z"], /switch the --clocked-in-…/]
    ] as const
  )("rejects a filter that cannot be sent, and names the flags: %j", ([flags, message]) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["list", ...flags])

      assert.strictEqual(code, 2)
      assert.match(stderr, message)
      assert.deepStrictEqual(yield* queries, [])
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      ["TIME_PUNCHES_BASE_URL", /TIME_PUNCHES_BASE_URL is not set/, 3],
      ["TIME_PUNCHES_CLIENT_SECRET", /TIME_PUNCHES_CLIENT_SECRET must be set with TIME_PUNCHES_CLIENT_ID/, 3],
      ["TIME_PUNCHES_COMPANY_ID", /no company: give --company ID or set TIME_PUNCHES_COMPANY_ID/, 2]
    ] as const
  )("names the variable %s when it is missing", ([name, message, expected]) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["list"], { env: without(name) })

      assert.strictEqual(code, expected)
      assert.match(stderr, message)
    }).pipe(Effect.provide(fake)))

  it.effect("says what is wrong with a variable, never its value", () =>
    Effect.gen(function*() {
      const ran = yield* Effect.forEach(
        ["TIME_PUNCHES_BASE_URL", "TIME_PUNCHES_CLIENT_SECRET", "TIME_PUNCHES_COMPANY_ID", "TIME_PUNCHES_COMPANY_GUID"],
        (name) => cli(["list"], { env: { ...environment, [name]: "Hunter two" } })
      )

      assert.deepStrictEqual(ran.map(({ code }) => code), [3, 4, 3, 3])
      for (const { stderr } of ran) assert.notInclude(stderr, "Hunter")
    }).pipe(Effect.provide(fake)))

  it.effect.each<[string, Environment]>([
    ["no company", without("TIME_PUNCHES_COMPANY_ID")],
    ["another company", { ...environment, TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id + 1}` }]
  ])(
    "never sends the guid of the environment for --company where the environment names %s",
    ([_what, env]) =>
      Effect.gen(function*() {
        const company = ["--company", `${defaultCompany.id}`]
        const without = yield* cli(["list", ...company], { env })
        const asked = yield* queries
        const given = yield* cli(["list", "--company", `${defaultCompany.id}=${defaultCompany.guid}`], { env })

        assert.deepStrictEqual([without.code, without.stdout, asked], [2, "", []])
        assert.include(
          without.stderr,
          "the guid of the company is required for an OAuth client: give --company ID=GUID, or set " +
            "TIME_PUNCHES_COMPANY_GUID with TIME_PUNCHES_COMPANY_ID\n"
        )
        assert.strictEqual(given.code, 0)
      }).pipe(Effect.provide(fake))
  )

  it.effect("reads each kind of credential from the environment", () =>
    Effect.gen(function*() {
      const env = without("TIME_PUNCHES_CLIENT_ID", "TIME_PUNCHES_CLIENT_SECRET")
      const token = yield* cli(["list"], { env: { ...env, TIME_PUNCHES_ACCESS_TOKEN: defaultCompany.accessToken } })
      const session = yield* cli(["list"], { env: { ...env, TIME_PUNCHES_SESSION_COOKIE: defaultSession.cookie } })
      const oauth = yield* cli(["list"])

      assert.deepStrictEqual([token.code, session.code], [0, 0])
      assert.strictEqual(token.stdout, oauth.stdout)
      assert.strictEqual(session.stdout, oauth.stdout)
    }).pipe(Effect.provide(fake)))

  describe("exits with the code of the kind of error:", () => {
    const faults = [
      ["401", Fault.status(401), exitCode.credential],
      ["403", Fault.status(403), exitCode.forbidden],
      ["404", Fault.status(404), exitCode.data],
      ["422", Fault.status(422), exitCode.data],
      ["429 with a long Retry-After", Fault.retryAfter("3600"), exitCode.later],
      ["503 with a long Retry-After", Fault.retryAfter("3600", 503), exitCode.later],
      ["500", Fault.status(500), exitCode.later],
      ["a reset", Fault.reset, exitCode.later],
      ["a bad row", Fault.badRow(0, { clocked_in: "2026-02-30T00:00:00Z" }), exitCode.data],
      ["another object", Fault.wrongObject(), exitCode.data],
      ["another company's rows", Fault.wrongCompany(), exitCode.data]
    ] as const

    it.live.each(faults)("%s", ([, fault, expected]) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* service.inject(fault)
        const { code, stderr, stdout } = yield* cli(["list", "--format", "ndjson"])

        assert.deepStrictEqual([code, stdout], [expected, ""])
        assert.match(stderr, /^(\w+, retrying in 0\.\d s \(\w+ of 4\)\n)*time-punches: .+\n( {2}.+\n)*$/)
      }).pipe(Effect.provide(fake)))

    it.live("a rejected client, and a token endpoint that is down", () =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const refused = yield* cli(["list"], { env: { ...environment, TIME_PUNCHES_CLIENT_SECRET: "wrong" } })
        yield* service.inject(Fault.retryAfter("7200", 503), { target: "token" })
        const down = yield* cli(["list"])

        assert.deepStrictEqual([refused.code, down.code], [exitCode.credential, exitCode.later])
        assert.notInclude(refused.stderr, "wrong")
      }).pipe(Effect.provide(fake)))
  })
})
