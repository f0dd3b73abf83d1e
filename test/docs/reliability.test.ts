/** The shape of the table of faults. The reporter in `test/support` checks that the tests it names ran and passed. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { faultRows } from "../support/faultTable.ts"
import { root } from "./support/examples.ts"

const read = (path: string) => Fs.readFileSync(root + path, "utf8")

/** `C1` to `C26` and so on: the number of rows of each letter. */
const sizes = { C: 26, H: 37, J: 21, P: 20, A: 28, K: 8, Q: 10, R: 13, S: 14, Y: 82, M: 14 }

/** Rows of a store without a transaction, which the library no longer has. */
const withdrawn = ["Y56", "Y73"]

const every = Object.entries(sizes).flatMap(([letter, size]) =>
  Array.from({ length: size }, (_, index) => `${letter}${index + 1}`).filter((row) => !withdrawn.includes(row))
)

/** Faults of a copy that lose no row where they are not handled, or cannot be. */
const minor = [15, 18, 33, 63, 65, 66, 67, 75]

/** The core rows: a client that fails one of them loses rows, leaks secrets or never ends. */
const core = [
  ["C", 1, 2, 3, 6, 7, 8, 9, 10, 13, 14, 15, 19],
  ["H", 1, 3, 4, 5, 6, 7, 8, 11, 12, 14, 16, 19, 21, 22, 24, 25, 27, 28, 33, 36],
  ["J", 1, 2, 3, 5, 8, 9, 10, 14, 15, 16, 20],
  ["P", 1, 2, 3, 4, 5, 6, 8, 9, 12, 14, 15, 16, 17, 20],
  ["A", 1, 2, 3, 4, 6, 7, 9, 10, 13, 14, 16, 18, 19, 20, 21, 22, 23, 24, 27],
  ["K", 1, 2, 3, 5, 8],
  ["Q", 1, 2, 3, 6, 7],
  ["R", 1, 2, 5, 9, 10, 11, 12],
  ["S", 1, 2, 4, 6, 8, 12, 13],
  ["Y", ...Array.from({ length: sizes.Y }, (_, index) => index + 1).filter((row) => !minor.includes(row))],
  ["M", 1, 2, 3, 5, 6]
].flatMap(([letter, ...numbers]) => numbers.map((number) => `${letter}${number}`))
  .filter((row) => !withdrawn.includes(row))

const rows = faultRows(read("docs/reliability-faults.md"))

const cited = rows.flatMap(({ shown }) => shown)

describe("the table of faults", () => {
  it("has every row once, in order, with what the library does", () => {
    assert.strictEqual(every.length, 271)
    assert.deepStrictEqual(rows.map(({ row }) => row), every)
    for (const { does, fault, row } of rows) assert.isTrue(fault !== "" && does !== "", row)
  })

  it("names a test for every row except those whose reason is documented", () => {
    const untested = rows.filter(({ shown }) => shown.length === 0)
    const [, reasons = ""] = read("docs/reliability-faults.md").split("\n## Left out, or done differently\n")

    assert.strictEqual(core.length, 177)
    for (const { row } of untested) {
      assert.notInclude(core, row)
      assert.match(reasons, new RegExp(`^\\| ${row}\\s*\\|`, "m"))
    }
    assert.isBelow(untested.length, 6)
  })

  it("names each test by its file and its title, and once a row", () => {
    assert.isAbove(cited.length, 200)
    for (const { file, row, title } of cited) {
      assert.isTrue(Fs.existsSync(root + file) && title.length > 0, `${row}: ${file} › ${title.join(" › ")}`)
    }
    for (const { row, shown } of rows) {
      const names = shown.map(({ file, title }) => [file, ...title].join(" › "))
      assert.strictEqual(new Set(names).size, names.length, row)
    }
  })

  it("says of each test which script runs it", () => {
    for (const { file, row, script } of cited) {
      const folder = /^test\/(full|soak)\//.exec(file)?.[1]
      assert.strictEqual(script, folder === undefined ? "test" : `test:${folder}`, `${row}: ${file}`)
    }
  })

  it("has a row for every tag in the title of a test that it names", () => {
    const tags = [...new Set(cited.map(({ file }) => file))].flatMap((file) =>
      [...read(file).matchAll(/["`]((?:\[[A-Z]\d+\] )+)/g)].flatMap(([, tags = ""]) => tags.match(/[A-Z]\d+/g) ?? [])
    )

    assert.isAbove(tags.length, 60)
    for (const tag of tags) assert.include(every, tag)
  })
})
