/** Tables of Markdown. Imports nothing, since the configuration of the runner reads them too. */

/** The tables of a page: rows of cells, the header first, without the separator line. */
export const tables = (text: string): ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>> =>
  [...text.matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) =>
    table.trim().split("\n")
      .filter((line) => !/^\|[ :|-]+\|$/.test(line))
      .map((line) => line.slice(1, -1).split("|").map((cell) => cell.trim()))
  )
