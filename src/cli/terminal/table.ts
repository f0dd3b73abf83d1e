/** Lays rows out as lines of a terminal, padded by display width, and draws bars. Pure. */
import { displayWidth } from "effect/cli/CliOutput"
import { printable } from "../../internal/base/printable.ts"

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => string
  readonly align?: "left" | "right" | undefined
  /** Maximum display width of a cell; longer text is cut. */
  readonly maxWidth?: number | undefined
}

const ascii = /^[\x20-\x7e]*$/

const widthOf = (text: string): number => ascii.test(text) ? text.length : displayWidth(text)

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Fits text of foreign origin into a cell: escapes control characters and cuts to a display width. */
export const fit = (text: string, maxWidth: number): string => {
  const line = printable(text)
  if (widthOf(line) <= maxWidth) return line
  let taken = ""
  for (const { segment } of graphemes.segment(line)) {
    if (widthOf(taken + segment) >= maxWidth) break
    taken += segment
  }
  return `${taken}…`
}

const pad = (text: string, width: number, align: "left" | "right"): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "left" ? text + space : space + text
}

/**
 * Lays rows out page by page: `lines` returns the lines of some rows, after the titles in the first call. Columns only
 * grow, so the first rows of a long listing may be narrower than later ones.
 */
export const makeTable = <A>(columns: ReadonlyArray<Column<A>>) => {
  const widths = columns.map(({ title }) => widthOf(title))
  const line = (cells: ReadonlyArray<string>) =>
    cells.map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align ?? "left")).join("  ").trimEnd()
  let titled = false
  return {
    lines: (rows: ReadonlyArray<A>): ReadonlyArray<string> => {
      const body = rows.map((row) => columns.map(({ cell, maxWidth }) => fit(cell(row), maxWidth ?? Infinity)))
      for (const cells of body) cells.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))))
      const head = titled ? [] : [columns.map(({ title }) => title)]
      titled = true
      return [...head, ...body].map(line)
    }
  }
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** A bar for a share from 0 to 1, exact to an eighth of a cell. A share above 0 shows at least that. */
export const bar = (share: number, cells: number): string => {
  const exact = Math.round(Math.min(Math.max(share, 0), 1) * cells * 8)
  const steps = share > 0 ? Math.max(1, exact) : 0
  return "█".repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? "")
}
