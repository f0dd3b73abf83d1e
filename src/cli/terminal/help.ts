/** Help for a terminal that is narrower than the lines of its flags. Pure. */
import { displayWidth } from "effect/cli/CliOutput"
import { wrap } from "./table.ts"

/** A flag, a subcommand or a variable, and what it does. */
const row = /^( +\S.*?) {2,}(\S.*)$/

const indent = " ".repeat(8)

/** Puts what each flag does below it where a line would not fit. An example stays on one line, so that it can be copied. */
export const narrowHelp = (text: string, width: number): string => {
  const lines = text.split("\n")
  if (lines.every((line) => !row.test(line) || displayWidth(line) <= width)) return text
  return lines.map((line) => {
    const [, left, right] = row.exec(line) ?? []
    return left === undefined || right === undefined
      ? line
      : [left, ...wrap(right, width - indent.length)].join(`\n${indent}`)
  }).join("\n")
}
