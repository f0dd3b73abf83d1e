import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { groups } from "./groups.ts"

const root = Path.join(import.meta.dirname, "../..")

const matches = (pattern: string) => Fs.globSync(pattern, { cwd: root })

describe("the mutation script", () => {
  it("names only modules and tests that exist", () => {
    for (const [group, { modules, tests }] of Object.entries(groups)) {
      for (const pattern of modules) assert.notInclude(pattern, ",", `group ${group}`)
      for (const pattern of [...modules, ...tests]) {
        assert.isNotEmpty(matches(pattern), `group ${group}: no file matches ${pattern}`)
      }
    }
  })
})
