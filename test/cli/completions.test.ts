/** The script of `--completions bash`, in a shell. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { ended, started } from "./child.ts"
import { temporaryFolder } from "./support.ts"

/** What Tab offers at the end of each line: the function of the script with the words that bash would give it. */
const offered = (folder: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const tab = (line: string) =>
    `COMP_LINE='${line}'; COMP_WORDS=(${line.replace(/ $/, ` ""`)}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
COMPREPLY=(); _time_punches time-punches "\${COMP_WORDS[-1]}" "\${COMP_WORDS[-2]}"; echo "\${COMPREPLY[*]}"`
  const script = ["source ./script", ...lines.map(tab)].join("\n")
  return execFileSync("bash", ["--norc", "-c", script], { cwd: folder, encoding: "utf8" }).split("\n").slice(0, -1)
}

describe("time-punches --completions bash", () => {
  it.live("completes commands, flags, words and files", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const { code, stdout } = yield* Effect.flatMap(
        started(["--completions", "bash"], { PATH: process.env["PATH"] ?? "" }),
        ended
      )
      Fs.writeFileSync(`${folder}/script`, stdout)
      Fs.writeFileSync(`${folder}/names.csv`, "")
      const cases = {
        "time-punches summary --by ": "location user role department day week",
        "time-punches summary --by u": "user",
        "time-punches summary --week ": "last current",
        "time-punches payroll close --pay-period l": "last",
        "time-punches list --flags l": "late",
        "time-punches list --names n": "names.csv",
        "time-punches payroll file --mapping n": "names.csv",
        "time-punches sync --database n": "names.csv",
        "time-punches list --variables n": "names.csv",
        "time-punches list --note ": "",
        "time-punches list --color a": "auto always",
        "time-punches list --qui": "--quiet",
        "time-punches list --wee": "--week --week-starts",
        "time-punches copy s": "sync status"
      }

      assert.strictEqual(code, 0)
      assert.deepStrictEqual(offered(folder, Object.keys(cases)), Object.values(cases))
    }).pipe(Effect.scoped), 20_000)
})
