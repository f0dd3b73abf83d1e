/** The packed package on each runtime and by each package manager that people use: a listing, and the command. */
import { Layer, ManagedRuntime } from "effect"
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { environment } from "../docs/support/examples.ts"
import { bin, makeProject, versionOf } from "./project.ts"
import { run } from "./run.ts"

const count = 450
const punches = generatePunches({ seed: 1, count, companyId: defaultCompany.id, deletedShare: 0 })
const service = ManagedRuntime.make(FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches }))))

/** The binary of one Node, as its own package on the registry. */
const nodes = { old: "20.20.0", least: "22.19.0", usual: "24" }
const nodePackage = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`

const list = `
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { CompanyId, Credentials, Endpoints, TimePunches } from "effect-time-punches"
const live = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make("${defaultCompany.accessToken}"))),
  Layer.provide(Endpoints.layer({ baseUrl: process.env.TIME_PUNCHES_BASE_URL })),
  Layer.provide(FetchHttpClient.layer)
)
const rows = TimePunches.list(CompanyId.make(${defaultCompany.id})).pipe(Stream.runCount, Effect.provide(live))
console.log("rows", await Effect.runPromise(rows))
`

const nodeTransport = `
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { NodeTransport } from "effect-time-punches/node"
const built = await Effect.runPromise(Effect.result(Effect.scoped(Layer.build(NodeTransport.layer()))))
console.log(built._tag === "Failure" ? built.failure.message : "built")
`

/** The client that the authors of the Model Context Protocol publish, as an assistant uses it. */
const assistant = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
const args = ["node_modules/effect-time-punches/dist/cli/main.js", "mcp", "--database", "punches.db"]
const client = new Client({ name: "consumer", version: "1.0.0" })
await client.connect(new StdioClientTransport({ command: process.execPath, args, env: process.env }))
const { tools } = await client.listTools()
const call = (name, args = {}) => client.callTool({ name, arguments: args })
const status = await call("status")
const changes = await call("recent_changes", { kinds: "edited" })
const refused = await call("recent_changes", { since: "yesterday" })
await client.close()
console.log(JSON.stringify({
  tools: tools.map(({ name }) => name),
  rows: status.structuredContent.result.rows,
  changes: changes.structuredContent.result.events,
  refused: [refused.isError, refused.content[0].text]
}))
`

/** Runs the SQL of a file in DuckDB, and prints the rows of each statement. */
const duck = `
import { DuckDBInstance } from "@duckdb/node-api"
import { readFileSync } from "node:fs"
const connection = await (await DuckDBInstance.create()).connect()
const statements = readFileSync("days.sql", "utf8").split(";").filter((text) => text.trim() !== "")
const rows = []
for (const text of statements) rows.push((await connection.runAndReadAll(text)).getRowsJson())
console.log(JSON.stringify(rows))
`

/** Other package managers, whose bins have the same name. They differ in what they install of the peers of a peer. */
const managers = {
  "yarn-1": "npm:yarn@1.22.22",
  "yarn-4": "npm:@yarnpkg/cli-dist@4.18.1",
  pnpm: "11.28.11"
}

let folder = ""
let tarball = ""
let env: Record<string, string> = {}

