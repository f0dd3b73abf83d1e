/** The scripts of `--completions`, in their shells. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { needs } from "../support/needs.ts"
import { ended, started } from "./child.ts"
import { temporaryFolder } from "./support.ts"

/** What Tab offers at the end of each line. */
const cases = {
  "summary --by ": "day department location role user week",
  "summary --by u": "user",
  "summary --week ": "current last",
  "payroll close --pay-period l": "last",
  "list --flags l": "late",
  "list --names n": "names.csv",
  "list -o n": "names.csv",
  "payroll file --mapping n": "names.csv",
  "sync --database n": "names.csv",
  "list --variables n": "names.csv",
  "list --color a": "always auto",
  "list --qui": "--quiet",
  "list --wee": "--week --week-starts",
  "list --quiet --format ": "csv json ndjson table",
  "--quiet li": "list",
  "--color always payroll --verbose close --quiet --week l": "last",
  "payroll c": "check close correct",
  "payroll void 7.2 --note ": "",
  "copy s": "status sync",
  "help pe": "periods",
  "help pay": "payroll"
}

const lines = Object.keys(cases).map((line) => `time-punches ${line}`)

/** The function of the script with the words that bash would give it. */
const bash = `source ./script
offer() { COMP_LINE="$1"; COMP_WORDS=($1); [[ $1 = *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
  COMPREPLY=(); _time_punches time-punches "\${COMP_WORDS[-1]}" "\${COMP_WORDS[-2]}"; echo "\${COMPREPLY[*]}"; }
while IFS= read -r line; do offer "$line"; done < lines`

const fish = `source ./script
while read -l line; echo (complete -C "$line" | string replace -r '\\t.*' ''); end < lines`

/** An interactive zsh in a pseudo-terminal: the words are what its completion adds, and no word is put into the line. */
const zsh = `zmodload zsh/zpty; zpty z zsh -f -i
zpty -w z ". $PWD/setup"; zpty -r -m z out '*READY-*' || exit 1
while IFS= read -r line; do
  zpty -w -n z "$line"$'\\t'; zpty -r -m z out '*END-*' || exit 1
  echo $(print -r -- "$out" | tr -d '\\r' | sed -n 's/^.*HIT-//p'); zpty -w -n z $'\\C-u'
done < lines; zpty -d z`

const zshSetup = `PROMPT= RPROMPT=; unsetopt beep; autoload -U compinit; compinit -u -D; . ./script
compadd() {
  [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] && { builtin compadd "$@"; return }
  local -a hits; builtin compadd -A hits "$@"; for hit in $hits; do print -r -- ; print -r -- "HIT-$hit"; done; return 1
}
over() { print -r -- ; print -r -- END-; comppostfuncs=(over) }; comppostfuncs=(over)
bindkey '^I' complete-word; bindkey '^U' kill-whole-line; print -r -- READY\${:-}-`

const shells = { bash: ["--norc", "-c", bash], fish: ["--no-config", "-c", fish], zsh: ["-f", "-c", zsh] }

describe.each(["bash", "fish", "zsh"] as const)("time-punches --completions %s", (shell) => {
  it.live("completes commands, flags, words, topics and files, in the shell", (context) =>
    Effect.gen(function*() {
      needs(context, spawnSync(shell, ["--version"]).error === undefined, `${shell} is not installed`)
      const folder = yield* temporaryFolder
      const { code, stdout } = yield* Effect.flatMap(
        started(["--completions", shell], { PATH: process.env["PATH"] ?? "" }),
        ended
      )
      const files = { script: stdout, setup: zshSetup, lines: `${lines.join("\n")}\n`, "names.csv": "" }
      for (const [name, text] of Object.entries(files)) Fs.writeFileSync(`${folder}/${name}`, text)

      const offered = execFileSync(shell, shells[shell], {
        cwd: folder,
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: folder, TERM: "dumb" },
        timeout: 60_000
      }).split("\n").slice(0, -1).map((words) => words.split(" ").toSorted().join(" "))

      assert.strictEqual(code, 0)
      assert.deepStrictEqual(offered, Object.values(cases))
    }).pipe(Effect.scoped))
})
