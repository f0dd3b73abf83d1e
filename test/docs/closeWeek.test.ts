/** The page that closes a payroll week: its commands, run in order by a shell against the sandbox, print what it shows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { hasCurl, runSteps, startSandbox, stepsOf } from "./support/session.ts"

const [install, sandbox, ...steps] = stepsOf("docs/13-close-a-payroll-week.md")

/** Without what differs in each run: the port, the instants of the copy and its age. Lines of CSV end with two characters. */
const unchanging = (output: string) =>
  output
    .replaceAll("\r\n", "\n")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replaceAll(/(watermark |up to |--since )20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "$1INSTANT")
    .replaceAll(/ended [\w ]+ ago/g, "ended TIME ago")

/** The rows of CSV without quotes: each as its columns. */
const rowsOf = (csv: string): ReadonlyArray<Record<string, string>> => {
  const [header = [], ...rows] = csv.trim().split(/\r?\n/).map((line) => line.split(","))
  return rows.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at] ?? ""])))
}

/** Seconds, cents and tips of each person, from the sums or from their differences. */
const sumsOf = (csv: string) =>
  new Map(
    rowsOf(csv).map((row) => [
      row["user_id"],
      [
        Number(row["net_seconds"]),
        Number(row["cost_cents"]),
        Number(row["tips_cents"])
      ]
    ])
  )

/** The sums of now, written as those of the close. */
const sumsNow = steps.find(({ code }) => code.includes("> payroll.csv"))?.code
  .replace("payroll.csv", "now.csv")
  .replace(/closed\.txt[^]*/, "now.txt")

describe("docs/13-close-a-payroll-week.md", () => {
  it("begins with the installation and the sandbox, and then has the commands of a payroll week", () => {
    const code = steps.map((step) => step.code).join("")

    assert.strictEqual(install?.code, "npm install effect-time-punches\n")
    assert.match(sandbox?.code ?? "", /^npx time-punches sandbox --port 4010 /)
    for (const name of ["sync --history", "summary", "check", "export", "changes"]) {
      assert.include(code, `time-punches ${name} `)
    }
  })

  it.live("shows what its commands print, and the differences lead to the sums of now", (context) => {
    needs(context, hasCurl, "no curl, with which the page corrects punches")
    return Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const service = yield* startSandbox(sandbox?.code ?? "")
      const printed = yield* runSteps([...steps.map(({ code }) => code), sumsNow ?? ""], folder, service.url)
      const { stderr } = yield* service.stop
      const [closed, corrections, now] = ["payroll.csv", "corrections.csv", "now.csv"].map((name) =>
        sumsOf(Fs.readFileSync(`${folder}/${name}`, "utf8"))
      )

      assert.strictEqual(unchanging(stderr), unchanging(sandbox?.shown ?? ""))
      for (const [at, { code, shown }] of steps.entries()) {
        assert.strictEqual(unchanging(printed[at] ?? "nothing ran"), unchanging(shown), code)
      }
      assert.strictEqual(corrections?.size, 2)
      assert.deepStrictEqual(
        [...closed ?? []].map((
          [user, sums]
        ) => [user, sums.map((sum, at) => sum + (corrections?.get(user)?.[at] ?? 0))]),
        [...now ?? []]
      )
    }).pipe(Effect.scoped)
  }, 120_000)
})
