/** The reporter in the runner: small suites, each with its own table, run as processes. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { root } from "../docs/support/examples.ts"

const rows = [
  ["C1", "`test/a.test.ts › retries`"],
  ["C2", "`test/b.test.ts › waits %d s`"]
] as const

const config = (failsOnSkip: boolean) =>
  `import { faultReporter } from "${root}test/support/faultReporter.ts"
export default { test: { reporters: [faultReporter({ script: "test", failsOnSkip: ${failsOnSkip} })] } }
`

const suite = (body: string) =>
  `import { it } from "vitest"
import { needs } from "${root}test/support/needs.ts"
${body}`

const green = {
  "vitest.config.ts": config(false),
  "test/a.test.ts": suite(`it("retries", () => {})\nit("another", () => {})`),
  "test/b.test.ts": suite(`it.each([1, 2])("waits %d s", () => {})`),
  "docs/reliability-faults.md": `| row | fault | does | shown by |\n| --- | --- | --- | --- |\n${
    rows.map(([row, shown]) => `| ${row} | a fault | retries | ${shown} |\n`).join("")
  }`
}

let folder = ""

beforeAll(() => {
  folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "fault-reporter-"))
  Fs.symlinkSync(Fs.realpathSync(`${root}node_modules`), Path.join(folder, "node_modules"))
  return () => Fs.rmSync(folder, { recursive: true })
})

/** Runs the suites with some files changed, and with arguments for the runner. */
const run = (changes: Partial<typeof green>, ...args: ReadonlyArray<string>) => {
  for (const [name, text] of Object.entries({ ...green, ...changes })) {
    Fs.mkdirSync(Path.dirname(Path.join(folder, name)), { recursive: true })
    Fs.writeFileSync(Path.join(folder, name), text)
  }
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [`${root}node_modules/vitest/vitest.mjs`, "run", ...args],
    { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"], NO_COLOR: "1" } }
  )
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => /^Table of faults|^Skipped|skips none/.test(line))
  return { status, lines: lines.toSorted() }
}

const summary = (passed: number, judged: number, unseen = 0) =>
  `Table of faults: ${passed} of ${judged} cited tests of npm run test ran and passed.` +
  (unseen === 0 ? "" : ` ${unseen} are not in this run and were not checked.`)

describe("the reporter of the table of faults", () => {
  it("ends a whole run with the number of rows' tests that passed", () => {
    assert.deepStrictEqual(run({}), { status: 0, lines: [summary(2, 2)] })
  })

  it("fails a run in which every test passes, but a cited one is missing", () => {
    assert.deepStrictEqual(run({ "test/a.test.ts": suite(`it("another", () => {})`) }), {
      status: 1,
      lines: [summary(1, 2), "Table of faults: C1: test/a.test.ts › retries: no such test ran"]
    })
  })

  it("fails a run in which a cited test is skipped, and prints the reason", () => {
    const skipping = suite(`it("retries", (context) => needs(context, false, "no links here"))`)

    assert.deepStrictEqual(run({ "test/a.test.ts": skipping }), {
      status: 1,
      lines: [
        "Skipped: test/a.test.ts › retries: no links here",
        summary(1, 2),
        "Table of faults: C1: test/a.test.ts › retries: \"retries\" was skipped (no links here)"
      ]
    })
  })

  it.each([[false, 0], [true, 1]])(
    "where skips fail: %s, ends a run with another test skipped with %d",
    (fails, code) => {
      const skipping = suite(`it("retries", () => {})\nit("another", (context) => needs(context, false, "no links"))`)
      const { lines, status } = run({ "vitest.config.ts": config(fails), "test/a.test.ts": skipping })

      assert.strictEqual(status, code)
      assert.include(lines, "Skipped: test/a.test.ts › another: no links")
      assert.strictEqual(lines.includes("1 tests were skipped; npm run test skips none."), fails)
    }
  )

  it.each<[string, ReadonlyArray<string>, string]>([
    ["a file", ["test/b"], summary(1, 1, 1)],
    ["a shard", ["--shard=1/2"], summary(1, 1, 1)],
    ["a title", ["-t", "retries"], summary(0, 0, 2)]
  ])("counts what it did not see with a filter of %s", (_, args, line) => {
    assert.deepStrictEqual(run({}, ...args), { status: 0, lines: [line] })
  })

  it("fails a run whose files were left out in a way that it does not know", () => {
    const { lines, status } = run({}, "--exclude=test/b.test.ts")

    assert.strictEqual(status, 1)
    assert.include(lines, "Table of faults: C2: test/b.test.ts › waits %d s: no such test ran")
  })
})
