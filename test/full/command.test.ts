/** The command as it is published: unpacked from the tarball, with no package in reach. */
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { type InputOptions, rolldown } from "rolldown"
import { afterAll, beforeAll } from "vitest"
import config from "../../rolldown.config.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { modulesOf } from "../cli/bundle.ts"
import { commandOf, ended, environmentOf, started } from "../cli/child.ts"
import { punch } from "../cli/payroll/checkSupport.ts"
import { companyOnly, linesOf, temporaryFolder } from "../cli/support.ts"
import { importsOf } from "./imports.ts"
import { packClone, succeed, versionOf } from "./project.ts"
import { run } from "./run.ts"

const count = 1200

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: generatePunches({ seed: 12, count, companyId: defaultCompany.id, deletedShare: 0 }),
  // The rows of about a second are written together: an export must take several.
  latency: "40 millis"
})))

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

let folder = ""
let cli = ""

beforeAll(async () => {
  folder = Fs.mkdtempSync(Path.join(tmpdir(), "time-punches-command-"))
  const tarball = await packClone(folder)
  await succeed(folder, "tar", "-xzf", tarball)
  cli = Path.join(folder, "package/dist/cli")
})

afterAll(() => Fs.rmSync(folder, { recursive: true, force: true }))

const spawn = (args: ReadonlyArray<string>, env: Record<string, string>) => started(args, env, `${cli}/main.js`)

const finished = (...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { url } = yield* FakeServer
    return yield* ended(yield* spawn(args, environmentOf(url)))
  }).pipe(Effect.scoped)

/** Whether the note of an export counts rows: its first one counts none. */
const isUnderway = (note: string) => Fs.existsSync(note) && !/"bytes": *0\b/.test(Fs.readFileSync(note, "utf8"))

describe("the command from the tarball, without a package in reach", () => {
  it("stands where no folder above it has packages", () => {
    const above = (path: string): ReadonlyArray<string> =>
      path === Path.dirname(path) ? [path] : [path, ...above(Path.dirname(path))]

    assert.deepStrictEqual(above(cli).filter((path) => Fs.existsSync(Path.join(path, "node_modules"))), [])
  })

  it.live("lists", () =>
    inService(Effect.gen(function*() {
      const { code, stderr, stdout } = yield* finished("list", "--format", "ndjson")

      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.lengthOf(linesOf(stdout), count)
    })))

  it.live("exports, and resumes after SIGKILL to the same bytes", () =>
    inService(Effect.gen(function*() {
      const { url } = yield* FakeServer
      const files = yield* temporaryFolder
      const command = ["export", "--page-size", "20", "--output"]
      const whole = yield* finished(...command, `${files}/whole`)
      const killed = yield* spawn([...command, `${files}/punches`], environmentOf(url))
      while (!isUnderway(`${files}/punches.resume.json`)) yield* Effect.sleep("5 millis")
      killed.child.kill("SIGKILL")
      const { signal } = yield* ended(killed)
      const left = Fs.existsSync(`${files}/punches`)
      const resumed = yield* finished(...command, `${files}/punches`)

      assert.deepStrictEqual([whole.code, signal, left, resumed.code], [0, "SIGKILL", false, 0])
      assert.match(resumed.stderr, /^resuming after /)
      assert.lengthOf(linesOf(Fs.readFileSync(`${files}/punches`, "utf8")), count)
      assert.isTrue(Fs.readFileSync(`${files}/punches`).equals(Fs.readFileSync(`${files}/whole`)))
    })))

  it.live("sums", () =>
    inService(Effect.gen(function*() {
      const { code, stdout } = yield* finished("summary", "--by", "role")

      assert.strictEqual(code, 0)
      assert.match(stdout, /^total +1,200 /m)
    })))

  it.live("serves a sandbox that the doctor finds healthy", () =>
    Effect.gen(function*() {
      const sandbox = yield* spawn(["sandbox", "--port", "0", "--punches", "300"], { PATH: process.env["PATH"] ?? "" })
      const printed = yield* Effect.promise(() => sandbox.printed("# a first page"))
      const variables = Object.fromEntries(
        [...printed.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value])
      )
      const doctor = yield* ended(yield* spawn(["doctor"], variables))
      sandbox.child.kill("SIGINT")
      const { code } = yield* ended(sandbox)

      assert.deepStrictEqual([doctor.code, doctor.stderr, code], [0, "", 130])
      assert.match(doctor.stdout, /^ok +cursors +4 pages forward/m)
    }).pipe(Effect.scoped))

  it.live("prints its help, its version and a completion script", () =>
    Effect.gen(function*() {
      const ran = yield* Effect.forEach([["--help"], ["--version"], ["--completions", "bash"]], (args) =>
        Effect.flatMap(spawn(args, {}), ended))

      assert.deepStrictEqual(ran.map(({ code, stderr }) => [code, stderr]), [[0, ""], [0, ""], [0, ""]])
      assert.match(ran[0]?.stdout ?? "", /doctor/)
      assert.strictEqual(ran[1]?.stdout, `time-punches v${manifest().version}\n`)
    }).pipe(Effect.scoped))
})

