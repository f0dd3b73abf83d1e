/** The next number of a version follows from what a program may have used. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { root } from "./support/examples.ts"
import { nextVersion } from "./support/nextVersion.ts"
import { missingKeys } from "./support/publishable.ts"

const listing = Fs.readFileSync(`${root}docs/api/listing.txt`, "utf8")
const name = "export declare const getAdvice:"

describe("nextVersion", () => {
  it("reads the listing of this package", () => {
    const { added, removed } = nextVersion("0.1.0", "", listing)

    assert.deepStrictEqual(removed, [])
    assert.isAbove(added.length, 200)
    assert.include(listing, name)
  })

  it.each([
    ["nothing changed", "0.1.0", listing, "0.1.1"],
    ["a name is added", "0.1.0", listing.replace(name, `export declare const more: number;\n${name}`), "0.1.1"],
    ["a name is removed", "0.1.0", listing.replace(name, "declare const getAdvice:"), "0.2.0"],
    ["a type is changed", "0.1.9", listing.replace(name, `${name} number |`), "0.2.0"],
    ["nothing changed, from 1.0 on", "v1.2.3", listing, "1.2.4"],
    ["a name is added, from 1.0 on", "1.2.3", `${listing}\n// more\nexport declare const more: number;\n`, "1.3.0"],
    ["a name is removed, from 1.0 on", "1.2.3", listing.replace(name, "declare const getAdvice:"), "2.0.0"]
  ])("%s", (_, last, after, next) => {
    assert.strictEqual(nextVersion(last, listing, after).version, next)
  })

  it("refuses a text that is not a version", () => {
    assert.throws(() => nextVersion("latest", listing, listing), "latest is not a version")
  })

  it("says in one line that a tag does not exist", () => {
    const { status, stderr } = spawnSync(process.execPath, [`${root}test/docs/support/nextVersion.ts`, "v0.0.0-none"], {
      encoding: "utf8"
    })

    assert.strictEqual(status, 1)
    assert.match(stderr, /^no listing at v0\.0\.0-none: name the tag of the last release \(.+\)\n$/)
  })
})

describe("a release", () => {
  it("needs the places where its users look for the source and report a bug", () => {
    const manifest = { name: "effect-time-punches", repository: "r", bugs: "b", homepage: "h" }

    assert.deepStrictEqual(missingKeys(manifest), [])
    assert.deepStrictEqual(missingKeys({ ...manifest, bugs: undefined }), ["bugs"])
    const { scripts } = JSON.parse(Fs.readFileSync(`${root}package.json`, "utf8"))
    assert.match(scripts.prepublishOnly, /^node test\/docs\/support\/publishable\.ts && /)
  })
})
