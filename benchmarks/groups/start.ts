/** What the command costs before it does anything: processor time of whole processes, as the shell counts them. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { median, quartile } from "../measure.ts"
import { atMost, number, range, type Section, type Setting, table } from "../report.ts"

const main = join(import.meta.dirname, "../../dist/cli/main.js")

const repeats = 5

/** Milliseconds of processor time of `node ...args`, from the last line that the shell's `times` prints: its children. */
const spent = (args: ReadonlyArray<string>): number => {
  const script = `i=0; while [ $i -lt ${repeats} ]; do "$@" >/dev/null || exit 1; i=$((i+1)); done; times`
  const out = execFileSync("sh", ["-c", script, "sh", process.execPath, ...args], { encoding: "utf8" })
  const children = out.trim().split("\n").at(-1) ?? ""
  const [user, system] = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(([, min, s]) => Number(min) * 60 + Number(s))
  if (user === undefined || system === undefined) throw new Error(`the shell printed no times: ${out}`)
  return ((user + system) * 1000) / repeats
}

export const start = ({ quick }: Setting): Section => {
  const rounds = Array.from({ length: quick ? 2 : 7 }, () => {
    const node = spent(["-e", "0"])
    const help = spent([main, "--help"])
    return { node, help, ratio: help / node }
  })
  const ratios = rounds.map(({ ratio }) => ratio)
  return {
    name: "start",
    text: table(
      ["whole process", "cpu ms", "× `node -e 0`", "quartiles"],
      [
        ["`node -e 0`", number(median(rounds.map(({ node }) => node)), 0), "1.00", ""],
        [
          "`time-punches --help`",
          number(median(rounds.map(({ help }) => help)), 0),
          number(median(ratios)),
          range([quartile(ratios, 1), quartile(ratios, 3)])
        ]
      ]
    ),
    targets: [atMost("`time-punches --help`, × the cpu of `node -e 0`", 4.5, median(ratios), { beyond: 2 })]
  }
}
