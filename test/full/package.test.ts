/** The package as its users get it: packed, installed into an empty project, compiled, run and bundled. */
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { links } from "../docs/support/pages.ts"
import { bin, makeProject, succeed, versionOf } from "./project.ts"
import { run } from "./run.ts"

let project = ""
let tarball = ""

const sh = (command: string, ...args: ReadonlyArray<string>) => succeed(project, command, ...args)

const consumer = `
import { Effect, Layer, Option, Redacted, Stream } from "effect"
import { CompanyId, Credentials, Endpoints, type ListError, TimePunches } from "effect-time-punches"
import { WorkedTime } from "effect-time-punches/payroll"
import { Ndjson } from "effect-time-punches/export"
import { defaultCompany, FakeService, generatePunches } from "effect-time-punches/testing"
import { UserId } from "effect-time-punches"

const company = CompanyId.make(defaultCompany.id)
const live = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
  Layer.provide(Endpoints.layer({ baseUrl: "https://punches.example.com/" })),
  Layer.provide(FakeService.layerClient),
  Layer.provide(FakeService.layer({ punches: generatePunches({ seed: 1, count: 450, companyId: company, deletedShare: 0 }) }))
)
const program: Effect.Effect<number, ListError, TimePunches> = TimePunches.list(company).pipe(
  Stream.filter((punch) => Option.isSome(WorkedTime.measure(punch).durations) || punch.userId !== UserId.make(0)),
  Stream.runCount
)
const lines = TimePunches.list(company).pipe(Ndjson.encode, Stream.runCount)
console.log("rows", await Effect.runPromise(Effect.provide(program, live)))
console.log("chunks", (await Effect.runPromise(Effect.provide(lines, live))) > 0)
`

const worker = `
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { CompanyId, Credentials, Endpoints, TimePunches } from "effect-time-punches"
const live = (env: { TOKEN: string; URL: string }) => TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(env.TOKEN))),
  Layer.provide(Endpoints.layer({ baseUrl: env.URL })),
  Layer.provide(FetchHttpClient.layer)
)
export default {
  fetch: async (_: Request, env: { TOKEN: string; URL: string }) => {
    const count = await Effect.runPromise(TimePunches.list(CompanyId.make(7)).pipe(Stream.runCount, Effect.provide(live(env))))
    return new Response(String(count))
  }
}
`

/** Every entry, so that a compiler that checks declarations reads all of them. */
const every = async (): Promise<string> => {
  const manifest: { readonly exports: Readonly<Record<string, unknown>> } = JSON.parse(
    await readFile(join(import.meta.dirname, "../../package.json"), "utf8")
  )
  const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
    target === null || /[*]|json$/.test(path) ? [] : [`effect-time-punches${path.slice(1)}`]
  )
  return entries.map((entry, at) => `export * as entry${at} from "${entry}"`).join("\n")
}

const single = `
import { CompanyId } from "effect-time-punches"
console.log(CompanyId.make(7))
`

/** Builds the layers that need the peer, and prints why each cannot be built. */
const bareProgram = `
import { Cause, Effect, Layer } from "effect"
import { NodeTransport } from "effect-time-punches/node"
import { FakeService } from "effect-time-punches/testing"
import { FakeServer } from "effect-time-punches/testing/node"
const server = FakeServer.layer().pipe(Layer.provide(FakeService.layer({ punches: [] })))
for (const layer of [NodeTransport.layer(), server]) {
  const cause = await Effect.runPromise(Effect.scoped(Effect.flip(Effect.sandbox(Layer.build(layer)))))
  console.log(Cause.squash(cause).message)
}
`

const tsconfig = (skipLibCheck: boolean) => ({
  compilerOptions: {
    target: "es2023",
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck,
    types: ["node"],
    outDir: "out"
  },
  files: ["consumer.ts", "copy.ts", "compositions.ts", "every.ts"]
})

/** Compilers that page 1 names, by the folder that npm installs them in. */
const compilers = [["7.0", "typescript"], ["5.9", "typescript-before"]] as const

const bundle = async (entry: string, ...flags: ReadonlyArray<string>) => {
  await sh(
    bin(project, "esbuild"),
    entry,
    "--bundle",
    "--format=esm",
    "--minify",
    "--outfile=bundle.js",
    "--metafile=meta.json",
    ...flags
  )
  const code = await readFile(join(project, "bundle.js"))
  return { text: code.toString("utf8"), gzipped: gzipSync(code, { level: 9 }).length }
}

