/** What the library adds to a bundle, and how long it takes to import: by esbuild and by rolldown. */
import { build } from "esbuild"
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

const sizes = (dir: string) => async (what: string, source: string, own: boolean): Promise<SizeRow> => {
  const entry = join(dir, "entry.js")
  await writeFile(entry, source)
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    preserveSymlinks: true,
    external: own ? ["effect", "effect/*"] : [],
    write: false
  })
  const bundle = await rolldown({
    input: entry,
    platform: "neutral",
    external: own ? isEffect : [],
    resolve: { mainFields: ["module", "main"], conditionNames: ["import", "default"], symlinks: false }
  })
  const { output } = await bundle.generate({ format: "esm", minify: true })
  return { what, esbuild: gzipped(outputFiles[0]?.contents), rolldown: gzipped(output[0].code) }
}

/** Milliseconds for what the library needs of `effect`, then for the library on top, in a fresh process each time. */
const importTimes = async (dir: string): Promise<ImportRow> => {
  const modules = await Promise.all(
    (await readdir(join(root, "dist"), { recursive: true }))
      .filter((name) => /^(internal\/)?[\w]+\.js$/.test(name))
      .map((name) => readFile(join(root, "dist", name), "utf8"))
  )
  const needed = [
    ...new Set(modules.flatMap((code) => [...code.matchAll(/from "(effect\/[\w/]+)"/g)].map(([, id]) => id)))
  ]
  const script = `const s = performance.now()
    for (const id of ${JSON.stringify(needed)}) await import(id)
    const t = performance.now()
    await import("effect-time-punches")
    console.log(JSON.stringify([t - s, performance.now() - t]))`
  const runs: ReadonlyArray<readonly [number, number]> = Array.from({ length: 9 }, () =>
    JSON.parse(
      spawnSync(process.execPath, ["--preserve-symlinks", "--input-type=module", "-e", script], {
        cwd: dir,
        encoding: "utf8"
      }).stdout
    ))
  return { effect: median(runs.map(([effect]) => effect)), ours: median(runs.map(([, ours]) => ours)) }
}

export interface ImportRow {
  /** What the library needs of `effect`, imported first, then the library: milliseconds each. */
  readonly effect: number
  readonly ours: number
}

export const size = (): Promise<{ readonly sizes: ReadonlyArray<SizeRow>; readonly imports: ImportRow }> =>
  withProject(async (dir) => {
    const sizeOf = sizes(dir)
    const rows = [
      await sizeOf("worker app, effect included", entries.worker, false),
      await sizeOf("worker app, effect left out", entries.worker, true),
      await sizeOf("one function, effect left out", entries.single, true)
    ]
    return { sizes: rows, imports: await importTimes(dir) }
  })
