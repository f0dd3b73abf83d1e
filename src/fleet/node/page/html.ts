/** The view of a fleet as HTML, with the stylesheet and the script of its page. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { formatAge, formatNumber } from "../../../internal/page/amounts.ts"
import { fileLinks, type Html, html, markup, page } from "../../../internal/page/html.ts"
import { type Column, keyFigures, table, titles } from "../../../internal/page/parts.ts"
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

const ageText = (seconds: number): string => formatAge(Duration.seconds(seconds))

const shortTime = (iso: string): string => iso.slice(0, 19).replace("T", " ")

const timeText = (at: DateTime.Utc): string => shortTime(DateTime.formatIso(at))

const pauseLine = ({ by, reason, until }: Pause): Html =>
  html`<p class="notice"><strong class="bad">Paused: ${reason}${
    Option.match(by, { onNone: () => "", onSome: (by) => ` (${by})` })
  }</strong>, until ${
    Option.match(until, {
      onNone: () => reason === "operator" ? "an operator ends it" : "a company that is tried once an hour succeeds",
      onSome: (at) => `${timeText(at)} UTC`
    })
  }</p>
`

const stateKind: Readonly<Record<string, "good" | "warn" | "bad">> = {
  active: "good",
  paused: "warn",
  blocked: "bad",
  quarantined: "bad"
} satisfies Record<FleetState, "good" | "warn" | "bad">

const runnerKind = { working: "good", refused: "bad", sick: "bad", silent: "warn" } as const

type Runner = ReturnType<typeof summaryOf>["runners"][number]

const runnerColumns = (turns: number): ReadonlyArray<Column<Runner>> => {
  const number = (title: string, value: (runner: Runner) => number): Column<Runner> => ({
    title,
    isNumber: true,
    cell: (runner) => formatNumber(value(runner))
  })
  return [
    { title: "Runner", cell: ({ runner }) => runner },
    { title: "State", cell: ({ state }) => html`<span class="${runnerKind[state]}">${state}</span>` },
    { title: "Since (UTC)", isTime: true, cell: ({ startedAt }) => shortTime(startedAt) },
    { title: "Release", cell: ({ release }) => release },
    number("In work", ({ inWork }) => inWork),
    {
      title: "The longest",
      isNumber: true,
      cell: ({ holds: [longest] }) =>
        longest === undefined ? "–" : `${longest.companyId}, ${ageText(longest.forSeconds)}`
    },
    {
      title: "Share of the turns",
      isNumber: true,
      cell: ({ runs }) => turns === 0 ? "–" : `${formatNumber(Math.round(runs / turns * 100))} %`
    },
    number("Turns", ({ runs }) => runs),
    number("Failed", ({ failures }) => failures),
    number("Pages", ({ pages }) => pages),
    number("Rows", ({ rows }) => rows)
  ]
}

const companyFigures = (view: View): Html => {
  const { companies, due, failing, inWork, late, lateSeconds, states } = summaryOf(view)
  const figure = (name: string, count: number, kind?: string) => ({
    name,
    value: formatNumber(count),
    kind: count > 0 ? kind : undefined
  })
  return keyFigures([
    figure("Companies", companies),
    ...FleetState.literals.map((state) =>
      figure(state, states[state] ?? 0, state === "active" ? undefined : stateKind[state])
    ),
    figure("in work", inWork),
    figure("due", due),
    figure("late", late, "warn"),
    figure("failing", failing, "bad"),
    { name: "latest by", value: ageText(lateSeconds), kind: late > 0 ? "warn" : undefined }
  ])
}

/** What stands above the companies. */
export const summaryHtml = (view: View): string => {
  const { hour: { failures, pages, rows, runs }, runners } = summaryOf(view)
  const words = `${formatNumber(runs)} turns in the last hour, ${formatNumber(failures)} of them failed`
  return html`${view.pauses.map(pauseLine)}${companyFigures(view)}<h2>The last hour</h2>
<p>${words}; ${formatNumber(pages)} pages, ${formatNumber(rows)} rows written.</p>
${chart(sumsOf(view), words)}
<p class="muted hours" aria-hidden="true">${
    [59, 45, 30, 15, 0].map((minutes) =>
      html`<span>${timeText(DateTime.subtract(view.at, { minutes })).slice(11, 16)}</span>`
    )
  }</p>
<h2>Runners</h2>
${
    runners.length === 0
      ? html`<p class="muted">None was seen in the last hour.</p>
`
      : table("Runners", runnerColumns(runs), runners)
  }<p class="muted">Read at ${timeText(view.at)} UTC.</p>`.html
}

