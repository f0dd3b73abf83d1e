/** The package as its users get it: packed, installed into an empty project, compiled, run and bundled. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Ran, run } from "./run.ts"

const root = join(import.meta.dirname, "../..")
let project = ""

const sh = async (command: string, ...args: ReadonlyArray<string>): Promise<Ran> => {
  const ran = await run(command, args, { cwd: project })
  assert.strictEqual(ran.code, 0, `${command} ${args.join(" ")}\n${ran.stdout}\n${ran.stderr}`)
  return ran
}

const bin = (name: string) => join(project, "node_modules/.bin", name)

const versionOf = async (name: string): Promise<string> => {
  const lock: { readonly packages: Record<string, { readonly version?: string }> } = JSON.parse(
    await readFile(join(root, "package-lock.json"), "utf8")
  )
  return `${name}@${lock.packages[`node_modules/${name}`]?.version ?? "latest"}`
}

const consumer = `
import { Effect, Layer, Option, Redacted, Stream } from "effect"
import { CompanyId, Credentials, Endpoints, type ListError, TimePunches, WorkedTime } from "effect-time-punches"
import { toNdjson } from "effect-time-punches/export"
import { defaultCompany, FakeService, generatePunches } from "effect-time-punches/testing"
import { UserId } from "effect-time-punches/Ids"

const company = CompanyId.make(defaultCompany.id)
const live = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
  Layer.provide(Endpoints.layer({ baseUrl: "https://punches.example.com/" })),
  Layer.provide(FakeService.layerClient),
  Layer.provide(FakeService.layer({ punches: generatePunches({ seed: 1, count: 450, companyId: company, deletedShare: 0 }) }))
)
const program: Effect.Effect<number, ListError, TimePunches> = TimePunches.list(company).pipe(
  Stream.filter((punch) => Option.isSome(WorkedTime.of(punch).durations) || punch.userId !== UserId.make(0)),
  Stream.runCount
)
const lines = TimePunches.list(company).pipe(toNdjson, Stream.runCount)
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

const single = `
import { CompanyId } from "effect-time-punches"
console.log(CompanyId.make(7))
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
  files: ["consumer.ts"]
})

const bundle = async (entry: string, ...flags: ReadonlyArray<string>) => {
  await sh(
    bin("esbuild"),
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
  project = await mkdtemp(join(tmpdir(), "time-punches-consumer-"))
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", project], { cwd: root })
  assert.strictEqual(packed.code, 0, packed.stderr)
  const tarball = join(project, packed.stdout.trim().split("\n").at(-1) ?? "")
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  await writeFile(join(project, "consumer.ts"), consumer)
  await writeFile(join(project, "worker.ts"), worker)
  await writeFile(join(project, "single.ts"), single)
  const tools = await Promise.all(["effect", "@effect/platform-node", "typescript", "@types/node"].map(versionOf))
  await sh(
    "npm",
    "install",
    "--no-audit",
    "--no-fund",
    tarball,
    ...tools,
    "esbuild@0.28.2",
    "publint@0.3.25",
    "@arethetypeswrong/cli@0.18.5"
  )
}, 300_000)

afterAll(() => rm(project, { recursive: true, force: true }))

describe("the packed package", () => {
  it.each([true, false])("compiles in a strict project with skipLibCheck %s, and runs", async (skipLibCheck) => {
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(tsconfig(skipLibCheck)))
    await sh(bin("tsc"), "-p", "tsconfig.json")
    const { stdout } = await sh(process.execPath, "out/consumer.js")

    assert.strictEqual(stdout, "rows 450\nchunks true\n")
  }, 120_000)

  it("runs on Node 22", async () => {
    await mkdir(join(project, "node22"))
    await writeFile(
      join(project, "node22/package.json"),
      JSON.stringify({ private: true, allowScripts: { node: true } })
    )
    await sh("npm", "install", "--no-audit", "--no-fund", "--prefix", "node22", "node@22")
    const { stdout } = await sh(join(project, "node22/node_modules/node/bin/node"), "out/consumer.js")

    assert.strictEqual(stdout, "rows 450\nchunks true\n")
  }, 300_000)

  it("has a command that runs beside the optional peer", async () => {
    const { stdout } = await sh(process.execPath, bin("time-punches"), "--help")

    assert.include(stdout, "doctor")
  })

  it("keeps its internals closed", async () => {
    const { code, stderr } = await run(process.execPath, ["-e", "import('effect-time-punches/internal/walk')"], {
      cwd: project
    })

    assert.notStrictEqual(code, 0)
    assert.include(stderr, "ERR_PACKAGE_PATH_NOT_EXPORTED")
  })

  it("bundles for a worker without any node: module, and grows no further", async () => {
    const whole = await bundle("worker.ts", "--platform=neutral", "--main-fields=module,main", "--conditions=import")
    const own = await bundle("worker.ts", "--platform=neutral", "--external:effect", "--external:effect/*")

    assert.notMatch(whole.text, /(from|import|require)\s*\(?\s*["']node:/)
    // docs/performance.md has the sizes and what they should be; this only keeps them from growing.
    assert.isBelow(whole.gzipped, 80_000)
    assert.isBelow(own.gzipped, 22_000)
  }, 120_000)

  it("lets a bundler leave out what a program does not use", async () => {
    const own = await bundle("single.ts", "--platform=neutral", "--external:effect", "--external:effect/*")
    const main = await bundle("worker.ts", "--platform=neutral", "--external:effect", "--external:effect/*")

    assert.isBelow(own.gzipped, main.gzipped / 2)
  }, 120_000)

  it("has no complaint of publint and are-the-types-wrong", async () => {
    await sh(bin("publint"), "run", "node_modules/effect-time-punches", "--strict")
    await sh(bin("attw"), "--profile", "esm-only", "--pack", "node_modules/effect-time-punches")
  }, 120_000)
})