describe("payroll file from the tarball", () => {
  /** Five punches of 8:10 of one person, and five of 8:20 of another. */
  const week = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
    punches: [10, 20].flatMap((minutes, at) =>
      [2, 3, 4, 5, 6].map((day) =>
        punch(10 * at + day, `2026-03-0${day}T14:00:00Z`, null, {
          user_id: 501 + at,
          clocked_out: `2026-03-0${day}T22:${minutes}:00Z`
        })
      )
    )
  })))

  /** A closed week of them. `file` has the bytes that a call writes, with no service in reach. */
  const opened = Effect.gen(function*() {
    const { url } = yield* FakeServer
    const folder = yield* temporaryFolder
    const database = ["--database", `${folder}/punches.db`]
    const synced = yield* ended(yield* spawn(["sync", "--history", ...database], environmentOf(url)))
    assert.strictEqual(synced.code, 0, synced.stderr)
    const call = (...words: ReadonlyArray<string>) => {
      const env = { ...companyOnly, PATH: process.env["PATH"] ?? "" }
      const args = commandOf(["payroll", ...words, ...database], `${cli}/main.js`)
      const { status, stderr, stdout } = ChildProcess.spawnSync(process.execPath, args, { env })
      return { code: status, stderr: stderr.toString(), stdout }
    }
    const close = call("close", "--week", "2026-03-02", "--zone", "UTC")
    assert.strictEqual(close.code, 0, close.stderr)
    const file = (mapping: object, names: ReadonlyArray<string>, ...more: ReadonlyArray<string>) => {
      Fs.writeFileSync(`${folder}/mapping.json`, JSON.stringify(mapping))
      const codes = names.map((name, at) => `user,${501 + at},00${501 + at},${name}\n`)
      Fs.writeFileSync(`${folder}/codes.csv`, `kind,id,code,last\n${codes.join("")}`)
      return call("file", "1.1", "--mapping", `${folder}/mapping.json`, "--codes", `${folder}/codes.csv`, ...more)
    }
    const noted = () => JSON.parse(call("show", "1", "--json").stdout.toString()).revisions[0].files.length
    return { file, folder, noted }
  })

  const form = {
    v: 1,
    by: ["user"],
    hours: "decimal:2",
    rounding: "halfUp",
    separator: ";",
    decimal: ",",
    columns: [
      { header: "Nr", value: "userCode" },
      { header: "Größe in €", of: "user", field: "last" },
      { header: "h", value: "hours" }
    ]
  }

  it.live("rounds hours punch by punch, as page 14 says, and as one sum without that", () =>
    Effect.gen(function*() {
      const { file } = yield* opened
      const names = ["Lee", "Levi"]
      const text = (mapping: object) => {
        const { code, stderr, stdout } = file(mapping, names)
        assert.strictEqual(code, 0, stderr)
        return stdout.toString()
      }
      const titles = "Nr;Größe in €;h\r\n"
      const byDay = {
        ...form,
        by: ["user", "day"],
        hoursOf: "punch",
        columns: [...form.columns, { header: "day", value: "date", format: "D.M." }]
      }

      assert.strictEqual(text(form), `${titles}00501;Lee;40,83\r\n00502;Levi;41,67\r\n`)
      assert.strictEqual(text({ ...form, hoursOf: "punch" }), `${titles}00501;Lee;40,85\r\n00502;Levi;41,65\r\n`)
      for (const mapping of [{ ...form, hoursOf: "punch", addUp: "user" }, byDay]) {
        const { code, stderr, stdout } = file(mapping, names)
        assert.deepStrictEqual([code, stdout.toString()], [2, ""])
        assert.match(stderr, /hoursOf: .*write "addUp": "row"/)
      }
      const rows = ["00501;Lee;8,17", "00502;Levi;8,33"].flatMap((row) =>
        [2, 3, 4, 5, 6].map((day) => `${row};${day}.3.\r\n`)
      )
      assert.strictEqual(text({ ...byDay, addUp: "row" }), ["Nr;Größe in €;h;day\r\n", ...rows].join(""))
    }).pipe(Effect.scoped, Effect.provide(week)))

  it.live("writes each character of windows-1252 as its byte, to the disk and to a pipe, or names what it lacks", () =>
    Effect.gen(function*() {
      const { file, folder, noted } = yield* opened
      const ansi = { ...form, encoding: "windows-1252" }
      const output = ["--output", `${folder}/pay.csv`]
      // The second name has its umlaut in two parts.
      const names = ["Müßig €", "Lo\u0308w Š"]
      const expected = Buffer.from(
        "Nr;Gr\xf6\xdfe in \x80;h\r\n00501;M\xfc\xdfig \x80;40,83\r\n00502;L\xf6w \x8a;41,67\r\n",
        "latin1"
      )
      const piped = file(ansi, names)
      assert.deepStrictEqual([piped.code, piped.stdout], [0, expected], piped.stderr)
      const written = file(ansi, names, ...output)
      assert.deepStrictEqual([written.code, written.stdout], [0, Buffer.alloc(0)], written.stderr)
      assert.deepStrictEqual(Fs.readFileSync(`${folder}/pay.csv`), expected)
      assert.strictEqual(noted(), 1)
      for (const more of [[], ["--output", `${folder}/new.csv`], [...output, "--force"]]) {
        const refused = file(ansi, ["Lee", "Łuk"], ...more)
        assert.deepStrictEqual([refused.code, refused.stdout], [2, Buffer.alloc(0)])
        assert.match(refused.stderr, /row 2, column 2, "Łuk": windows-1252 has no "Ł"/)
      }
      assert.isFalse(Fs.existsSync(`${folder}/new.csv`))
      assert.deepStrictEqual(Fs.readFileSync(`${folder}/pay.csv`), expected)
      assert.strictEqual(noted(), 1)
    }).pipe(Effect.scoped, Effect.provide(week)))
})

