/** Every pattern of the mutation groups still matches a file. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { groups } from "./groups.ts"

const root = Path.join(import.meta.dirname, "../..")

/** The patterns that braces stand for, so that each name in them must exist. */
const spelled = (pattern: string): ReadonlyArray<string> => {
  const [whole = "", names] = /\{([^}]*)\}/.exec(pattern) ?? []
  return names === undefined ? [pattern] : names.split(",").flatMap((name) => spelled(pattern.replace(whole, name)))
}

describe("the mutation script", () => {
  it.each(Object.entries(groups))("names only modules and tests that exist: %s", (_, { modules, tests }) => {
    for (const pattern of modules) assert.notInclude(pattern, ",")
    const missing = [...modules, ...tests].flatMap(spelled).filter((pattern) =>
      Fs.globSync(pattern, { cwd: root }).length === 0
    )

    assert.deepStrictEqual(missing, [])
  })
})
