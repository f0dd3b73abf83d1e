/** The public API as the compiler declares it, so that a change to it shows in review. `hovers.test.ts` reads its docstrings. */
import * as Fs from "node:fs"
import { join } from "node:path"
import { assert, describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const dist = join(root, "dist")

/** The modules that `exports` of the package lets a program import: the flat names, and the subpaths. */
const entries = (): ReadonlyArray<string> => {
  const { exports }: { readonly exports: Record<string, string | null | { readonly types: string }> } = JSON.parse(
    Fs.readFileSync(join(root, "package.json"), "utf8")
  )
  const subpaths = Object.values(exports).flatMap((target) =>
    target === null || typeof target === "string" || target.types.includes("*")
      ? []
      : [target.types.slice("./dist/".length)]
  )
  const flat = Fs.readdirSync(dist).filter((name) => name.endsWith(".d.ts") && name !== "index.d.ts")
  return ["index.d.ts", ...flat.toSorted(), ...subpaths.filter((path) => path !== "index.d.ts")]
}

const read = (module: string): string =>
  Fs.readFileSync(join(dist, module), "utf8")
    .replace(/\/\*\*[\s\S]*?\*\/\n?/g, "")
    .replace(/\/\/# sourceMappingURL.*\n?/g, "")
    .replace(/^\s*\n/gm, "")

const reexport = /^export (?:type )?(?:\*(?: as \w+)?|\{([^}]*)\}) from "(\.[^"]+)\.ts";$/gm
/** The fields of a class that a schema makes are in the constant of its base. */
const declared =
  /^(?:export (?:declare )?(?:abstract )?(?:class|const|function|interface|namespace|type)|declare const) (\w+?)(?:_base)?\b/

/** Of every module that a program can reach the names that it can reach: all, or those that another module exports. */
const reached = (modules: ReadonlyArray<string>): ReadonlyMap<string, ReadonlySet<string> | "all"> => {
  const found = new Map<string, Set<string> | "all">()
  const visit = (module: string, names?: ReadonlyArray<string>): void => {
    const before = found.get(module)
    if (before === "all") return
    found.set(module, names === undefined ? "all" : new Set([...before ?? [], ...names]))
    for (const [, list, path = ""] of read(module).matchAll(reexport)) {
      const target = join(module, "..", `${path}.d.ts`)
      const inner = list?.split(",").map((name) => name.trim().replace(/^type | as \w+$/g, ""))
      visit(target, inner?.filter((name) => names === undefined || names.includes(name)))
    }
  }
  for (const module of modules) visit(module)
  return found
}

/** The declarations of a module, each from its first line to the next one. */
const declarations = (module: string, names: ReadonlySet<string> | "all"): string =>
  names === "all"
    ? read(module)
    : read(module).split(/^(?=\S)(?!\})/m).filter((text) => names.has(declared.exec(text)?.[1] ?? "")).join("")

describe("the public API", () => {
  const modules = reached(entries())

  it("is every module and subpath of the package, and what they export of others", () => {
    assert.includeMembers([...modules.keys()], ["TimePunches.d.ts", "sql/SqlStore.d.ts", "testing/faults/Fault.d.ts"])
    for (const [module, names] of modules) {
      if (names !== "all" && names.size > 0) assert.isNotEmpty(declarations(module, names), module)
    }
  })

  it("matches its listing", async () => {
    const listing = [...modules].map(([module, names]) =>
      `// ${module.replace(".d.ts", "")}\n${declarations(module, names)}`
    )

    await expect(listing.join("\n")).toMatchFileSnapshot("../../docs/api/listing.txt")
  })
})
