/** The page of a sandbox as HTML, and what it adds to the stylesheet of all pages. */
import { fileLinks, type Html, html, page } from "../../internal/page/html.ts"
import { titles } from "../../internal/page/parts.ts"
import type { FaultWhen } from "../faults/Fault.ts"
import type { FakeAccess } from "../service/options.ts"
import { faultButtons, faultGroups, faultTargets, faultTimes } from "./faults.ts"

/** Where the stylesheet and the script are. */
export const folder = "/sandbox"

/** The page. All that changes is filled in by its script. */
export const sandboxPage = ({ basePath, companies }: FakeAccess, origin: string): string =>
  page({
    title: "Time punches: sandbox",
    head: fileLinks(folder),
    body: html`<header>
<h1>Sandbox</h1>
<p>${origin}${basePath} answers as the time-punch service does, with made-up punches.</p>
</header>
<main>
${client(companies)}${requests}${faults}${punches(basePath)}${correction}</main>`
  })

/** How many companies the field proposes. */
const proposed = 50

const client = (companies: FakeAccess["companies"]): Html =>
  html`<h2>Connect a client</h2>
<form id="choose" class="bar">
<label for="company">Company</label>
<input id="company" list="companies" inputmode="numeric" autocomplete="off" value="${companies[0]?.id}">
<datalist id="companies">${
    companies.slice(0, proposed).map(({ id }) => html`<option value="${id}"></option>`)
  }</datalist>
<button>Show</button>
<button id="copy" type="button">Copy the lines</button>
<span id="copied" role="status" class="muted"></span>
</form>
<pre id="environment" tabindex="0" aria-label="Lines for a shell"></pre>
`

const requestTitles = ["Time (UTC)", "Request", "Answer", "ms"]

const punchTitles = [
  "",
  "Punch",
  "User",
  "Location",
  "Clock-in",
  "Clock-out",
  "Wage",
  "Tips",
  "State",
  "Notes",
  "Modified"
]

const numbers = new Set(["ms", "Punch", "User", "Location", "Wage", "Tips"])

const head = (titles: ReadonlyArray<string>): Html =>
  html`<thead><tr>${
    titles.map((title) =>
      title === ""
        ? html`<td></td>`
        : html`<th scope="col"${numbers.has(title) ? html` class="number"` : undefined}>${title}</th>`
    )
  }</tr></thead>`

const requests = html`<h2>Requests</h2>
<p id="requests" class="muted">Loading …</p>
<div class="scroll log rows" role="region" aria-label="Requests, the latest first" tabindex="0">
<table>
${head(requestTitles)}
<tbody id="log"></tbody>
</table>
</div>
`

const options = (entries: Readonly<Record<string, readonly [string, FaultWhen]>>): ReadonlyArray<Html> =>
  Object.entries(entries).map(([value, [label]]) => html`<option value="${value}">${label}</option>`)

const faultButton = (name: string, label: string, choice: number): Html =>
  label === ""
    ? html`<button data-fault="${name}" data-choice="${choice}">${name}</button> `
    : html`<button data-fault="${name}" data-choice="${choice}" aria-label="${name} ${label}">${label}</button> `

const faultList = (group: string): Html =>
  html`<section class="faults"><h3>${group}</h3>
${
    Object.entries(faultButtons).filter(([, buttons]) => buttons.group === group).map(([name, buttons]) =>
      html`<p>${buttons.description}${buttons.lasts === true ? ", until cleared" : ""}</p>
<div>${buttons.choices[0]?.[0] === "" ? undefined : html`<code>${name}</code> `}${
        buttons.choices.map(([label], choice) => faultButton(name, label, choice))
      }</div>
`
    )
  }</section>
`

const faults = html`<h2>Faults</h2>
<div class="bar">
<label for="times">Strike</label> <select id="times">${options(faultTimes)}</select>
<select id="target" aria-label="Kind of request">${options(faultTargets)}</select>
<button id="clear" disabled>Clear all</button>
<span id="pressed" role="status" class="muted"></span>
</div>
<ul id="active" class="mono" aria-label="Faults that wait"></ul>
<div class="groups">
${faultGroups.map(faultList)}</div>
`

const punches = (basePath: string): Html =>
  html`<section id="punches" data-base="${basePath}">
<h2>Punches</h2>
<p>The page lists them as a client does: faults strike it too.</p>
<div class="bar">
<button id="first">First page</button>
<button id="previous" disabled>Previous</button>
<button id="next" disabled>Next</button>
<label><input id="deleted" type="checkbox"> with deleted ones</label>
<span id="page" role="status" class="muted"></span>
</div>
<div class="scroll rows" role="region" aria-label="Punches" tabindex="0">
<table>
${head(punchTitles)}
<tbody id="rows"></tbody>
</table>
</div>
</section>
`

const field = (name: string, label: string, type: string): Html =>
  html`<label for="new-${name}">${label}</label><input id="new-${name}" type="${type}" autocomplete="off">
`

const correction = html`<dialog id="dialog" aria-labelledby="title">
<form id="correction">
<h2 id="title">Correct a punch</h2>
<div class="fields">
${[
  field("clocked_in", "Clock-in", "text"),
  field("clocked_out", "Clock-out, empty while open", "text"),
  field("hourly_wage", "Hourly wage in cents", "text"),
  field("tips", "Tips in cents", "text")
]}<label for="new-notes">Notes</label><textarea id="new-notes" rows="2"></textarea>
<label for="new-status">Approval by the employee</label>
<select id="new-status"><option value="">as it is</option><option>pending</option><option>approved</option>
<option>disputed</option></select>
${field("approved", "Approved", "checkbox")}${field("deleted", "Deleted", "checkbox")}</div>
<p id="refused" role="alert"></p>
<div class="bar"><button>Save</button> <button id="cancel" type="button">Cancel</button></div>
</form>
</dialog>
`

/** What the page adds to the stylesheet of all pages. */
export const style = `body { max-width: 1400px; }
h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.bar span { min-width: 0; overflow-wrap: anywhere; }
#company { width: 9em; }
.log { max-height: 320px; overflow-y: auto; border: 1px solid var(--line); }
.log tbody > tr { padding-inline: 8px; }
.log td:first-child, .when { white-space: nowrap; }
.when { font-size: 13px; }
@media (min-width: 601px) { #punches :is(th, td) { padding-inline: 4px; } }
#rows button { padding-block: 0; }
.notes { min-width: 8em; overflow: hidden; overflow-wrap: anywhere; white-space: pre-wrap; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.groups { columns: 3 340px; column-gap: 24px; }
.faults { break-inside: avoid; }
.faults:first-child h3 { margin-top: 0; }
.faults p { margin: 8px 0 4px; }
.faults div { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
#active:empty { display: none; }
button:disabled { opacity: .5; cursor: default; }
textarea { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: 4px 10px; }
dialog { width: min(560px, 100%); color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
dialog::backdrop { background: rgb(0 0 0 / .4); }
dialog h2 { margin-top: 0; }
.fields { display: grid; grid-template-columns: minmax(8em, auto) minmax(0, 1fr); gap: 8px; align-items: center; }
.fields input[type="checkbox"] { justify-self: start; }
@media (max-width: 480px) {
  .fields { grid-template-columns: minmax(0, 1fr); }
}
${titles("Requests, the latest first", requestTitles.map((title) => ({ title })))}${
  titles("Punches", punchTitles.map((title) => ({ title })))
}`
