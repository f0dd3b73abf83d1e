/** The view of a fleet as HTML, with the stylesheet and the script of its page. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { formatNumber } from "../../../internal/page/amounts.ts"
import { type Html, html, markup, page } from "../../../internal/page/html.ts"
import { FleetState } from "../../CompanyState.ts"
import type { Pause } from "../../store/operator.ts"
import {
  isLate,
  kinds,
  mostLive,
  mostRows,
  orders,
  type PageQuery,
  select,
  summaryOf,
  sumsOf,
  type View,
  type Watched
} from "./view.ts"

/** Bars of the turns of each minute, the failed ones at their foot. It is inline SVG without text, and `label` says it in words. */
export const chart = (
  minutes: ReadonlyArray<{ readonly runs: number; readonly failures: number }>,
  label: string
): Html => {
  const most = Math.max(1, ...minutes.map(({ runs }) => runs))
  const bar = (name: string, at: number, count: number) =>
    markup(
      count === 0
        ? ""
        : `<rect class="${name}" x="${at * 10}" y="${y(count)}" width="8" height="${round(100 - y(count))}"/>`
    )
  const round = (value: number) => Math.round(value * 10) / 10
  const y = (count: number) => round(100 - (count / most) * 100)
  const bars = minutes.flatMap(({ failures, runs }, at) => [bar("turns", at, runs), bar("failed", at, failures)])
  return html`<svg class="chart" viewBox="0 0 ${
    minutes.length * 10
  } 101" role="img" aria-label="${label}" preserveAspectRatio="none">${bars}<path d="M0 100.5H${
    minutes.length * 10
  }"/></svg>`
}

/** A time in its two largest units. */
export const ageText = (seconds: number): string => {
  const whole = Math.floor(seconds)
  const units = [[86_400, "d"], [3600, "h"], [60, "m"], [1, "s"]] as const
  const first = units.findIndex(([size]) => whole >= size)
  if (first < 0) return "0s"
  let left = whole
  return units.slice(first, first + 2).flatMap(([size, name]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? [] : [`${count}${name}`]
  }).join(" ")
}

const timeText = (at: DateTime.Utc): string => DateTime.formatIso(at).slice(0, 19).replace("T", " ")

const pauseLine = ({ reason, until }: Pause): Html =>
  html`<p class="notice"><strong class="bad">Paused: ${reason}</strong>, until ${
    Option.match(until, {
      onNone: () => reason === "operator" ? "an operator ends it" : "a company that is tried once an hour succeeds",
      onSome: (at) => `${timeText(at)} UTC`
    })
  }</p>
`

const figure = (name: string, value: string, kind = ""): Html =>
  html`<div><dt>${name}</dt><dd class="${kind}">${value}</dd></div>
`

/** What each process has in work, and its share of the turns of the last hour. */
const runnersTable = (runners: ReturnType<typeof summaryOf>["runners"], turns: number): Html =>
  runners.length === 0
    ? html`<p class="muted">None has had a company yet.</p>`
    : html`<div class="scroll" role="region" aria-label="Runners" tabindex="0"><table>
<thead><tr><th scope="col">Runner</th><th scope="col" class="number">In work</th><th scope="col" class="number">Companies, last synced by it</th><th scope="col" class="number">Share of the turns</th><th scope="col" class="number">Turns</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Pages</th><th scope="col" class="number">Rows</th></tr></thead>
<tbody>
${
      runners.map(({ companies, failures, inWork, name, pages, rows, runs }) =>
        html`<tr><th scope="row">${name}</th><td class="number">${formatNumber(inWork)}</td><td class="number">${
          formatNumber(companies)
        }</td><td class="number">${
          turns === 0 ? "–" : `${formatNumber(Math.round(runs / turns * 100))} %`
        }</td><td class="number">${formatNumber(runs)}</td><td class="number">${
          formatNumber(failures)
        }</td><td class="number">${formatNumber(pages)}</td><td class="number">${formatNumber(rows)}</td></tr>
`
      )
    }</tbody>
</table></div>`

