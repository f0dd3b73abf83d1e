/** Parts of a page: tables and key figures. */
import { type Html, html, markup } from "./html.ts"

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

/** A table that scrolls sideways if it must. The first cell of a row is its heading, and `total` is the last row. */
export const table = <Row>(
  label: string,
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  { caption, total }: { readonly caption?: Html; readonly total?: Row | undefined } = {}
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
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}">
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
}

/**
 * Rules of a stylesheet by which a narrow window shows each row of the table with this label as a block: a line for each cell,
 * behind the title of its column.
 */
export const blocks = (label: string, columns: ReadonlyArray<Pick<Column<never>, "title">>): string => {
  const table = `[aria-label="${label}"] table`
  return `@media screen and (max-width: 600px) {
  ${table}, ${table} :is(caption, tbody, tr, th, td) { display: block; }
  ${table} thead { position: absolute; clip-path: inset(50%); }
  ${table} tbody tr { padding: 6px 0; border-bottom: 1px solid var(--line); }
  ${table} tbody :is(th, td) { display: flow-root; padding: 1px 0 1px 7.5em; border: 0; min-width: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  ${table} tbody :is(th, td)::before { float: left; width: 7em; margin-left: -7.5em; color: var(--muted); font-weight: 400; }
${
    columns.map(({ title }, at) => `  ${table} tbody :nth-child(${at + 1}):is(th, td)::before { content: "${title}"; }`)
      .join("\n")
  }
}
`
}

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
