import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"

const folder = new URL("../../src/testing/", import.meta.url)

const files = Fs.readdirSync(folder).filter((name) => name.endsWith(".ts"))

/** What a file imports or hands on; each such statement ends in a line with `from`. */
const importsOf = (name: string) =>
  [...Fs.readFileSync(new URL(name, folder), "utf8").matchAll(/^(?:import|export|\}).* from "([^"]+)"$/gm)]
    .map(([, path = ""]) => path)

/** A file and everything that it imports from its own folder. */
const reachable = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
  seen.add(name)
  for (const path of importsOf(name)) {
    const next = path.slice(2)
    if (path.startsWith("./") && !seen.has(next)) reachable(next, seen)
  }
  return seen
}

describe("the fake service", () => {
  it("shares no code with the client", () => {
    for (const name of files) {
      for (const path of importsOf(name)) {
        assert.match(path, /^(\.\/|effect\/|node:|@effect\/platform-node$)/, `${name} imports ${path}`)
      }
    }
  })

  it("needs neither Node nor a test runner", () => {
    const names = [...reachable("index.ts")]

    assert.isAbove(names.length, 20)
    assert.notInclude(names, "sandbox.ts")
    for (const name of names) {
      for (const path of importsOf(name)) assert.match(path, /^(\.\/|effect\/)/, `${name} imports ${path}`)
    }
  })
})
