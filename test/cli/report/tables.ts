/** Reads the tables of a report, as a program would: every number by its exact value. */

/** A table: its rows by the titles of its columns. Cells are numbers if they have an exact value. */
type Rows = ReadonlyArray<Readonly<Record<string, string | number>>>

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'" }

const textOf = (markup: string): string =>
  markup.replaceAll(/<[^>]*>/g, "").replaceAll(/&(#?\w+);/g, (_, name: string) => entities[name] ?? "")

const cellsOf = (row: string): ReadonlyArray<string | number> =>
  [...row.matchAll(/<(?:th|td)(?: [^>]*)?>([^]*?)<\/(?:th|td)>/g)].map(([, content = ""]) => {
    const [, value] = /<data value="([^"]*)">/.exec(content) ?? []
    return value === undefined ? textOf(content) : Number(value)
  })

/** The rows of the body of the table with this caption; of its total with `part` "tfoot". */
export const rowsOf = (page: string, caption: string, part: "tbody" | "tfoot" = "tbody"): Rows => {
  const [, table = ""] = page.split(`<caption>${caption}</caption>`)
  const [own = ""] = table.split("</table>")
  const head = cellsOf(/<thead>([^]*?)<\/thead>/.exec(own)?.[1] ?? "").map(String)
  const body = new RegExp(`<${part}>([^]*?)</${part}>`).exec(own)?.[1] ?? ""
  return body.split("</tr>").filter((row) => row.includes("<tr>")).map((row) =>
    Object.fromEntries(cellsOf(row).map((cell, at) => [head[at] ?? "", cell]))
  )
}