const companyColumns: ReadonlyArray<Column<Watched>> = [
  { title: "Company", isNumber: true, cell: ({ companyId: company }) => `${company}` },
  {
    title: "State",
    cell: ({ reason, state }) =>
      html`<span class="${stateKind[state] ?? "bad"}">${state}</span>${
        Option.match(reason, { onNone: () => "", onSome: (why) => ` (${why})` })
      }`
  },
  { title: "Phase", cell: ({ isInWork, phase }) => isInWork ? `${phase}, in work` : phase },
  {
    title: "Late",
    isNumber: true,
    cell: (company) => {
      const text = Duration.isZero(company.late) ? "–" : formatAge(company.late)
      return isLate(company) ? html`<span class="warn">${text}</span>` : text
    }
  },
  { title: "Failures", isNumber: true, cell: ({ failures }) => failures === 0 ? "–" : formatNumber(failures) },
  {
    title: "Last error",
    cell: ({ lastError }) =>
      Option.match(lastError, {
        onNone: () => "–",
        // Its text may quote what the service or the driver sent, such as a cursor or a token: `fleet status` shows it.
        onSome: ({ at, tag }) =>
          html`<div class="error"><strong>${tag}</strong> <span class="muted">${timeText(at)}</span></div>`
      })
  },
  {
    title: "Last sync run (UTC)",
    isTime: true,
    cell: ({ lastOkAt }) => Option.match(lastOkAt, { onNone: () => "never", onSome: timeText })
  },
  { title: "Due (UTC)", isTime: true, cell: ({ nextAt, state }) => state === "active" ? timeText(nextAt) : "–" },
  { title: "Every", isNumber: true, cell: ({ every }) => formatAge(every) },
  { title: "Rows", isNumber: true, cell: ({ rows }) => formatNumber(rows) },
  { title: "Runner", cell: ({ runner }) => runner ?? "–" }
]

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
    query.limit > mostLive ? " A page with more than 500 rows stays as it is." : ""
  }</p>
${table("Companies", companyColumns, shown)}`.html
}

const options = (values: ReadonlyArray<string>, chosen: string): ReadonlyArray<Html> =>
  values.map((value) => html`<option${markup(value === chosen ? " selected" : "")}>${value}</option>`)

/** The whole page. Its script loads what stands in `summary` and `companies` again. */
export const fleetPage = (view: View, query: PageQuery, runner: string): string =>
  page({
    title: "Fleet of companies",
    head: fileLinks(""),
    body: html`<header>
<h1>Fleet of companies</h1>
<p class="muted">Shown by the runner ${runner}. <span id="live" role="status"></span></p>
</header>
<main${markup(query.limit > mostLive ? "" : " data-live")}>
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
.notice { background: var(--panel); border-left: 4px solid var(--bad); padding: 8px 12px; margin: 8px 0; }
.chart { display: block; width: 100%; height: 100px; }
.chart .turns { fill: var(--accent); }
.chart .failed { fill: var(--bad); }
.chart path { stroke: var(--line); fill: none; }
.hours { display: flex; justify-content: space-between; margin: 0; font-size: 13px; }
.hours span:last-child::after { content: " UTC"; }
.notice { overflow-wrap: anywhere; }
.error { min-width: 11em; max-width: 34em; overflow-wrap: anywhere; font-size: 13px; }
#companies td:nth-child(2), #companies td:last-child { min-width: 11em; overflow-wrap: anywhere; }
@media (min-width: 700px) { .figures { grid-template-columns: repeat(5, 1fr); } }
${titles("Runners", runnerColumns(0))}${titles("Companies", companyColumns)}`

/** Loads the page again every five seconds, and keeps what is scrolled and focused as it is. */
export const script = `"use strict"
const live = document.getElementById("live")
const replace = (place, fresh) => {
  if (place.innerHTML === fresh.innerHTML) return
  const before = [...place.querySelectorAll(".scroll")].map((element) => element.scrollLeft)
  const focused = [...place.querySelectorAll("a, [tabindex]")].indexOf(document.activeElement)
  place.replaceChildren(...fresh.childNodes)
  place.querySelectorAll(".scroll").forEach((element, at) => { element.scrollLeft = before[at] ?? 0 })
  if (focused >= 0) [...place.querySelectorAll("a, [tabindex]")][focused]?.focus({ preventScroll: true })
}
const load = async () => {
  const response = await fetch(location.href).catch(() => undefined)
  if (response?.ok) {
    const page = new DOMParser().parseFromString(await response.text(), "text/html")
    for (const id of ["summary", "companies"]) replace(document.getElementById(id), page.getElementById(id))
  }
  const away = response === undefined ? "runner" : "database"
  live.textContent = response?.ok ? "Live." : "The " + away + " does not answer: this is what it said last."
  setTimeout(load, 5000)
}
if (document.querySelector("main").dataset.live !== undefined) load()
for (const select of document.querySelectorAll("select")) select.addEventListener("change", () => select.form.submit())
`