/** What stands above the companies. */
export const summaryHtml = (view: View): string => {
  const { companies, due, failing, inWork, late, lateSeconds, runners, states } = summaryOf(view)
  const sums = sumsOf(view)
  const hour = sums.reduce(
    (sum, { failures, pages, rows, runs }) => ({
      runs: sum.runs + runs,
      pages: sum.pages + pages,
      rows: sum.rows + rows,
      failures: sum.failures + failures
    }),
    { runs: 0, pages: 0, rows: 0, failures: 0 }
  )
  const words = `${formatNumber(hour.runs)} turns in the last hour, ${formatNumber(hour.failures)} of them failed`
  return html`${view.pauses.map(pauseLine)}<dl class="figures">
${figure("Companies", formatNumber(companies))}${
    FleetState.literals.map((state) => {
      const count = states[state] ?? 0
      const kind = count === 0 || state === "active" ? "" : state === "paused" ? "warn" : "bad"
      return figure(state, formatNumber(count), kind)
    })
  }${figure("in work", formatNumber(inWork))}${figure("due", formatNumber(due))}${
    figure("late", formatNumber(late), late > 0 ? "warn" : "")
  }${figure("failing", formatNumber(failing), failing > 0 ? "bad" : "")}${
    figure("latest by", ageText(lateSeconds), late > 0 ? "warn" : "")
  }</dl>
<h2>The last hour</h2>
<p>${words}; ${formatNumber(hour.pages)} pages, ${formatNumber(hour.rows)} rows written.</p>
${chart(sums, words)}
<h2>Runners</h2>
${runnersTable(runners, hour.runs)}
<p class="muted">Read at ${timeText(view.at)} UTC.</p>`.html
}

const stateKind = { active: "good", paused: "warn", blocked: "bad", quarantined: "bad" } as const

const companyRow = (company: Watched): Html => {
  const {
    everySeconds,
    failures,
    isInWork,
    lastError,
    lastOkAt,
    lateSeconds,
    nextAt,
    phase,
    reason,
    rows,
    runner,
    state
  } = company
  return html`<tr><th scope="row" class="number">${company.company}</th><td><span class="${
    stateKind[state]
  }">${state}</span>${Option.match(reason, { onNone: () => "", onSome: (why) => ` (${why})` })}</td><td>${
    isInWork ? `${phase}, in work` : phase
  }</td><td class="number${markup(isLate(company) ? " warn" : "")}">${
    lateSeconds === 0 ? "–" : ageText(lateSeconds)
  }</td><td class="number">${failures === 0 ? "–" : formatNumber(failures)}</td><td class="error">${
    Option.match(lastError, {
      onNone: () => html`–`,
      // Its text may quote what the service or the driver sent, such as a cursor or a token: `fleet status` shows it.
      onSome: ({ at, tag }) => html`<strong>${tag}</strong> <span class="muted">${timeText(at)}</span>`
    })
  }</td><td class="time">${Option.match(lastOkAt, { onNone: () => "never", onSome: timeText })}</td><td class="time">${
    timeText(nextAt)
  }</td><td class="number">${ageText(everySeconds)}</td><td class="number">${formatNumber(rows)}</td><td>${
    runner ?? "–"
  }</td></tr>
`
}

const linkTo = (query: PageQuery): string =>
  `/?${
    new URLSearchParams({ show: query.show, sort: query.sort, find: query.find, limit: `${query.limit}` }).toString()
  }`

