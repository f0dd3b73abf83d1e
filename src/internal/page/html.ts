/** START HERE. Pages of HTML, and who may read them. Their text cannot become markup; all have one stylesheet. */
import { escapedBy, unprintable } from "../text/printable.ts"

/** Text that is markup already. */
export interface Html {
  readonly html: string
  /** What it needs in the stylesheet of its page, beside the rules that all pages have. */
  readonly rules?: string | undefined
}

/** Marks text as markup. Only for text that this program makes, such as a drawing. */
export const markup = (text: string): Html => ({ html: text })

/** What stands in a template. */
export type Part = string | number | Html | undefined | ReadonlyArray<Part>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

/** What a page does not show. A soft hyphen in a word is where a browser may break it. */
const hidden = new RegExp(`(?<=\\p{L})\\u00ad(?=\\p{L})|${unprintable.source}`, "gu")

/** Text as a page shows it: hidden characters and changes of direction show their code. */
export const visibleText: (text: string) => string = escapedBy(hidden)

/** Text as it may stand in an element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  visibleText(text).replace(/[&<>"']/g, (char) => entities[char] ?? char)

const render = (part: Part): string =>
  part === undefined
    ? ""
    : typeof part === "number"
    ? `${part}`
    : typeof part === "string"
    ? escapeHtml(part)
    : "html" in part
    ? part.html
    : part.map(render).join("")

const rulesOf = (part: Part): string =>
  typeof part !== "object" ? "" : "html" in part ? part.rules ?? "" : part.map(rulesOf).join("")

/** Text as it may stand in quotes of a stylesheet: all but letters, digits and spaces by their code. */
export const quoted = (text: string): string =>
  `"${visibleText(text).replace(/[^a-z\d ]/giu, (char) => `\\${char.codePointAt(0)?.toString(16)} `)}"`

/** The pattern of hidden characters, for a script that writes text in the browser: the first group has them. */
export const hiddenCharacters: string = hidden.source

/** A template of markup: strings are escaped, numbers and `Html` stand as they are, `undefined` is left out. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html => {
  const texts = strings.flatMap((text, index) => [text, render(parts[index])])
  // A join copies a table of megabytes in each template around it. Short texts that are added keep all their parts in memory.
  return {
    html: texts.some((text) => text.length > 10_000) ? texts.reduce((all, text) => all + text) : texts.join(""),
    rules: rulesOf(parts)
  }
}

/** What every page has. `head` follows the title: links, styles, a policy. */
export const page = (options: { readonly title: string; readonly head?: Html; readonly body: Html }): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${options.title}</title>
${options.head}
</head>
<body>
${options.body}
</body>
</html>
`.html

/** The head of a page whose stylesheet and script are served in a folder, as `page.css` and `page.js`. */
export const fileLinks = (folder: string): Html =>
  html`<link rel="stylesheet" href="${folder}/page.css">
<link rel="icon" href="data:,">
<script src="${folder}/page.js" defer></script>`

/** The stylesheet of all pages: system fonts, light and dark, from 375 pixels up, and on paper. */
export const stylesheet = `:root {
  color-scheme: light dark;
  --text: light-dark(#1b1f24, #e6e9ee);
  --muted: light-dark(#57606a, #a3acb8);
  --ground: light-dark(#ffffff, #14171c);
  --panel: light-dark(#f5f7f9, #1d2128);
  --line: light-dark(#d0d7de, #3a424d);
  --accent: light-dark(#0a5bc4, #79b4ff);
  --good: light-dark(#1a6b33, #6fd08c);
  --warn: light-dark(#8a5300, #f2b84b);
  --bad: light-dark(#b3261e, #ff8d85);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1200px; padding: 16px;
  font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground);
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
a { color: var(--accent); }
.muted { color: var(--muted); }
.good { color: var(--good); }
.warn { color: var(--warn); }
.bad { color: var(--bad); }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin: 8px 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 8px; margin: 1rem 0; }
.figures div { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 6px 10px; }
.figures dt { color: var(--muted); font-size: 13px; }
.figures a { color: inherit; }
.figures dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; max-width: 100%; --cover: var(--ground) 2rem, transparent 3rem; --shade: light-dark(#0003, #fff3), transparent 12px; }
.scroll { background: linear-gradient(90deg, var(--cover)) local, linear-gradient(-90deg, var(--cover)) local, linear-gradient(90deg, var(--shade)), linear-gradient(-90deg, var(--shade)); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; unicode-bidi: isolate; }
th { font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; }
td.number, td.time { white-space: nowrap; }
code, pre, .mono { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--panel); padding: 12px; overflow-x: auto; overflow-wrap: normal; }
button, select, input {
  font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: 4px 10px;
}
button { cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { max-width: 100%; height: auto; }
@media screen and (max-width: 600px) {
  .rows :is(table, caption, tbody, tfoot) { display: block; }
  .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .rows :is(tbody, tfoot) > tr { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 16px; padding: 6px 0; border-bottom: 1px solid var(--line); }
  .rows :is(tbody, tfoot) > tr > * { --left: 6.5rem; --width: 6rem; display: flow-root; grid-column: 1 / -1; padding: 1px 0 1px var(--left); border: 0; min-width: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .rows :is(tbody, tfoot) > tr > :first-child { padding: 1px 0; font-weight: 600; }
  .rows :is(tbody, tfoot) > tr > td.number:is(.number + *, :has(+ .number)) { --left: 0px; --width: auto; grid-column: auto; text-align: right; white-space: nowrap; }
  .rows td::before { content: var(--title); float: left; width: var(--width); max-width: 75%; margin-left: calc(-1 * var(--left)); white-space: normal; text-align: left; color: var(--muted); font: 15px/1.5 system-ui, sans-serif; }
  .rows :is(tbody, tfoot) > tr > td:is(:empty, :has(> :empty)) { padding: 0; &::before { content: none; } }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 11px; }
  h2, tr, svg { break-inside: avoid; }
  .screen { display: none; }
}
`
