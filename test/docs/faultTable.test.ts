/** The check of the table of faults: what it finds in a run, and what it says of a run that is not whole. */
import { assert, describe, it } from "@effect/vitest"
import { checkTable, faultRows, type Filters, type RanTest, type Run, scopeOf } from "../support/faultTable.ts"

const tableOf = (...rows: ReadonlyArray<readonly [row: string, shown: string]>) =>
  faultRows([
    "| row | fault | what the library does | shown by |",
    "| --- | --- | --- | --- |",
    ...rows.map(([row, shown]) => `| ${row} | a fault | retries | ${shown} |`),
    ""
  ].join("\n"))

const file = "test/a.test.ts"

const ran = (title: string, state: RanTest["state"] = "passed", reason?: string): RanTest => ({
  file,
  title: ["a suite", title],
  state,
  reason
})

const runOf = (tests: ReadonlyArray<RanTest>, changes: Partial<Run> = {}): Run => ({
  files: [file],
  tests,
  scope: "whole",
  ...changes
})

const brokenIn = (shown: string, ...tests: ReadonlyArray<RanTest>) =>
  checkTable(tableOf(["C1", shown]), "test", runOf(tests)).broken

describe("checkTable", () => {
  it("accepts a row whose tests ran and passed", () => {
    const rows = tableOf(["C1", `\`${file} › retries\`<br>\`${file} › a suite › fails\``], ["C2", "nothing: see there"])

    assert.deepStrictEqual(
      checkTable(rows, "test", runOf([ran("retries"), ran("fails"), ran("another")])),
      { judged: 2, unseen: 0, broken: [] }
    )
  })

  it.each<[string, ReadonlyArray<RanTest>, string]>([
    ["is missing", [ran("retries twice"), ran("never retries")], "no such test ran"],
    ["ran in another file only", [{ ...ran("retries"), file: "test/b.test.ts" }], "no such test ran"],
    ["is the title of a suite only", [{ ...ran("x"), title: ["retries", "x"] }], "no such test ran"],
    ["was skipped", [ran("retries", "skipped")], "\"retries\" was skipped"],
    ["was skipped with a reason", [ran("retries", "skipped", "no links")], "\"retries\" was skipped (no links)"],
    ["failed", [ran("retries", "failed")], "\"retries\" failed"],
    ["did not end", [ran("retries", "pending")], "\"retries\" did not end"],
    ["is expected to fail", [ran("retries", "inverted")], "\"retries\" passes only because it fails"],
    ["failed once and passed once", [ran("retries"), ran("retries", "failed")], "\"retries\" failed"]
  ])("shows a row whose test %s", (_, tests, what) => {
    assert.deepStrictEqual(brokenIn(`\`${file} › retries\``, ...tests), [`C1: ${file} › retries: ${what}`])
  })

  it("shows a row whose test is in another suite than it says", () => {
    assert.lengthOf(brokenIn(`\`${file} › another suite › retries\``, ran("retries")), 1)
  })

  it.each([
    ["waits %d s after %s", "waits 5 s after a 429"],
    ["waits %s", "waits "],
    ["waits after $what, and $how.often", "waits after a reset, and \"once\""],
    ["renews from second ${renewAt} on", "renews from second 3300 on"],
    ["is read as {\"a\": [%j]} (or not)?", "is read as {\"a\": [null]} (or not)?"]
  ])("takes the title %s for that of %s", (title, expanded) => {
    const shown = `\`${file} › ${title}\``

    assert.deepStrictEqual(brokenIn(shown, ran(expanded)), [])
    assert.lengthOf(brokenIn(shown, ran(`never ${expanded}`)), 1)
    assert.lengthOf(brokenIn(shown, ran(expanded), ran(expanded, "skipped")), 1)
  })

  it.each(["[$row] retries after $what", "[%s] retries after %s"])("wants the row itself of the title %s", (title) => {
    const shown = `\`${file} › ${title}\``

    assert.deepStrictEqual(brokenIn(shown, ran("[C1] retries after a reset")), [])
    assert.lengthOf(brokenIn(shown, ran("[C11] retries after a reset"), ran("[C2] retries after a cut")), 1)
    assert.deepStrictEqual(
      brokenIn(shown, ran("[C1] retries after a reset"), ran("[C2] retries after x", "failed")),
      []
    )
  })

  it("checks only the citations of the script that runs", () => {
    const rows = tableOf(["C1", `\`${file} › retries\`<br>\`test/full/a.test.ts › is flat\` (test:full)`])
    const slow: RanTest = { file: "test/full/a.test.ts", title: ["is flat"], state: "passed" }

    assert.deepStrictEqual(checkTable(rows, "test", runOf([ran("retries")])), { judged: 1, unseen: 0, broken: [] })
    assert.deepStrictEqual(checkTable(rows, "test:full", runOf([slow])), { judged: 1, unseen: 0, broken: [] })
    assert.lengthOf(checkTable(rows, "test:full", runOf([ran("retries")])).broken, 1)
    assert.throws(() => tableOf(["C1", `\`${file} › retries\` (test:fast)`]), "no script is named test:fast")
  })

  it("judges a part of the files by these alone, and counts the rest as not seen", () => {
    const rows = tableOf(["C1", `\`${file} › retries\`<br>\`${file} › gone\`<br>\`test/b.test.ts › retries\``])
    const part = checkTable(rows, "test", runOf([ran("retries")], { scope: "files" }))

    assert.deepStrictEqual(part, { judged: 2, unseen: 1, broken: [`C1: ${file} › gone: no such test ran`] })
    assert.lengthOf(checkTable(rows, "test", runOf([ran("retries")])).broken, 2)
  })

  it("judges nothing where tests of a file were left out", () => {
    const rows = tableOf(["C1", `\`${file} › retries\``])
    const run = runOf([ran("retries", "skipped")], { scope: "none" })

    assert.deepStrictEqual(checkTable(rows, "test", run), { judged: 0, unseen: 1, broken: [] })
  })
})

describe("scopeOf", () => {
  const nothing: Filters = { files: [], choosesFiles: false, choosesTests: false, watch: false }

  it.each<[string, Partial<Filters>, Run["scope"]]>([
    ["no filter", {}, "whole"],
    ["a file", { files: ["test/a.test.ts"] }, "files"],
    ["a shard", { choosesFiles: true }, "files"],
    ["watch mode", { watch: true }, "files"],
    ["a title", { choosesTests: true }, "none"],
    ["a title in a shard", { choosesFiles: true, choosesTests: true }, "none"],
    ["a line of a file", { files: ["test/a.test.ts:12"] }, "none"]
  ])("of a run with %s: %j is %s", (_, changes, scope) => {
    assert.strictEqual(scopeOf({ ...nothing, ...changes }), scope)
  })
})