/** The companies of a query. */
export const companiesHtml = (view: View, query: PageQuery): string => {
  const { count, shown } = select(view, query)
  const rest = count > shown.length
    ? html` <a href="${linkTo({ ...query, limit: mostRows })}">Show ${formatNumber(Math.min(count, mostRows))}</a>`
    : html``
  return html`<p>${formatNumber(shown.length)} of ${formatNumber(count)} companies.${rest}${
    query.limit > mostLive ? " More than 500 rows are not replaced while the page is open." : ""
  }</p>
<div class="scroll" role="region" aria-label="Companies" tabindex="0"><table>
<thead><tr><th scope="col" class="number">Company</th><th scope="col">State</th><th scope="col">Phase</th><th scope="col" class="number">Late</th><th scope="col" class="number">Failures</th><th scope="col">Last error</th><th scope="col">Last pass (UTC)</th><th scope="col">Due (UTC)</th><th scope="col" class="number">Every</th><th scope="col" class="number">Rows</th><th scope="col">Runner</th></tr></thead>
<tbody>
${shown.map(companyRow)}</tbody>
</table></div>`.html
}

const options = (values: ReadonlyArray<string>, chosen: string): ReadonlyArray<Html> =>
  values.map((value) => html`<option${markup(value === chosen ? " selected" : "")}>${value}</option>`)

/** Outside of a tagged template: the bundler would rewrite that with a helper of a package without a licence text. */
const scriptTag = markup("<script src=\"/page.js\" defer></script>")

/** The whole page. Its script replaces what stands in `summary` and `companies`. */
export const fleetPage = (view: View, query: PageQuery, runner: string): string =>
  page({
    title: "Fleet of companies",
    head: html`<link rel="stylesheet" href="/page.css">
<link rel="icon" href="data:,">
${scriptTag}`,
    body: html`<header>
<h1>Fleet of companies</h1>
<p class="muted">Shown by the runner ${runner}. <span id="live" role="status"></span></p>
</header>
<main>
<div id="summary">${markup(summaryHtml(view))}</div>
<h2>Companies</h2>
<form class="bar screen" method="get" action="/">
<label>Show <select name="show">${options(kinds, query.show)}</select></label>
<label>Sort by <select name="sort">${options(orders, query.sort)}</select></label>
<label>Id begins with <input name="find" inputmode="numeric" autocomplete="off" size="10" value="${query.find}"></label>
<input type="hidden" name="limit" value="${Math.min(query.limit, mostLive)}">
<button>Apply</button>
</form>
<div id="companies">${markup(companiesHtml(view, query))}</div>
</main>`
  })

/** What the page adds to the stylesheet of all pages. */
export const style = `body { max-width: 1400px; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(110px, 1fr)); gap: 8px; margin: 16px 0; }
.figures div { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 6px 10px; }
.figures dt { color: var(--muted); font-size: 13px; }
.figures dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.notice { background: var(--panel); border-left: 4px solid var(--bad); padding: 8px 12px; margin: 8px 0; }
.chart { display: block; width: 100%; height: 100px; }
.chart .turns { fill: var(--accent); }
.chart .failed { fill: var(--bad); }
.chart path { stroke: var(--line); fill: none; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin: 8px 0; }
.time, td.number { white-space: nowrap; }
.error { min-width: 16em; max-width: 34em; overflow-wrap: anywhere; font-size: 13px; }
`

/** Keeps the page up to date, and what is scrolled and focused as it is. */
export const script = `"use strict"
const live = document.getElementById("live")
const replace = (id, text) => {
  const place = document.getElementById(id)
  const before = [...place.querySelectorAll(".scroll")].map((element) => element.scrollLeft)
  const focused = [...place.querySelectorAll("a, [tabindex]")].indexOf(document.activeElement)
  place.innerHTML = text
  place.querySelectorAll(".scroll").forEach((element, at) => { element.scrollLeft = before[at] ?? 0 })
  if (focused >= 0) [...place.querySelectorAll("a, [tabindex]")][focused]?.focus({ preventScroll: true })
}
const events = new EventSource("/events" + location.search)
for (const id of ["summary", "companies"]) events.addEventListener(id, ({ data }) => replace(id, JSON.parse(data)))
events.addEventListener("away", () => { live.textContent = "The database does not answer: this is what it said last." })
events.addEventListener("summary", () => { live.textContent = "Live." })
events.addEventListener("error", () => { live.textContent = "The runner does not answer: this is what it said last." })
for (const select of document.querySelectorAll("select")) select.addEventListener("change", () => select.form.submit())
`