beforeAll(async () => {
  const tools = await Promise.all(["effect", "@effect/platform-node", "typescript", "@types/node"].map(versionOf))
  const copy = await readFile(join(import.meta.dirname, "copy.program.ts"), "utf8")
  const compositions = await readFile(join(import.meta.dirname, "compositions.program.ts"), "utf8")
  const files = {
    "consumer.ts": consumer,
    "every.ts": await every(),
    "copy.ts": copy,
    "compositions.ts": compositions,
    "worker.ts": worker,
    "single.ts": single
  }
  const checkers = [
    "typescript-before@npm:typescript@~5.9.0",
    "esbuild@0.28.2",
    "publint@0.3.25",
    "@arethetypeswrong/cli@0.18.5"
  ]
  const made = await makeProject(files, [...tools, ...checkers])
  project = made.folder
  tarball = made.tarball
})

afterAll(() => rm(project, { recursive: true, force: true }))

describe("the packed package", () => {
  it.each([true, false])("compiles in a strict project with skipLibCheck %s, and runs", async (skipLibCheck) => {
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(tsconfig(skipLibCheck)))
    await sh(bin(project, "tsc"), "-p", "tsconfig.json")
    const { stdout } = await sh(process.execPath, "out/consumer.js")

    assert.strictEqual(stdout, "rows 450\nchunks true\n")
  })

  it.each(compilers)("compiles with TypeScript %s and the settings of page 1", async (version, name) => {
    const docs = join(project, "node_modules/effect-time-punches/docs")
    const page = await readFile(join(docs, "01-start.md"), "utf8")
    const settings: object = JSON.parse(/^```json\n([^]*?)^```$/m.exec(page)?.[1] ?? "")
    const { version: installed }: { readonly version: string } = JSON.parse(
      await readFile(join(project, "node_modules", name, "package.json"), "utf8")
    )
    // A file below node_modules is never checked as one of the project.
    const examples = ["app.ts", "http-api.ts", "http-server.ts", "http-stream.ts", "start.ts"]
    for (const example of examples) await cp(join(docs, "examples", example), join(project, example))
    await writeFile(join(project, "tsconfig.page.json"), JSON.stringify({ ...settings, files: examples }))

    assert.isTrue(installed.startsWith(`${version}.`), installed)
    assert.include(page, version)
    await sh(process.execPath, join("node_modules", name, "bin/tsc"), "-p", "tsconfig.page.json")
  })

  it("has a client whose declarations need no package, in a program without Effect", async () => {
    const bare = await mkdtemp(join(tmpdir(), "time-punches-plain-"))
    onTestFinished(() => rm(bare, { recursive: true, force: true }))
    await cp(join(project, "node_modules/effect-time-punches"), join(bare, "node_modules/effect-time-punches"), {
      recursive: true
    })
    await symlink(join(project, "node_modules/@types"), join(bare, "node_modules/@types"))
    await cp(join(project, "node_modules/effect-time-punches/docs/examples/promises.ts"), join(bare, "promises.ts"))
    const { compilerOptions } = tsconfig(false)
    await writeFile(
      join(bare, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...compilerOptions, noEmit: true }, files: ["promises.ts"] })
    )

    for (const [, name] of compilers) {
      await sh(process.execPath, join("node_modules", name, "bin/tsc"), "-p", join(bare, "tsconfig.json"))
    }
  })

  it("has the mappings that payroll file --example prints", async () => {
    const run = join(project, "node_modules/.bin/time-punches")
    const { stdout } = await sh(run, "payroll", "file", "--example", "days")

    assert.deepStrictEqual(JSON.parse(stdout).by, ["user", "day"])
  })

  it("links from its pages only to files that it has", async () => {
    const top = join(project, "node_modules/effect-time-punches")
    const files = await readdir(top, { recursive: true })
    const pages = files.filter((path) => /\.md$|^llms.*\.txt$/.test(path))
    const targets = await Promise.all(
      pages.map(async (path) => links({ path, text: await readFile(join(top, path), "utf8") }))
    )
    const missing = targets.flat().map(({ file }) => file).filter((file) => !files.includes(file))

    assert.isAbove(targets.flat().length, 100)
    assert.deepStrictEqual([...new Set(missing)].toSorted(), [
      // The declarations in `dist` say the same.
      "docs/api/listing.txt",
      // Of 130 kB, and the page says in words what it shows.
      "docs/images/fleet-1440.png"
    ])
  })

  it("keeps a copy in SQLite, beside the optional peer alone", async () => {
    const { stdout } = await sh(process.execPath, "--disable-warning=ExperimentalWarning", "out/copy.js")

    assert.strictEqual(stdout, "written 450 rows 450 missing 1\n")
  })

  it("names the optional peer that is missing, and what installs it, where it is first used", async () => {
    const bare = await mkdtemp(join(tmpdir(), "time-punches-bare-"))
    onTestFinished(() => rm(bare, { recursive: true, force: true }))
    const installed = join(bare, "node_modules/effect-time-punches")
    await cp(join(project, "node_modules/effect-time-punches"), installed, { recursive: true })
    await symlink(join(project, "node_modules/effect"), join(bare, "node_modules/effect"))
    await writeFile(join(bare, "bare.mjs"), bareProgram)
    const { peerDependencies }: { readonly peerDependencies: Record<string, string> } = JSON.parse(
      await readFile(join(installed, "package.json"), "utf8")
    )
    const { code, stderr, stdout } = await run(process.execPath, ["bare.mjs"], { cwd: bare })

    const name = "@effect/platform-node"
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(
      stdout.trimEnd().split("\n"),
      ["node", "testing/node"].map((subpath) =>
        `effect-time-punches/${subpath} needs ${name}: npm install ${name}@${peerDependencies[name]}`
      )
    )
  })

  it("has a command that runs beside the optional peer", async () => {
    const { stdout } = await sh(process.execPath, bin(project, "time-punches"), "--help")

    assert.include(stdout, "doctor")
  })

  it.each(["internal/walk", "Ids", "ApiError", "index", "sql/store"])(
    "keeps its internals closed: %s",
    async (path) => {
      const { code, stderr } = await run(process.execPath, ["-e", `import('effect-time-punches/${path}')`], {
        cwd: project
      })

      assert.notStrictEqual(code, 0)
      assert.include(stderr, "ERR_PACKAGE_PATH_NOT_EXPORTED")
    }
  )

  it("bundles for a worker without any node: module, in the sizes that the results say", async () => {
    const whole = await bundle("worker.ts", "--platform=neutral", "--main-fields=module,main", "--conditions=import")
    const own = await bundle("worker.ts", "--platform=neutral", "--external:effect", "--external:effect/*")
    const results = await readFile(join(project, "node_modules/effect-time-punches/benchmarks/RESULTS.md"), "utf8")
    const said = (what: string) =>
      Number(new RegExp(`^\\| worker app, ${what} +\\| +([\\d ]+?) \\|`, "m").exec(results)?.[1]?.replaceAll(" ", ""))

    assert.notMatch(whole.text, /(from|import|require)\s*\(?\s*["']node:/)
    // `npm run bench -- size` writes them again.
    assert.closeTo(whole.gzipped, said("effect included"), 0.02 * whole.gzipped)
    assert.closeTo(own.gzipped, said("effect left out"), 0.02 * own.gzipped)
  })

  it("is imported in about the time that the results say, as a part of the time of effect", async () => {
    const results = await readFile(join(project, "node_modules/effect-time-punches/benchmarks/RESULTS.md"), "utf8")
    const [, effect = "", ours = ""] = /of `effect` takes (\d+) ms, the library on top ([\d.]+) ms/.exec(results) ?? []
    await writeFile(
      join(project, "times.js"),
      `const begun = performance.now()
      for (const name of ["Effect", "Stream", "Schema", "Layer", "Config", "http/HttpClient", "http/FetchHttpClient", "Cache", "Metric"])
        await import("effect/" + name)
      const between = performance.now()
      await import("effect-time-punches")
      console.log((performance.now() - between) / (between - begun))`
    )
    const ratios: Array<number> = []
    for (let i = 0; i < 5; i++) ratios.push(Number((await sh(process.execPath, "times.js")).stdout))

    // A busy machine: this fails only far beyond what the results say.
    assert.isBelow(Math.min(...ratios), (3 * Number(ours)) / Number(effect))
  })

  it("lets a bundler leave out what a program does not use", async () => {
    const own = await bundle("single.ts", "--platform=neutral", "--external:effect", "--external:effect/*")
    const main = await bundle("worker.ts", "--platform=neutral", "--external:effect", "--external:effect/*")

    assert.isBelow(own.gzipped, main.gzipped / 2)
  })

  it("has no complaint of publint and are-the-types-wrong", async () => {
    await sh(bin(project, "publint"), "run", "node_modules/effect-time-punches", "--strict")
    await sh(bin(project, "attw"), "--profile", "esm-only", tarball)
  })
})
