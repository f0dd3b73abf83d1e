/** The public API as the compiler declares it: a change to it shows in review, and every export has a docstring. */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, expect, it } from "vitest"

const dist = join(import.meta.dirname, "../../dist")

/** Everything under `dist` that `exports` lets a program import. */
const publicModules = async (): Promise<ReadonlyArray<string>> => {
  const top = (await readdir(dist)).filter((name) => name.endsWith(".d.ts") && name !== "index.d.ts").toSorted()
  return [
    "index.d.ts",
    ...top,
    "payroll/index.d.ts",
    "payroll/Labor.d.ts",
    "payroll/Period.d.ts",
    "payroll/PeriodCheck.d.ts",
    "payroll/WorkedTime.d.ts",
    "payroll/Zones.d.ts",
    "export/index.d.ts",
    "sync/index.d.ts",
    "sync/Sync.d.ts",
    "sql/index.d.ts",
    "sql/SqlStore.d.ts",
    "sql/history.d.ts",
    "sql/read.d.ts",
    "sql/node/index.d.ts",
    "sql/node/NodeSqlite.d.ts",
    "node/index.d.ts",
    "node/NodeTransport.d.ts",
    "testing/index.d.ts"
  ]
}

const declarations = (module: string) => readFile(join(dist, module), "utf8")

const withoutComments = (text: string): string =>
  text.replace(/\/\*\*[\s\S]*?\*\/\n?/g, "").replace(/\/\/# sourceMappingURL.*\n?/g, "").replace(/^\s*\n/gm, "")

const exported = /^export (?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/

/** Names of declarations without a docstring. */
const undocumented = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  const documented = new Set<string>()
  const missing = new Set<string>()
  lines.forEach((line, at) => {
    const name = exported.exec(line)?.[1]
    if (name === undefined) return
    const before = lines.slice(0, at).join("\n")
    const comment = before.endsWith("*/") ? before.slice(before.lastIndexOf("/**")) : ""
    if (comment !== "") documented.add(name)
    else missing.add(name)
  })
  return [...missing].filter((name) => !documented.has(name))
}

describe("the public API", () => {
  it("matches its listing", async () => {
    const modules = await publicModules()
    const listing = await Promise.all(
      modules.map(async (module) => `// ${module.replace(".d.ts", "")}\n${withoutComments(await declarations(module))}`)
    )

    await expect(listing.join("\n")).toMatchFileSnapshot("../../docs/api/listing.txt")
  })

  it("has a docstring on every export", async () => {
    const modules = await publicModules()
    const missing = await Promise.all(
      modules.map(async (module) => undocumented(await declarations(module)).map((name) => `${module}: ${name}`))
    )

    assert.deepStrictEqual(missing.flat(), [])
  })
})
