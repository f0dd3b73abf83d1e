/** Parts of a page: tables and key figures. */
import { type Html, html, markup, quoted } from "./html.ts"

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  /** A text, a number with its exact value, or markup. */
  readonly cell: (row: Row) => string | Quantity | Html
  readonly isNumber?: boolean | undefined
  readonly isTime?: boolean | undefined
}

/** A number as it is shown, and its exact value for programs. */
export interface Quantity {
  readonly value: number
  readonly text: string
}

/**
 * A table that scrolls sideways if it must. The first cell of a row is its heading, and `total` is the last row. In a narrow window a
 * row is a block, except of a `grid`, whose numbers are read by rows and by columns.
 */
export const table = <Row>(
  label: string,
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  { caption, isGrid = false, total }: {
    readonly caption?: Html
    readonly isGrid?: boolean | undefined
    readonly total?: Row | undefined
  } = {}
): Html => {
  const classes = columns.map(({ isNumber, isTime }) =>
    isNumber === true ? markup(` class="number"`) : isTime === true ? markup(` class="time"`) : undefined
  )
  const line = (row: Row) =>
    html`<tr>${
      columns.map(({ cell }, at) => {
        const found = cell(row)
        const content = typeof found === "object" && "text" in found
          ? html`<data value="${found.value}">${found.text}</data>`
          : found
        return at === 0
          ? html`<th scope="row"${classes[at]}>${content}</th>`
          : html`<td${classes[at]}>${content}</td>`
      })
    }</tr>
`
  const found = html`<div class="scroll ${isGrid ? "grid" : "rows"}" role="region" tabindex="0" aria-label="${label}">
<table>
${caption}<thead><tr>${columns.map(({ title }, at) => html`<th scope="col"${classes[at]}>${title}</th>`)}</tr></thead>
<tbody>
${rows.map(line)}</tbody>
${
    total === undefined ? undefined : html`<tfoot>
${line(total)}</tfoot>
`
  }</table>
</div>
`
  return isGrid ? found : { ...found, rules: titles(label, columns) }
}

/**
 * The titles of a table whose rows are blocks in a narrow window, as rules of a stylesheet: there each cell stands behind the title
 * of its column. They are once in the page, not in each row.
 */
export const titles = (label: string, columns: ReadonlyArray<Pick<Column<never>, "title">>): string =>
  `[aria-label=${quoted(label)}] td { ${
    columns.map(({ title }, at) => at === 0 ? "" : `&:nth-child(${at + 1}) { --title: ${quoted(title)}; } `).join("")
  }}
`

/** Key figures side by side. `kind`: a class of the stylesheet, such as `bad`. `href`: the part of the page that it counts. */
export const keyFigures = (
  figures: ReadonlyArray<{
    readonly name: string
    readonly value: string
    readonly kind?: string | undefined
    readonly href?: string | undefined
  }>
): Html =>
  html`<dl class="figures">
${
    figures.map(({ href, kind, name, value }) =>
      html`<div><dt>${name}</dt><dd${kind === undefined ? undefined : html` class="${kind}"`}>${
        href === undefined ? value : html`<a href="${href}">${value}</a>`
      }</dd></div>
`
    )
  }</dl>
`
