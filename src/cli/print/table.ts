/** Lays rows out as lines of a terminal, padded by display width, and draws bars. Pure. */
import { displayWidth } from "effect/cli/CliOutput"
import { escaped } from "../../internal/text/printable.ts"
import { plain, type Style, type Styles } from "./colour.ts"

/** What a table is shown on. A pipe has no limit of width and no colour. */
export interface Screen {
  readonly width: number
  readonly styles: Styles
}

/** Standard output that is not a terminal. */
export const piped: Screen = { width: Infinity, styles: plain }

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => string
  readonly align?: "left" | "right" | undefined
  /** Maximum display width of a cell in a terminal; longer text is cut. In a pipe nothing is cut. */
  readonly maxWidth?: number | undefined
  /** A cell in less space, for a terminal that is too narrow. */
  readonly short?: ((row: A) => string) | undefined
  /** In which order columns are left out of a terminal that is still too narrow: 1 is left out first. Default: the column stays. */
  readonly dropOrder?: number | undefined
  /** How narrow the column may become. In less space than its text needs, its words wrap into the lines below. */
  readonly minWidth?: number | undefined
  /** Whether a word that is wider than `minWidth` is a reason to shorten cells and to leave columns out. */
  readonly keepsWords?: boolean | undefined
  /** Whether the cell of a row is a warning. */
  readonly warns?: ((row: A) => boolean) | undefined
}

const ascii = /^[\x20-\x7e]*$/

/**
 * A column of names. In a terminal that is too narrow they are shorter, and an id without a name is shown in its place: the
 * column of ids is left out before the column of names.
 */
export const nameColumn = <A>(
  title: string,
  cell: (row: A) => string | undefined,
  idOf: (row: A) => string,
  dropOrder?: number,
  maxWidth = 24
): Column<A> => ({
  title,
  maxWidth,
  cell: (row) => cell(row) ?? "",
  short: (row) => fit(cell(row) ?? idOf(row), 12),
  dropOrder
})

const widthOf = (text: string): number => ascii.test(text) ? text.length : displayWidth(text)

let segmenter: Intl.Segmenter | undefined

/** Made for the first text that needs it: Intl takes milliseconds to load its data. */
const graphemesOf = (text: string) =>
  (segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text)

/** Fits text of foreign origin into a cell: escapes control characters and cuts to a display width. */
export const fit = (text: string, maxWidth: number): string => {
  const line = escaped(text)
  if (widthOf(line) <= maxWidth) return line
  let taken = ""
  for (const { segment } of graphemesOf(line)) {
    if (widthOf(taken + segment) >= maxWidth) break
    taken += segment
  }
  return `${taken}…`
}

const pad = (text: string, width: number, align: "left" | "right", style: Style | undefined): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)))
  const styled = style === undefined ? text : style(text)
  return align === "left" ? styled + space : space + styled
}

/** A number below zero, as amounts and hours show it. */
const minus = /^-\d/

/**
 * Lays rows out page by page: `lines` returns the lines of some rows, after the titles in the first call. Columns only
 * grow, so the first rows of a long listing may be narrower than later ones. If they are wider than the screen, cells are
 * shortened, then columns are left out, then words wrap in the columns that may. Titles are bold, a minus in a column of
 * numbers is red, a warning yellow.
 */
export const makeTable = <A>(columns: ReadonlyArray<Column<A>>, { styles, width }: Screen = piped) => {
  let shape: Shape<A> | undefined
  let isFirst = true
  const shapeFor = (rows: ReadonlyArray<A>) => shape ??= shapeOf(columns, width, rows)
  return {
    /** Makes the columns as wide as these rows need, before any is laid out. */
    widen: (rows: ReadonlyArray<A>): void => {
      const { shown, widths } = shapeFor(rows)
      widen(widths, cellsOf(shown, rows, width))
    },
    lines: (rows: ReadonlyArray<A>): ReadonlyArray<string> => {
      const { shown, widths } = shapeFor(rows)
      const body = cellsOf(shown, rows, width)
      widen(widths, body)
      const fitted = fittedTo(width, shown, widths)
      const line = (cells: ReadonlyArray<string>, ofCells: ReadonlyArray<Style | undefined> = []) =>
        cells.map((cell, at) => pad(cell, fitted[at] ?? 0, shown[at]?.align ?? "left", ofCells[at]))
          .join(" ".repeat(gap)).trimEnd()
      const titles = isFirst ? [styles.bold(line(shown.map(({ title }) => title)))] : []
      isFirst = false
      return [
        ...titles,
        ...body.flatMap((cells, at) => {
          const row = rows[at]
          const ofCells = styles === plain ?
            [] :
            shown.map(({ align, warns }, at) =>
              align === "right" && minus.test(cells[at] ?? "")
                ? styles.red
                : row !== undefined && warns?.(row)
                ? styles.yellow
                : undefined
            )
          const wrapped = cells.map((cell, at) =>
            shown[at]?.minWidth === undefined ? [cell] : wrap(cell, fitted[at] ?? 0)
          )
          const height = Math.max(...wrapped.map((words) => words.length))
          return Array.from({ length: height }, (_, at) => line(wrapped.map((words) => words[at] ?? ""), ofCells))
        })
      ]
    }
  }
}

