/** What the library adds to a bundle of esbuild and of rolldown, and how long it takes to import. */
import { build, type BuildOptions } from "esbuild"
import { spawnSync } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { median } from "./measure.ts"

export interface SizeRow {
  readonly what: string
  readonly esbuild: number
  readonly rolldown: number
}

const imports = `
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { CompanyId, Credentials, Endpoints, TimePunches } from "effect-time-punches"
`

/** An application with a hand-written loop: Effect's client, a stream over pages, a schema with one tagged error. */
const withoutLibrary = `
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
class Broken extends Schema.TaggedError("app/Broken")("Broken", { page: Schema.Int }) {}
const Page = Schema.Struct({
  next: Schema.OptionFromNullOr(Schema.String),
  data: Schema.Array(Schema.Struct({ id: Schema.Int.pipe(Schema.brand("Id")), at: Schema.DateTimeUtcFromString }))
})
class Punches extends Context.Service()("app/Punches") {
  static layer = Layer.effect(Punches, Effect.map(HttpClient.HttpClient, (client) => ({
    list: Stream.paginate("", (cursor) => client.get("/punches?cursor=" + cursor).pipe(
      Effect.flatMap((response) => response.json),
      Effect.flatMap(Schema.decodeUnknownEffect(Page)),
      Effect.mapBoth({ onFailure: () => new Broken({ page: 1 }), onSuccess: ({ data, next }) => [data, next] })
    ))
  })))
}
export default {
  fetch: async () => new Response(String(await Effect.runPromise(
    Punches.use(({ list }) => Stream.runCount(list)).pipe(Effect.provide(Layer.provide(Punches.layer, FetchHttpClient.layer)))
  )))
}`

const entries = {
  worker: `${imports}
const live = (env) => TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(env.TOKEN))),
  Layer.provide(Endpoints.layer({ baseUrl: env.URL })),
  Layer.provide(FetchHttpClient.layer)
)
export default {
  fetch: async (_, env) =>
    new Response(String(await Effect.runPromise(TimePunches.list(CompanyId.make(7)).pipe(Stream.runCount, Effect.provide(live(env))))))
}`,
  promise: `import { makeClient } from "effect-time-punches/promise"
export default {
  fetch: async (_, env) => {
    const client = makeClient({ baseUrl: env.URL, companyId: 7, credentials: { accessToken: env.TOKEN } })
    let count = 0
    for await (const _ of client.list()) count++
    await client.close()
    return new Response(String(count))
  }
}`,
  single: `import { CompanyId } from "effect-time-punches"\nexport default CompanyId.make(7)`
}

const root = join(import.meta.dirname, "..")
const isEffect = (id: string) => id === "effect" || id.startsWith("effect/")

const gzipped = (code: string | Uint8Array | undefined): number => gzipSync(code ?? "", { level: 9 }).length

const withProject = async <A>(use: (dir: string) => Promise<A>): Promise<A> => {
  const dir = await mkdtemp(join(tmpdir(), "time-punches-size-"))
  try {
    await writeFile(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }))
    await mkdir(join(dir, "node_modules/effect-time-punches"), { recursive: true })
    await symlink(join(root, "node_modules/effect"), join(dir, "node_modules/effect"))
    for (const part of ["dist", "package.json"]) {
      await symlink(join(root, part), join(dir, "node_modules/effect-time-punches", part))
    }
    return await use(dir)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Parts that no bundler can leave out, because one service has them all, with the files of each. */
const parts: ReadonlyArray<readonly [what: string, files: RegExp]> = [
  [
    "OAuth: token endpoint and cache",
    /effect-time-punches\/dist\/(Token(Cache|Endpoint)|internal\/resilience\/tokenState)\.js$/
  ],
  [
    "backfill",
    /effect-time-punches\/dist\/(Backfill|backfill\/\w+)\.js$/
  ],
  ["effect/Config, for the layers that read the environment", /effect\/dist\/Config\.js$/],
  ["metrics and log lines", /effect-time-punches\/dist\/internal\/telemetry\/(metrics|tracing)\.js$/],
  ["the errors as schemas", /effect-time-punches\/dist\/ApiError\.js$/],
  ["the straight-line decoder", /effect-time-punches\/dist\/internal\/wire\/decoder\.js$/]
]

export interface PartRow {
  readonly what: string
  readonly bytes: number
}

/** How esbuild bundles what is measured. */
const minified: BuildOptions = {
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  preserveSymlinks: true
}

/** The size, minified by esbuild and gzipped, with `external` left out and the files of `empty` emptied. */
const byEsbuild = async (entry: string, external: ReadonlyArray<string>, empty?: RegExp): Promise<number> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    ...minified,
    external: [...external],
    // esbuild warns about each name that is imported from an empty file.
    logLevel: "error",
    write: false,
    plugins: empty === undefined ? [] : [{
      name: "leave-out",
      setup: (bundler) => bundler.onLoad({ filter: empty }, () => ({ contents: "module.exports = {}", loader: "js" }))
    }]
  })
  return gzipped(outputFiles[0]?.contents)
}

