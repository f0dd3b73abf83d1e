/** The command as one bundle: `dist/cli`, with every package that it uses inside, and their licences beside it. */
import * as Fs from "node:fs"
import { builtinModules } from "node:module"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { type ChunkingContext, defineConfig, type Plugin } from "rolldown"

const root = Fs.realpathSync(import.meta.dirname)
const entry = "main.js"

/**
 * Only the modules of Node stay outside, by their names with `node:`. A package that stayed outside could be another copy of
 * `effect`, with its own registry of secrets.
 */
const selfContained: Plugin = {
  name: "self-contained",
  resolveId: {
    filter: { id: new RegExp(`^(?:${builtinModules.filter((name) => /^[a-z]/.test(name)).join("|")})$`) },
    handler: (id) => ({ id: id.startsWith("node:") ? id : `node:${id}`, external: true })
  },
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue
      const required = [...chunk.code.matchAll(/\b(?:__)?require\(["'`]([^"'`]+)["'`]\)/g)].map(([, id = ""]) => id)
      const outside = [...chunk.imports, ...chunk.dynamicImports, ...required].filter((id) =>
        !id.startsWith("node:") && !(id in bundle)
      )
      if (outside.length > 0) this.error(`${chunk.fileName} imports what is not in the bundle: ${outside.join(", ")}`)
    }
  }
}

/**
 * The part of undici that sends requests, with all names of it that the platform and `src/node` use: without `fetch`, mocks, caches and
 * web sockets, which are half of undici.
 */
const undici = `
import api from "undici/lib/api/index.js"
import Agent from "undici/lib/dispatcher/agent.js"
import Dispatcher from "undici/lib/dispatcher/dispatcher.js"
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js"
import formData from "undici/lib/web/fetch/formdata.js"
import global from "undici/lib/global.js"
Object.assign(Dispatcher.prototype, api)
const { FormData } = formData
const { getGlobalDispatcher } = global
export { Agent, Dispatcher, EnvHttpProxyAgent, FormData, getGlobalDispatcher }
`

const leanUndici: Plugin = {
  name: "lean-undici",
  load: { filter: { id: /\/@effect\/platform-node\/dist\/Undici\.js$/ }, handler: () => undici }
}

/**
 * Code of core that every call would load or run, for what few calls need: its file, and what stands in its place. The build fails
 * if core no longer has it.
 */
const cuts: Readonly<Record<string, ReadonlyArray<readonly [code: string, instead: string]>>> = {
  // The first use of Intl takes 6 ms, and the width of most texts is their length.
  "effect/dist/cli/CliOutput.js": [
    ["const graphemeSegmenter = /*#__PURE__*/new", "let segmenter;\nconst makeSegmenter = () => new"],
    ["graphemeSegmenter.segment", "(segmenter ??= makeSegmenter()).segment"],
    [
      "displayWidth = text => {",
      "displayWidth = text => {\n  text = stripAnsi(text);\n  if (/^[ -~]*$/.test(text)) return text.length;"
    ]
  ]
}

const leanCore: Plugin = {
  name: "lean-core",
  transform: {
    filter: { id: Object.keys(cuts).map((file) => new RegExp(`/node_modules/${file}$`)) },
    handler(code, id) {
      const [, file = ""] = /.*\/node_modules\/(.*)/.exec(id) ?? []
      return (cuts[file] ?? []).reduce((left, [cut, instead]) => {
        if (left.split(cut).length !== 2) this.error(`${file} must have this once: ${cut}`)
        return left.replace(cut, instead)
      }, code)
    }
  }
}

/**
 * Takes the modules of Node without an import: an import lists all their names, for which Node loads what some of them stand for,
 * such as its promises of files.
 */
const plainBuiltins: Plugin = {
  name: "plain-builtins",
  renderChunk: (code, { name }) =>
    name === "start"
      ? code.replace(
        /^import (?:\* as (\w+)|(\{[^}]*\})) from "(node:\w+)";$/gm,
        (_, all: string | undefined, some: string, id: string) =>
          `const ${all ?? some.replaceAll(" as ", ": ")} = process.getBuiltinModule("${id}");`
      )
      : null
}

interface Package {
  readonly folder: string
  readonly name: string
  readonly version: string
  readonly license: string
}

const packages = new Map<string, Package>()

/** The package that holds a folder: the nearest `package.json` with a version. */
const packageOf = (folder: string): Package => {
  const known = packages.get(folder)
  if (known !== undefined) return known
  const file = Path.join(folder, "package.json")
  const manifest = Fs.existsSync(file) ? JSON.parse(Fs.readFileSync(file, "utf8")) : {}
  const found = manifest.version === undefined
    ? packageOf(Path.dirname(folder))
    : { folder, name: manifest.name, version: manifest.version, license: manifest.license }
  packages.set(folder, found)
  return found
}

const isLicence = (file: string) => /^(?:licen[cs]e|copying|notice)(?:\.(?:md|txt))?$/i.test(file)

/** The licence files from the folder of a module up to that of its package: a part of a package may have its own. */
const licencesAbove = (folder: string, top: string): ReadonlyArray<string> => [
  ...Fs.readdirSync(folder).filter(isLicence).map((name) => Path.join(folder, name)),
  ...folder === top ? [] : licencesAbove(Path.dirname(folder), top)
]

/** The comments of a module that name a copyright or a licence: code that came from elsewhere brings its terms there. */
const notices = (source: string): ReadonlyArray<string> =>
  (source.match(/\/\*[^]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm) ?? []).filter((text) =>
    /\bcopyright\b|\blicen[cs]ed?\b/i.test(text)
  ).map((text) => text.replaceAll(/^[ \t]*(?:\/\*+!?|\*+\/|\*|\/\/)[ \t]?|\*+\/[ \t]*$/gm, "").trim())

/** The file of a module; the helpers that the bundler writes into its output, whoever made them, count as the bundler. */
const fileOf = (id: string): string =>
  /^\0(?:rolldown\/|@oxc-project\+runtime@)/.test(id) ? fileURLToPath(import.meta.resolve("rolldown")) : id

/** Writes the licences of what is really in the bundle, and fails where a package has none. */
const licences: Plugin = {
  name: "licences",
  generateBundle(_, bundle) {
    const texts = new Map<Package, Set<string>>()
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue
      for (const file of Object.keys(chunk.modules).map(fileOf)) {
        const from = packageOf(Path.dirname(file))
        if (from.folder === root) continue
        const found = texts.get(from) ?? new Set()
        for (const name of licencesAbove(Path.dirname(file), from.folder))
          found.add(Fs.readFileSync(name, "utf8").trim())
        for (const notice of notices(Fs.readFileSync(file, "utf8"))) found.add(notice)
        texts.set(from, found)
      }
    }
    const sections = [...texts].toSorted(([a], [b]) => a.name < b.name ? -1 : 1).map(([from, found]) => {
      if (!Fs.readdirSync(from.folder).some(isLicence)) this.error(`${from.name} is bundled and has no licence text`)
      return `${"=".repeat(80)}\n${from.name} ${from.version} (${from.license})\n\n${[...found].join("\n\n---\n\n")}\n`
    })
    const head = "The command time-punches contains code of these packages, each under its own licence.\n"
    this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: [head, ...sections].join("\n") })
  }
}

/** Writes the modules of each file for the tests, since the code has no comments. The package leaves it out. */
const moduleList: Plugin = {
  name: "module-list",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => {
      if (chunk.type !== "chunk") return []
      const withCode = Object.entries(chunk.modules).filter(([, { renderedLength }]) => renderedLength > 0)
      return [[chunk.fileName, withCode.map(([id]) => Path.relative(root, id))] as const]
    })
    this.emitFile({ type: "asset", fileName: "modules.json", source: JSON.stringify(Object.fromEntries(modules)) })
  }
}

const executable: Plugin = {
  name: "executable",
  writeBundle: ({ dir = "" }) => Fs.chmodSync(Path.join(dir, entry), 0o755)
}

/** What every run loads: the static imports of the program behind the entry. */
const start = "src/cli/run.ts"

const startModules = (ctx: ChunkingContext): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (id: string) => {
    if (found.has(id)) return
    found.add(id)
    for (const next of ctx.getModuleInfo(id)?.importedIds ?? []) visit(next)
  }
  visit(Path.join(root, start))
  return found
}

let atStart: ReadonlySet<string> | undefined

export default defineConfig({
  input: { main: "src/cli/main.ts" },
  platform: "node",
  resolve: {
    conditionNames: ["effect-time-punches:source", "node", "import", "default"]
  },
  // The two native helpers of `ws`, which it can do without.
  transform: { define: { "process.env.WS_NO_BUFFER_UTIL": "'1'", "process.env.WS_NO_UTF_8_VALIDATE": "'1'" } },
  plugins: [selfContained, leanUndici, leanCore, plainBuiltins, licences, moduleList, executable],
  onLog: (_, log) => {
    throw new Error(log.message)
  },
  output: {
    dir: "dist/cli",
    entryFileNames: entry,
    chunkFileNames: "[name].js",
    // Names stay, so that a trace can be read without a source map, which would be larger than the code.
    minify: {
      compress: { keepNames: { function: true, class: true } },
      mangle: false,
      codegen: { removeWhitespace: true }
    },
    comments: false,
    // One file, as each takes time to find and to open.
    codeSplitting: {
      groups: [{
        debugName: "start",
        name: (id, ctx) => (atStart ??= startModules(ctx)).has(id) ? "start" : null
      }]
    }
  }
})