/** The widths of the columns in a terminal: those that may wrap share what the others leave, the narrow ones first. */
const fittedTo = <A>(
  width: number,
  shown: ReadonlyArray<Column<A>>,
  widths: ReadonlyArray<number>
): ReadonlyArray<number> => {
  const fitted = [...widths]
  const flexible = shown.flatMap(({ minWidth }, at) =>
    minWidth === undefined ? [] : [{ at, minWidth, natural: widths[at] ?? 0 }]
  )
    .toSorted((a, b) => a.natural - b.natural)
  let left = width - spaceOf(widths) + flexible.reduce((sum, { natural }) => sum + natural, 0)
  flexible.forEach(({ at, minWidth, natural }, index) => {
    const share = Math.floor(left / (flexible.length - index))
    const taken = Math.min(natural, Math.max(minWidth, share))
    fitted[at] = taken
    left -= taken
  })
  return fitted
}

/** The columns that fit, and the widths that they have so far. */
interface Shape<A> {
  readonly shown: ReadonlyArray<Column<A>>
  readonly widths: Array<number>
}

/** The widest choice of columns that fits these rows. If none fits: the columns that never leave. */
const shapeOf = <A>(columns: ReadonlyArray<Column<A>>, width: number, rows: ReadonlyArray<A>): Shape<A> => {
  const short = columns.map((column) => ({ ...column, cell: column.short ?? column.cell }))
  const places = [...new Set(short.flatMap(({ dropOrder = [] }) => dropOrder))].toSorted((a, b) => a - b)
  const choices = [
    columns,
    short,
    ...places.map((place) => short.filter(({ dropOrder = Infinity }) => dropOrder > place))
  ]
  const shown = choices.find((each) => width === Infinity || leastSpaceOf(each, rows) <= width)
  return shapeWith(shown ?? choices.at(-1) ?? columns)
}

const shapeWith = <A>(shown: ReadonlyArray<Column<A>>): Shape<A> => ({
  shown,
  widths: shown.map(({ title }) => widthOf(title))
})

const leastSpaceOf = <A>(shown: ReadonlyArray<Column<A>>, rows: ReadonlyArray<A>): number => {
  const body = cellsOf(shown, rows, 0)
  const widths = widen(shapeWith(shown).widths, body)
  return spaceOf(widths.map((natural, at) => {
    const { keepsWords = false, minWidth } = shown[at] ?? {}
    if (minWidth === undefined) return natural
    const words = keepsWords ? body.flatMap((cells) => (cells[at] ?? "").split(" ")).map(widthOf) : []
    return Math.min(natural, Math.max(minWidth, ...words.map((word) => Math.min(word, longestWord))))
  }))
}

/** A longer word is broken. An instant with its offset is shorter. */
const longestWord = 32

const gap = 2

const spaceOf = (widths: ReadonlyArray<number>): number =>
  widths.reduce((sum, width) => sum + width, 0) + gap * Math.max(0, widths.length - 1)

const cellsOf = <A>(
  columns: ReadonlyArray<Column<A>>,
  rows: ReadonlyArray<A>,
  width: number
): ReadonlyArray<ReadonlyArray<string>> =>
  rows.map((row) =>
    columns.map(({ cell, maxWidth = Infinity }) => fit(cell(row), width === Infinity ? Infinity : maxWidth))
  )

const widen = (widths: Array<number>, body: ReadonlyArray<ReadonlyArray<string>>): Array<number> => {
  for (const cells of body) cells.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))))
  return widths
}

/** The words of a text in lines of a width; a longer word is broken. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => {
  if (widthOf(text) <= width) return [text]
  const lines: Array<string> = []
  for (const word of text.split(" ").flatMap((word) => broken(word, width))) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

const broken = (word: string, width: number): ReadonlyArray<string> => {
  if (widthOf(word) <= width) return [word]
  const parts = [""]
  for (const { segment } of graphemesOf(word)) {
    const last = parts.at(-1) ?? ""
    if (last === "" || widthOf(last + segment) <= width) parts[parts.length - 1] = last + segment
    else parts.push(segment)
  }
  return parts
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** A bar for a share from 0 to 1, exact to an eighth of a cell. A share above 0 shows at least that. */
export const bar = (share: number, cells: number): string => {
  const exact = Math.round(Math.min(Math.max(share, 0), 1) * cells * 8)
  const steps = share > 0 ? Math.max(1, exact) : 0
  return "█".repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? "")
}