const manifest = (): { readonly version: string } =>
  JSON.parse(Fs.readFileSync(Path.join(folder, "package/package.json"), "utf8"))

const chunks = () => Fs.readdirSync(cli).filter((name) => name.endsWith(".js"))

/** What the whole text of a licence has: from its grant to the end of its disclaimer. */
const phrasesOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  "MIT": [
    "Permission is hereby granted, free of charge, to any person obtaining a copy",
    "The above copyright notice and this permission notice shall be included in all",
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND",
    "OR OTHER DEALINGS IN THE SOFTWARE."
  ],
  "Apache-2.0": [
    "Apache License Version 2.0, January 2004",
    "2. Grant of Copyright License.",
    "3. Grant of Patent License.",
    "4. Redistribution.",
    "7. Disclaimer of Warranty.",
    "8. Limitation of Liability.",
    "END OF TERMS AND CONDITIONS"
  ],
  "BSD-3-Clause": [
    "Redistributions of source code must retain the above copyright notice",
    "Redistributions in binary form must reproduce the above copyright notice",
    "Neither the name of",
    "PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\" AND ANY EXPRESS OR IMPLIED WARRANTIES",
    "EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE."
  ],
  "0BSD": [
    "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.",
    "THE SOFTWARE IS PROVIDED \"AS IS\" AND THE AUTHOR DISCLAIMS ALL WARRANTIES",
    "USE OR PERFORMANCE OF THIS SOFTWARE."
  ]
}

