/**
 * What a call of the command loads, by the modules of its files: the start of each call waits for them. `loaded.txt` has the list;
 * `npx vitest run test/cli/loaded.test.ts -u` writes it again.
 */
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { bundle, modulesOf } from "./bundle.ts"
import { ended, environmentOf, started } from "./child.ts"
import { temporaryFolder } from "./support.ts"

const served = FakeServer.layer().pipe(
  Layer.provideMerge(
    FakeService.layer({ punches: generatePunches({ seed: 1, count: 3, companyId: defaultCompany.id }) })
  )
)

interface Loaded {
  /** The modules of the files, by their paths. */
  readonly modules: ReadonlySet<string>
  readonly bytes: number
  /** Whether it has asked V8 for one speed: docs/performance.md. */
  readonly asksV8: boolean
}

/** Runs a call, and reads the files of the bundle that it has loaded. */
const loadedBy = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>> = {}
) {
  const folder = yield* temporaryFolder
  const list = Path.join(folder, "loaded")
  const env = {
    ...environmentOf((yield* FakeServer).url),
    ...variables,
    NODE_OPTIONS: `--import=${new URL("loads.mjs", import.meta.url).href}`,
    LOADED: list
  }
  const { code, stderr } = yield* Effect.flatMap(started(args, env), ended)
  assert.strictEqual(code, 0, stderr)
  const urls = Fs.readFileSync(list, "utf8").split("\n")
  const files = urls.filter((url) => url.startsWith("file:")).map((url) => fileURLToPath(url))
    .filter((file) => file.startsWith(Path.dirname(bundle)))
  return {
    modules: new Set(files.flatMap(modulesOf)),
    bytes: files.reduce((sum, file) => sum + Fs.statSync(file).size, 0),
    asksV8: urls.includes("node:v8")
  } satisfies Loaded
})

/** The modules of `src` by name, and how many each package has. */
const listed = (title: string, modules: ReadonlyArray<string>): ReadonlyArray<string> => {
  const packages = new Map<string, number>()
  for (const path of modules) {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
    if (name !== undefined) packages.set(name, (packages.get(name) ?? 0) + 1)
  }
  return [
    title,
    ...modules.filter((path) => path.startsWith("src/")).toSorted().map((path) => `  ${path}`),
    ...[...packages].toSorted().map(([name, count]) => `  ${name}: ${count} modules`),
    ""
  ]
}

describe("the files that a call loads", () => {
  it.live("are those of loaded.txt, for help, a listing and sums of a copy", () =>
    Effect.gen(function*() {
      const copy = Path.join(yield* temporaryFolder, "punches.db")
      const help = yield* loadedBy(["--help"])
      const list = yield* loadedBy(["list"])
      const sync = yield* loadedBy(["sync", "--database", copy])
      const summary = yield* loadedBy(["summary", "--database", copy])
      const beyond = ({ modules }: Loaded) => [...modules].filter((path) => !help.modules.has(path))

      assert.isAtMost(help.bytes, 1_000_000)
      assert.isFalse(help.asksV8)
      assert.isTrue(list.asksV8 && sync.asksV8)
      assert.includeMembers(beyond(sync), ["src/sync/Sync.ts"])
      for (const late of ["src/TimePunch.ts", "src/TimePunches.ts", "src/payroll/Labor.ts", "src/sql/SqlStore.ts"]) {
        assert.notInclude([...help.modules], late)
      }
      yield* Effect.promise(() =>
        expect([
          ...listed("time-punches --help", [...help.modules]),
          ...listed("time-punches list, beside those", beyond(list)),
          ...listed("time-punches summary --database, beside those of --help", beyond(summary))
        ].join("\n")).toMatchFileSnapshot("loaded.txt")
      )
    }).pipe(Effect.scoped, Effect.provide(served)), 60_000)

  it.live("have the exporter for a collector only if the call sends to one", () =>
    Effect.gen(function*() {
      const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" }
      const calls = [
        [["--help"], collector],
        [["list"], collector],
        [["export", "--output", "-"], {}],
        [["export", "--output", "-"], collector]
      ] as const
      const loaded = yield* Effect.forEach(calls, ([args, variables]) => loadedBy(args, variables), { concurrency: 2 })

      assert.deepStrictEqual(
        loaded.map(({ modules }) => modules.has("src/cli/telemetry/otlp.ts")),
        [false, false, false, true]
      )
    }).pipe(Effect.scoped, Effect.provide(served)), 60_000)
})
