import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const folder = Path.join(import.meta.dirname, "../../src/testing")

const files = Fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))

/** The imports of a file: a path inside `folder` for files of the folder, the specifier for other modules. */
const importsOf = (name: string) =>
  [...Fs.readFileSync(Path.join(folder, name), "utf8").matchAll(/ from "([^"]+)"$/gm)].map(([, specifier = ""]) =>
    specifier.startsWith(".") ? Path.join(Path.dirname(name), specifier) : specifier
  )

/** The rooms that each room may import, besides itself and `effect`. */
const rooms: Readonly<Record<string, ReadonlyArray<string>>> = {
  base: [],
  faults: ["base"],
  generate: ["base"],
  service: ["base", "faults"],
  transports: ["base"],
  ".": ["base", "faults", "generate", "service", "transports"]
}

describe("src/testing", () => {
  it("imports neither the client nor a test runner, and Node only in FakeServer.ts", () => {
    assert.isAbove(files.length, 25)
    for (const name of files) {
      for (const imported of importsOf(name)) {
        const allowed = files.includes(imported) || imported.startsWith("effect/") ||
          (name === "FakeServer.ts" && ["node:http", "@effect/platform-node"].includes(imported))
        assert.isTrue(allowed, `${name} imports ${imported}`)
      }
    }
  })

  it("imports in one direction between its rooms", () => {
    for (const name of files) {
      const room = Path.dirname(name)
      for (const imported of importsOf(name).filter((path) => files.includes(path))) {
        const allowed = [room, ...rooms[room] ?? []].includes(Path.dirname(imported))
        assert.isTrue(allowed && imported !== "index.ts", `${name} imports ${imported}`)
      }
    }
  })
})