/** What each part adds to the worker app: its size minus that of the app with the files of the part emptied. */
const partSizes = async (dir: string): Promise<ReadonlyArray<PartRow>> => {
  const entry = join(dir, "entry.js")
  await writeFile(entry, entries.worker)
  const whole = await byEsbuild(entry, [])
  const rows: Array<PartRow> = []
  for (const [what, files] of parts) rows.push({ what, bytes: whole - await byEsbuild(entry, [], files) })
  return rows
}

/** The minified bytes of the worker app without `effect`, by the folders of the library. */
const roomSizes = async (dir: string): Promise<ReadonlyArray<PartRow>> => {
  const entry = join(dir, "entry.js")
  await writeFile(entry, entries.worker)
  const { metafile, outputFiles } = await build({
    entryPoints: [entry],
    ...minified,
    external: ["effect", "effect/*"],
    metafile: true,
    write: false
  })
  const [output] = Object.values(metafile.outputs)
  const rooms = new Map<string, number>()
  for (const [file, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    const [, room = ""] = /effect-time-punches\/dist\/((?:\w+\/)*)\w+\.js$/.exec(file) ?? []
    const name = room === "" ? "names and service, `src/*.ts`" : `\`src/${room}\``
    rooms.set(name, (rooms.get(name) ?? 0) + bytesInOutput)
  }
  // A bundler keeps those of each file where `effect` stays outside.
  const lines = outputFiles[0]?.text.match(/import[^;"]*"effect[^"]*";/g) ?? []
  return [
    ...[...rooms].map(([what, bytes]) => ({ what, bytes })).toSorted((a, b) => b.bytes - a.bytes),
    { what: "of all these, lines that import `effect`", bytes: lines.join("").length }
  ]
}

const sizes = (dir: string) => async (what: string, source: string, own: boolean): Promise<SizeRow> => {
  const entry = join(dir, "entry.js")
  await writeFile(entry, source)
  const bundle = await rolldown({
    input: entry,
    platform: "neutral",
    external: own ? isEffect : [],
    resolve: { mainFields: ["module", "main"], conditionNames: ["import", "default"], symlinks: false }
  })
  const { output } = await bundle.generate({ format: "esm", minify: true })
  return {
    what,
    esbuild: await byEsbuild(entry, own ? ["effect", "effect/*"] : []),
    rolldown: gzipped(output[0].code)
  }
}

export interface ImportRow {
  /** What the library needs of `effect`, imported first, then the library: milliseconds each. */
  readonly effect: number
  readonly ours: number
  /** The same library as one file: the cost of its code without that of its files. */
  readonly oneFile: number
  /** The entry of promises. */
  readonly promise: number
}

/** Milliseconds for what the library needs of `effect`, then for the library on top, each in a fresh process. */
const importTimes = async (dir: string): Promise<ImportRow> => {
  await build({
    entryPoints: [join(root, "dist/index.js")],
    bundle: true,
    format: "esm",
    platform: "neutral",
    external: ["effect", "effect/*"],
    outfile: join(dir, "one.mjs")
  })
  const modules = await Promise.all(
    (await readdir(join(root, "dist"), { recursive: true }))
      .filter((name) => /^(internal\/)?[\w]+\.js$/.test(name))
      .map((name) => readFile(join(root, "dist", name), "utf8"))
  )
  const needed = [
    ...new Set(modules.flatMap((code) => [...code.matchAll(/from "(effect\/[\w/]+)"/g)].map(([, id]) => id)))
  ]
  const times = (library: string): readonly [effect: number, library: number] => {
    const script = `const s = performance.now()
      for (const id of ${JSON.stringify(needed)}) await import(id)
      const t = performance.now()
      await import(${JSON.stringify(library)})
      console.log(JSON.stringify([t - s, performance.now() - t]))`
    const { stdout } = spawnSync(process.execPath, ["--preserve-symlinks", "--input-type=module", "-e", script], {
      cwd: dir,
      encoding: "utf8"
    })
    return JSON.parse(stdout)
  }
  const files = Array.from({ length: 9 }, () => times("effect-time-punches"))
  const oneFile = Array.from({ length: 9 }, () => times("./one.mjs"))
  const promise = Array.from({ length: 9 }, () => times("effect-time-punches/promise"))
  return {
    effect: median(files.map(([effect]) => effect)),
    ours: median(files.map(([, ours]) => ours)),
    oneFile: median(oneFile.map(([, ours]) => ours)),
    promise: median(promise.map(([, ours]) => ours))
  }
}

export interface Sizes {
  readonly sizes: ReadonlyArray<SizeRow>
  readonly parts: ReadonlyArray<PartRow>
  readonly rooms: ReadonlyArray<PartRow>
  readonly imports: ImportRow
}

export const size = (): Promise<Sizes> =>
  withProject(async (dir) => {
    const sizeOf = sizes(dir)
    const rows = [
      await sizeOf("worker app, effect included", entries.worker, false),
      await sizeOf("worker app, effect left out", entries.worker, true),
      await sizeOf("the same by promises, effect included", entries.promise, false),
      await sizeOf("the same by promises, effect left out", entries.promise, true),
      await sizeOf("one function, effect left out", entries.single, true),
      await sizeOf("a loop over pages without the library", withoutLibrary, false)
    ]
    return { sizes: rows, parts: await partSizes(dir), rooms: await roomSizes(dir), imports: await importTimes(dir) }
  })