beforeAll(async () => {
  const { url } = await service.runPromise(FakeServer)
  env = {
    TIME_PUNCHES_BASE_URL: url,
    TIME_PUNCHES_ACCESS_TOKEN: defaultCompany.accessToken,
    TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`
  }
  const runtimes = Object.entries(nodes).map(([name, version]) => `node-${name}@npm:${nodePackage}@${version}`)
  const tools = await Promise.all(["effect", "@effect/platform-node"].map(versionOf))
  const project = await makeProject({
    "list.js": list,
    "assistant.js": assistant,
    "transport.js": nodeTransport,
    "duck.js": duck
  }, [
    ...tools,
    ...runtimes,
    ...Object.entries(managers).map(([name, version]) => `${name}@${version}`),
    "bun@1.4.5",
    "deno@2.9.6",
    "@modelcontextprotocol/sdk@1.32.2",
    "@duckdb/node-api@1.5.6-r.1"
  ])
  ;({ folder, tarball } = project)
})

afterAll(async () => {
  await service.dispose()
  await rm(folder, { recursive: true, force: true })
})

const node = (name: keyof typeof nodes) => join(folder, `node_modules/node-${name}/bin/node`)

const runtimes: ReadonlyArray<readonly [string, () => ReadonlyArray<string>]> = [
  [`Node ${nodes.least}`, () => [node("least")]],
  [`Node ${nodes.usual}`, () => [node("usual")]],
  ["Bun", () => [bin(folder, "bun")]],
  ["Deno", () => [bin(folder, "deno"), "run", "--allow-all"]]
]

const start = ([command = "", ...flags]: ReadonlyArray<string>, ...args: ReadonlyArray<string>) =>
  run(command, [...flags, ...args], { cwd: folder, env })

/** The command as the package's `bin` names it. */
const command = "node_modules/effect-time-punches/dist/cli/main.js"

describe.each(runtimes)("the packed package on %s", (name, runtime) => {
  it("builds the transport for Node, or says what to provide in its place", async () => {
    const { stdout } = await start(runtime(), "transport.js")

    assert.include(stdout, name === "Bun" ? "Provide FetchHttpClient.layer instead" : "built")
  })

  it("lists over fetch", async () => {
    const { code, stderr, stdout } = await start(runtime(), "list.js")

    assert.deepStrictEqual([code, stdout], [0, `rows ${count}\n`], stderr)
  })

  it("runs the command", async () => {
    const { code, stderr, stdout } = await start(runtime(), command, "list", "--format", "ndjson")

    assert.strictEqual(code, 0, stderr)
    assert.lengthOf(stdout.trimEnd().split("\n"), count)
  })
})

const yarn4 = "yarn-4/bin/yarn.js"

describe.each([
  ["npm", "", []],
  ["yarn 1", "yarn-1/bin/yarn.js", []],
  // It resolves modules by a loader, and has no folder of modules.
  ["yarn 4", yarn4, [yarn4, "node"]],
  ["pnpm", "pnpm/bin/pnpm.mjs", []]
])("the programs of the README, installed by %s", (name, manager, runner) => {
  it("run", async () => {
    // Not in `folder`, in whose modules Node would find what a package manager did not install.
    const own = await mkdtemp(join(tmpdir(), `time-punches-${name.replace(" ", "-")}-`))
    onTestFinished(() => rm(own, { recursive: true, force: true }))
    const inModules = (path: string) => join(folder, "node_modules", path)
    const readme = await readFile(join(import.meta.dirname, "../../README.md"), "utf8")
    const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program = ""]) => program)
    await writeFile(join(own, "package.json"), JSON.stringify({ name: "own", private: true, type: "module" }))
    await writeFile(join(own, "yarn.lock"), "")
    const caches = {
      YARN_CACHE_FOLDER: join(own, "cache"),
      YARN_ENABLE_GLOBAL_CACHE: "false",
      YARN_ENABLE_TELEMETRY: "0",
      npm_config_store_dir: join(own, "store")
    }
    const settings = environment(env["TIME_PUNCHES_BASE_URL"] ?? "")
    const ran = async (command: string, ...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await run(command, args, { cwd: own, env: { ...settings, ...caches } })
      assert.strictEqual(code, 0, `${command} ${args.join(" ")}\n${stdout}\n${stderr}`)
      return stdout
    }
    const packages = ["effect@~4.1.0", "@effect/platform-node@~4.1.0"]
    const added = [`effect-time-punches@file:${tarball}`, ...packages]
    if (manager === "") await ran("npm", "install", "--no-audit", "--no-fund", tarball, ...packages)
    else await ran(process.execPath, inModules(manager), "add", ...added)
    const [start, ...flags] = runner
    const printed: Array<string> = []
    for (const program of programs) {
      await writeFile(join(own, "start.ts"), program)
      printed.push(
        await ran(process.execPath, ...(start === undefined ? [] : [inModules(start), ...flags]), "start.ts")
      )
    }

    assert.lengthOf(printed, 2)
    assert.match(printed[0] ?? "", /^(\d+ \S+Z (\S+Z|undefined)\n)+$/)
    assert.match(printed[1] ?? "", /^(user \d+: \d+\.\d\d h, \d+\.\d\d\n)+$/)
  })
})

describe("the server of an assistant", () => {
  it("answers the client that the protocol's authors publish", async () => {
    const synced = await start([node("usual")], command, "sync", "--history", "--database", "punches.db")
    assert.strictEqual(synced.code, 0, synced.stderr)
    const { code, stderr, stdout } = await start([node("usual")], "assistant.js")

    assert.strictEqual(code, 0, stderr)
    const { tools, ...answers } = JSON.parse(stdout)
    assert.includeMembers(tools, ["status", "summary", "payroll_check", "list", "recent_changes"])
    assert.deepStrictEqual(answers, {
      rows: count,
      changes: [],
      refused: [true, "since must be an instant with a zone, or the position of an earlier answer"]
    })
  })
})

describe("the exported files in DuckDB", () => {
  it("have the same local days in CSV, NDJSON and Parquet, by the SQL of the page", async () => {
    const page = await readFile(join(folder, "node_modules/effect-time-punches/docs/08-files.md"), "utf8")
    const [, sql = ""] = /## Local days in DuckDB\n[^]*?```sql\n([^]*?)```/.exec(page) ?? []
    const ofParquet = sql.split("\n").find((line) => line.includes("'punches.csv' GROUP"))?.replace("csv", "parquet")
    await writeFile(join(folder, "days.sql"), `${sql}${ofParquet}`)
    for (const form of ["csv", "ndjson"]) {
      const { code, stderr } = await start([node("usual")], command, "export", "--output", `punches.${form}`)
      assert.strictEqual(code, 0, stderr)
    }
    const { stderr, stdout } = await start([node("usual")], "duck.js")
    assert.strictEqual(stderr, "")
    const [, csv, ndjson, , parquet]: ReadonlyArray<ReadonlyArray<readonly [string, string]> | undefined> = JSON.parse(
      stdout
    )
    const days = new Map<string, number>()
    for (const { clocked_in } of punches) {
      const day = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format(new Date(clocked_in))
      days.set(day, (days.get(day) ?? 0) + 1)
    }
    const expected = [...days].map(([day, of]) => `${day},${of}`).toSorted()

    assert.isAbove(expected.length, 7)
    for (const rows of [csv, ndjson, parquet]) assert.deepStrictEqual(rows?.map(String).toSorted(), expected)
  })
})

describe("the command on a Node that is too old", () => {
  it("names the version that it needs, in one line", async () => {
    const { code, stderr, stdout } = await start([node("old")], command, "--help")

    assert.deepStrictEqual([code, stdout, stderr], [
      3,
      "",
      `time-punches needs Node 22.19 or later; this is Node ${nodes.old}\n`
    ])
  })
})

describe("the package that is published", () => {
  it("holds what was built, the documents, the licence and the policies", async () => {
    const files = await readdir(join(folder, "node_modules/effect-time-punches"), { recursive: true })

    assert.includeMembers(files, [
      "dist/index.js",
      "dist/index.d.ts",
      "dist/cli/main.js",
      "dist/testing/index.js",
      "docs/01-start.md",
      "docs/examples/start.ts",
      "src/index.ts",
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "LICENSE",
      "README.md",
      "SECURITY.md"
    ])
    assert.deepStrictEqual(
      files.filter((name) => /(^|\/)(test|benchmarks|reports|node_modules|src\/cli)\//.test(name)),
      // The page on performance has its figures from there.
      ["benchmarks/RESULTS.md"]
    )
  })

  it("has 8 MB or less, unpacked", async () => {
    const top = join(folder, "node_modules/effect-time-punches")
    const entries = await readdir(top, { recursive: true, withFileTypes: true })
    const sizes = await Promise.all(
      entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => stat(join(parentPath, name)))
    )

    assert.isAtMost(sizes.reduce((sum, { size }) => sum + size, 0), 8_000_000)
  })
})