const codeOf = (chunk: string) => Fs.readFileSync(Path.join(cli, chunk), "utf8")

describe("the bundle of the command", () => {
  it("is all that dist/cli has, with an entry that a shell can run", () => {
    assert.deepStrictEqual(Fs.readdirSync(cli).filter((name) => !name.endsWith(".js")), ["LICENSES.txt"])
    assert.match(codeOf("main.js"), /^#!\/usr\/bin\/env node\n/)
    assert.strictEqual(Fs.statSync(`${cli}/main.js`).mode & 0o111, 0o111)
  })

  it("imports its own files and modules of Node, by their names with node:", () => {
    const stray = chunks().flatMap((chunk) =>
      importsOf(codeOf(chunk))
        .filter((id) => !id.startsWith("node:") && !(id.startsWith("./") && chunks().includes(id.slice(2))))
        .map((id) => `${chunk}: ${id}`)
    )

    assert.deepStrictEqual(stray, [])
  })

  it("loads undici, the sandbox, the checks, the charts, the copy and payroll files only where a command needs them", () => {
    const eager = new Set<string>()
    const visit = (chunk: string) => {
      if (eager.has(chunk)) return
      eager.add(chunk)
      importsOf(codeOf(chunk), "static").filter((id) => id.startsWith("./")).forEach((id) => visit(id.slice(2)))
    }
    // The entry checks the version of Node, then imports the program, whose chunk has a number of the bundler.
    const [, program = ""] = /import\([`"]\.\/([^`"]+)[`"]\)/.exec(codeOf("main.js")) ?? []
    assert.include(chunks(), program)
    visit(program)
    assert.includeMembers([...eager], ["start.js"])
    const late = chunks().filter((chunk) => !eager.has(chunk))

    assert.includeMembers(late, ["Undici.js", "sandbox.js", "doctor.js", "report.js", "store.js"])
    assert.lengthOf(late.filter((chunk) => modulesOf(chunk).includes("src/payroll/PayrollFile.ts")), 1)
  })

  it("has one copy of each module", () => {
    const modules = chunks().flatMap(modulesOf)

    assert.isAbove(modules.length, 150)
    assert.lengthOf(modules, new Set(modules).size)
  })

  it("names every package in it with its licence, and the notices within their code", async () => {
    const text = Fs.readFileSync(`${cli}/LICENSES.txt`, "utf8")
    const sections = text.split(`${"=".repeat(80)}\n`).slice(1)
    const bundled = new Set(
      chunks().flatMap((chunk) =>
        modulesOf(chunk).flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
      )
    )
    // The helpers between the modules are the bundler's.
    const versions = await Promise.all([...bundled, "rolldown"].map(versionOf))

    assert.includeMembers([...bundled], ["effect", "@effect/platform-node", "undici"])
    assert.deepStrictEqual(
      sections.map((section) => /^(\S+) (\S+) \(.*\)\n/.exec(section)?.slice(1, 3).join("@")).toSorted(),
      versions.toSorted()
    )
    for (const section of sections) {
      const [, licence = ""] = /^\S+ \S+ \((.*)\)\n/.exec(section) ?? []
      const words = section.replaceAll(/\s+/g, " ")
      assert.match(words, /Copyright (?:\(c\)|©|\d{4}|[A-Z])/i, section.slice(0, 100))
      const phrases = phrasesOf[licence]
      if (phrases === undefined) assert.fail(`no phrases are known of the licence ${licence}`)
      for (const phrase of phrases) assert.include(words, phrase)
    }
    for (const name of ["Paolo Insogna", "Robert Kieffer", "Einar Otto Stangvik"]) assert.include(text, name)
  })

  it("has the size that its page says", () => {
    const page = Fs.readFileSync(Path.join(folder, "package/docs/performance.md"), "utf8")
    const said = Number(/The command is ([\d.]+) MB/.exec(page)?.[1])
    const size = chunks().reduce((total, chunk) => total + Fs.statSync(Path.join(cli, chunk)).size, 0) / 1e6

    assert.closeTo(size, said, said * 0.15)
  })

  it("starts within twelve times the cpu of an empty program", async () => {
    // Prints the cpu time of all threads. The page has the ratio; this fails only far beyond it.
    const hook = Path.join(folder, "cpu.cjs")
    Fs.writeFileSync(
      hook,
      `process.on("exit", () => {
        const { system, user } = process.cpuUsage()
        require("node:fs").writeSync(2, String(system + user))
      })`
    )
    const cpuOf = async (...args: ReadonlyArray<string>) => {
      const { code, stderr } = await run(process.execPath, ["--require", hook, ...args], { cwd: folder })
      assert.strictEqual(code, 0, stderr)
      return Number(stderr)
    }
    const ratios: Array<number> = []
    for (let round = 0; round < 9; round++) {
      const empty = await cpuOf("-e", "0")
      ratios.push(await cpuOf(`${cli}/main.js`, "--help") / empty)
    }

    assert.isBelow(ratios.toSorted((a, b) => a - b)[4] ?? Infinity, 12, ratios.join(" "))
  })
})

describe("the build of the command", () => {
  /** Bundles a program that imports one package, with the configuration of the command. */
  const bundle = async (files: Readonly<Record<string, string>>) => {
    const project = Fs.mkdtempSync(Path.join(folder, "build-"))
    for (const [name, text] of Object.entries(files)) {
      Fs.mkdirSync(Path.join(project, Path.dirname(name)), { recursive: true })
      Fs.writeFileSync(Path.join(project, name), text)
    }
    const { output: _output, ...input } = config
    const options: InputOptions = { ...input, input: Path.join(project, "main.js"), cwd: project }
    await using build = await rolldown(options)
    return await build.generate({ format: "esm" })
  }
  const program = {
    "package.json": `{ "name": "program", "version": "1.0.0" }`,
    "LICENSE": "Terms of the program",
    "main.js": `import { value } from "dependency"\nconsole.log(value)`,
    "node_modules/dependency/package.json": `{ "name": "dependency", "version": "2.3.4", "main": "index.js" }`,
    "node_modules/dependency/index.js": "export const value = Math.random()"
  }

  it("writes down the licence of what it bundles", async () => {
    const { output } = await bundle({ ...program, "node_modules/dependency/LICENCE.md": "Terms of the dependency" })
    const licences = output.find(({ fileName }) => fileName === "LICENSES.txt")

    assert.strictEqual(licences?.type, "asset")
    assert.match(
      `${licences?.type === "asset" && licences.source}`,
      /^dependency 2\.3\.4 .*\n\nTerms of the dependency$/m
    )
  })

  it("fails where a bundled package has no licence text", async () => {
    await expect(bundle(program)).rejects.toThrow(/dependency is bundled and has no licence text/)
  })

  it("fails where an import would stay outside", async () => {
    await expect(bundle({ ...program, "main.js": `import "not-there"` })).rejects.toThrow(/not-there/)
    await expect(
      bundle({ ...program, "main.cjs": `try { require("not-there") } catch {}`, "main.js": `import "./main.cjs"` })
    ).rejects.toThrow(/imports what is not in the bundle: not-there/)
  })
})
