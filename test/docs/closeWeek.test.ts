/** The pages of a close and of its files: their commands, run in order by a shell against the sandbox, print what they show. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { hasCurl, runSteps, startSandbox, stepsOf } from "./support/session.ts"

/** Who wrote a revision, in the pages. */
const user = "lena@office"

/**
 * Without what differs in each run: the port, the instants of the copy, and the name of the user with the width of
 * its column. Lines of CSV end with two characters.
 */
const unchanging = (output: string) =>
  output
    .replaceAll("\r\n", "\n")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replaceAll(/(watermark |as of )20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "$1INSTANT")
    .replaceAll(/ 20\d\d-\d\d-\d\dT\d\d:\d\dZ /g, " MINUTE ")
    .replaceAll(/swept whole on 20\d\d-\d\d-\d\d/g, "swept whole on DATE")
    .replaceAll(` ${Os.userInfo().username}@${Os.hostname()}`, ` ${user}`)
    .replaceAll(/ +$/gm, "")
    .replaceAll(/ +/g, " ")

/** Runs a page in a folder, and fails unless each step prints what the page shows. */
const runPage = Effect.fnUntraced(function*(page: string, folder: string) {
  const all = stepsOf(page)
  const sandbox = all.find(({ code }) => code.includes(" sandbox "))
  const steps = all.filter((step) => step !== sandbox && !step.code.startsWith("npm install"))
  const service = yield* startSandbox(sandbox?.code ?? "")
  const printed = yield* runSteps(steps.map(({ code }) => code), folder, service.url)
  const { stderr } = yield* service.stop
  if (sandbox !== undefined && sandbox.shown !== "") {
    assert.strictEqual(unchanging(stderr), unchanging(sandbox.shown))
  }
  assert.isAbove(steps.length, 2)
  for (const [at, { code, shown }] of steps.entries()) {
    assert.strictEqual(unchanging(printed[at] ?? "nothing ran"), unchanging(shown), code)
  }
})

const needsCurl = (context: Parameters<typeof needs>[0]) =>
  needs(context, hasCurl, "no curl, with which the page corrects punches")

describe("docs/13-close-a-payroll-week.md", () => {
  const [install, sandbox, ...steps] = stepsOf("docs/13-close-a-payroll-week.md")

  it("begins with the installation and the sandbox, and then has the commands of a payroll week, and no grep", () => {
    const code = steps.map((step) => step.code).join("")

    assert.strictEqual(install?.code, "npm install effect-time-punches\n")
    assert.match(sandbox?.code ?? "", /^npx time-punches sandbox --port 4010 /)
    const names = [
      "sync --history",
      "export",
      ...["check", "close", "file", "diff --close", "due", "correct", "void", "list"].map((verb) => `payroll ${verb}`)
    ]
    for (const name of names) assert.match(code, new RegExp(`^time-punches ${name}\\b`, "m"))
    assert.notInclude(code, "grep")
  })

  it.live("shows what its commands print", (context) => {
    needsCurl(context)
    return Effect.gen(function*() {
      const folder = yield* temporaryFolder
      yield* runPage("docs/13-close-a-payroll-week.md", folder)
      // The preview is the file of the close, byte by byte.
      assert.strictEqual(
        Fs.readFileSync(`${folder}/preview.csv`, "utf8"),
        Fs.readFileSync(`${folder}/1.1.csv`, "utf8")
      )
    }).pipe(Effect.scoped)
  }, 120_000)
})

describe("docs/14-payroll-files.md", () => {
  it.live("shows the bytes of a mapping, and of a correction", (context) => {
    needsCurl(context)
    return Effect.gen(function*() {
      yield* runPage("docs/14-payroll-files.md", yield* temporaryFolder)
    }).pipe(Effect.scoped)
  }, 120_000)
})
