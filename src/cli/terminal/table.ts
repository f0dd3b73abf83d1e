/** Rows of cells as lines of a terminal: padded by the width that is seen, and with bars. Pure. */
import { displayWidth } from "effect/cli/CliOutput"
import * as Duration from "effect/Duration"
import { printable } from "../../internal/base/printable.ts"

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => string
  readonly align?: "left" | "right" | undefined
  /** The widest that a cell may be; the rest is cut. */
  readonly most?: number | undefined
}

const ascii = /^[\x20-\x7e]*$/

const widthOf = (text: string): number => ascii.test(text) ? text.length : displayWidth(text)

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Text of foreign origin in a cell: control characters escaped, and cut to so many cells of the terminal. */
export const fit = (text: string, most: number): string => {
  const line = printable(text)
  if (widthOf(line) <= most) return line
  let taken = ""
  for (const { segment } of graphemes.segment(line)) {
    if (widthOf(taken + segment) >= most) break
    taken += segment
  }
  return `${taken}…`
}

const pad = (text: string, width: number, align: "left" | "right"): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "left" ? text + space : space + text
}

/**
 * Lays rows out as they come: `lines` gives the lines of some rows, the title line first. Columns grow with what they
 * meet and never shrink, so that only the first rows of a long listing can stand narrower than the later ones.
 */
export const makeTable = <A>(columns: ReadonlyArray<Column<A>>) => {
  const widths = columns.map(({ title }) => widthOf(title))
  const line = (cells: ReadonlyArray<string>) =>
    cells.map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align ?? "left")).join("  ").trimEnd()
  let titled = false
  return {
    lines: (rows: ReadonlyArray<A>): ReadonlyArray<string> => {
      const body = rows.map((row) => columns.map(({ cell, most }) => fit(cell(row), most ?? Infinity)))
      for (const cells of body) cells.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))))
      const head = titled ? [] : [columns.map(({ title }) => title)]
      titled = true
      return [...head, ...body].map(line)
    }
  }
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** A bar of so many cells for a share between 0 and 1, to the eighth of a cell; anything above nothing is seen. */
export const bar = (share: number, cells: number): string => {
  const wanted = Math.round(Math.min(Math.max(share, 0), 1) * cells * 8)
  const steps = share > 0 ? Math.max(1, wanted) : 0
  return "█".repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? "")
}

const whole = new Intl.NumberFormat("en-US")

/** Hours and minutes, cut to the minute. */
export const hours = (duration: Duration.Duration): string => {
  const minutes = Math.floor(Duration.toMinutes(duration))
  return `${whole.format(Math.floor(minutes / 60))}:${String(minutes % 60).padStart(2, "0")}`
}

const hundredths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Minor units as major ones; which currency it is, the service does not say. */
export const money = (cents: number): string => hundredths.format(cents / 100)
