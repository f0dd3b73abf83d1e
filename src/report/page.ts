/** The parts of a report as HTML: figures, charts, tables and findings, with one stylesheet and a policy that loads nothing. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import { counted, formatMoney, formatNumber, formatSignedHours } from "../internal/page/amounts.ts"
import { type Html, html, markup, page, stylesheet } from "../internal/page/html.ts"
import * as Parts from "../internal/page/parts.ts"
import type * as Labor from "../payroll/Labor.ts"
import { Weekday } from "../payroll/Period.ts"
import { type Finding, type Issue, issueOf } from "../payroll/PeriodCheck.ts"
import * as Charts from "./charts.ts"
import type { Figures } from "./figures.ts"
import type { Presence } from "./presence.ts"
import { byTime, type Excess, type ReportSums, sumsBy, totalOf } from "./sums.ts"

/** The name of an id; `undefined` if it has none. */
export type NameLookup = (kind: "user" | "location" | "role" | "department", id: number) => string | undefined

/** A name with its id, or the id alone. */
export const labelOf = (kind: "user" | "location", id: number, names: NameLookup | undefined): string => {
  const name = names?.(kind, id)
  return name === undefined ? `${kind} ${id}` : `${name} (${id})`
}

/** A whole report. */
export const documentOf = (title: string, lines: ReadonlyArray<string>, sections: ReadonlyArray<Html>) => {
  const style = [ownStyle, ...sections.map(({ rules }) => rules)].join("")
  return Effect.map(hashOf(style), (hash) =>
    page({
      title,
      head: html`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${
        markup(hash)
      }'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<style>${markup(style)}</style>`,
      body: html`<main>
<header>
<h1>${title}</h1>
${
        lines.map((line) =>
          html`<p class="muted">${line}</p>
`
        )
      }</header>
${sections}
</main>`
    }))
}

/** A part of a report. */
export const section = (title: string, ...parts: ReadonlyArray<Html | undefined>): Html =>
  html`<section id="${title.toLowerCase().replaceAll(" ", "-")}">
<h2>${title}</h2>
${parts}</section>
`

/** A line of small print. */
export const note = (text: string): Html =>
  html`<p class="muted">${text}</p>
`

/** A chart for a wide and one for a narrow window; the stylesheet shows one of them. */
const chart = (label: string, draw: (drawn: Charts.Drawn) => Html): Html =>
  html`<figure>
<div class="wide">${draw({ label, width: 900 })}</div>
<div class="narrow">${draw({ label, width: 343 })}</div>
</figure>
`

/** What each colour of a chart means. */
const legend = (entries: ReadonlyArray<readonly [colour: string, text: string]>): Html =>
  html`<ul class="legend">
${
    entries.map(([colour, text]) =>
      html`<li><svg viewBox="0 0 12 12" aria-hidden="true"><rect width="12" height="12" fill="${colour}"></rect></svg>${text}</li>
`
    )
  }</ul>
`

export const count = (value: number): Parts.Quantity => ({ value, text: formatNumber(value) })

/** Cents as units. */
export const money = (cents: number): Parts.Quantity => ({ value: cents, text: formatMoney(cents) })

/** A time; its exact value is in seconds. */
export const time = (duration: Duration.Duration): Parts.Quantity => ({
  value: Duration.toSeconds(duration),
  text: formatSignedHours(duration)
})

/** A table with a caption. */
export const table = <Row>(
  caption: string,
  columns: ReadonlyArray<Parts.Column<Row>>,
  rows: ReadonlyArray<Row>,
  options: { readonly isGrid?: boolean; readonly total?: Row } = {}
): Html =>
  Parts.table(caption, columns, rows, {
    ...options,
    caption: html`<caption>${caption}</caption>
`
  })

/** A table of what a chart shows, for who cannot see it or wants its numbers; closed at first. */
const chartNumbers = (numbers: Html): Html =>
  html`<details>
<summary>The numbers of this chart</summary>
${numbers}</details>
`

/** The sums of each key, in this order, and of all. */
export const sumsTable = (
  caption: string,
  kind: "location" | "user" | "day",
  rows: ReadonlyArray<ReportSums>,
  names: NameLookup | undefined
): Html => {
  const marked = (duration: Duration.Duration | undefined) => {
    const quantity = time(duration ?? Duration.zero)
    return quantity.value > 0 ? { ...quantity, text: `${mark} ${quantity.text}` } : quantity
  }
  const hours = (title: string, field: keyof Excess): ReadonlyArray<Parts.Column<ReportSums>> =>
    rows.some((row) => row[field] !== undefined)
      ? [{ title, isNumber: true, cell: (row) => marked(row[field]) }]
      : []
  const columns: ReadonlyArray<Parts.Column<ReportSums>> = [
    {
      title: kind === "day" ? "date" : kind === "user" ? "person" : "location",
      cell: ({ key }) =>
        kind === "day" || typeof key === "string"
          ? `${key}`
          : { value: key, text: names?.(kind, key) === undefined ? `${key}` : labelOf(kind, key, names) }
    },
    { title: "punches", isNumber: true, cell: ({ punches }) => count(punches) },
    { title: "incomplete", isNumber: true, cell: ({ incomplete }) => count(incomplete) },
    { title: "net", isNumber: true, cell: ({ net }) => time(net) },
    ...hours("over", "over"),
    ...hours("double", "double"),
    { title: "cost", isNumber: true, cell: ({ cost }) => money(cost) },
    { title: "tips", isNumber: true, cell: ({ tips }) => money(tips) }
  ]
  return table(caption, columns, rows, { total: totalOf(rows) })
}

/** Key figures of all sums, side by side. `hasIssues`: whether the page lists what is incomplete. */
export const keyFigures = (people: ReadonlyArray<ReportSums>, hasIssues: boolean): Html => {
  const { cost, incomplete, net, punches, tips } = totalOf(people)
  return Parts.keyFigures([
    { name: "net hours", value: formatSignedHours(net) },
    { name: "cost", value: formatMoney(cost) },
    { name: "tips", value: formatMoney(tips) },
    { name: "people", value: formatNumber(people.length) },
    { name: "punches", value: formatNumber(punches) },
    {
      name: "incomplete",
      value: formatNumber(incomplete),
      ...incomplete > 0 && { kind: "warn", href: hasIssues ? "#issues" : undefined }
    }
  ])
}

/** The most bars of a chart, and the most findings of a table: a page with more cannot be read. */
const mostBars = 40
const mostIssues = 1000

const leftOut = (all: number, most: number, what: string): Html | undefined =>
  all > most ? note(`The first ${formatNumber(most)} of ${formatNumber(all)} ${what}.`) : undefined

/** The most locations with a separate colour. */
const mostLocations = 7

/** Hours by day and location; the locations in the order of their time. */
export const hoursByDaySection = (days: Figures["days"], names: NameLookup | undefined): Html => {
  const dates = [...new Set(days.map(({ date }) => date))].toSorted()
  const locations = sumsBy(days, ({ locationId }) => locationId).toSorted(byTime).map(({ key }) => ({
    text: labelOf("location", Number(key), names),
    values: hoursOn(dates, days.filter(({ locationId }) => locationId === key))
  }))
  const [own, others] = locations.length <= mostLocations + 1
    ? [locations, []]
    : [locations.slice(0, mostLocations), locations.slice(mostLocations)]
  const parts = [
    ...own.map(({ text, values }, at) => ({ text, values, colour: Charts.colours.of(at) })),
    ...others.length === 0 ? [] : [{
      text: `${others.length} other locations`,
      values: dates.map((_, at) => others.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
      colour: Charts.colours.others
    }]
  ]
  return section(
    "Hours by day and location",
    legend(parts.map(({ colour, text }) => [colour, text])),
    chart(
      "Net hours of each day, stacked by location; the table below has the numbers",
      (drawn) => Charts.hoursByDay(dates.map((date) => date.slice(5)), parts, drawn)
    ),
    chartNumbers(table("Net hours by day and location", [
      { title: "date", cell: (at) => dates[at] ?? "" },
      ...parts.map(({ text, values }) => ({
        title: text,
        isNumber: true,
        cell: (at: number) => time(Duration.millis(Math.round((values[at] ?? 0) * hourMillis)))
      }))
    ], [...dates.keys()]))
  )
}

/** The net hours of one location on each of the dates. */
const hoursOn = (dates: ReadonlyArray<string>, days: Figures["days"]): ReadonlyArray<number> => {
  const byDate = new Map<string, Duration.Duration>(days.map(({ date, net }) => [date, net]))
  return dates.map((date) => hoursOf(byDate.get(date) ?? Duration.zero))
}

/** The cost of each location; the dearest first. */
export const costSection = (locations: ReadonlyArray<ReportSums>, names: NameLookup | undefined): Html => {
  const shown = locations.toSorted((one, other) => other.cost - one.cost || byTime(one, other)).slice(0, mostBars)
  const labels = shown.map(({ key }) => labelOf("location", Number(key), names))
  return section(
    "Cost by location",
    note("Net time at the hourly wage of each punch, rounded for each punch, without tips."),
    chart(
      "Cost of each location; the table by location has the numbers",
      (drawn) => Charts.costByLocation(labels, shown.map(({ cost }) => cost), drawn)
    ),
    leftOut(locations.length, mostBars, "locations, by cost; the table has all")
  )
}

/** The sign of a person with time over a threshold, beside the colour. */
const mark = "▲"

/** The thresholds as people read them; empty without one. */
const thresholdsText = (
  { dailyThreshold, doubleThreshold, seventhDay, weeklyThreshold }: Labor.Thresholds
): string =>
  [
    ...(weeklyThreshold === undefined ? [] : [`${lengthText(weeklyThreshold)} in a week`]),
    ...(dailyThreshold === undefined ? [] : [`${lengthText(dailyThreshold)} in a day`]),
    ...(doubleThreshold === undefined ? [] : [`${lengthText(doubleThreshold)} in a day (double)`]),
    ...(seventhDay === undefined
      ? []
      : [`${lengthText(Duration.zero)} on a seventh day (double over ${lengthText(seventhDay)})`])
  ].join(" or ")

const lengthText = (length: Duration.Input): string => {
  const duration = Duration.fromInputUnsafe(length)
  return Duration.isFinite(duration) ? formatSignedHours(duration) : "any number of hours"
}

/** Hours by person; who has most first. */
export const peopleSection = (
  people: ReadonlyArray<ReportSums>,
  options: Labor.Thresholds,
  names: NameLookup | undefined
): Html => {
  const thresholds = thresholdsText(options)
  const over = people.map(({ double = Duration.zero, over = Duration.zero }) => hoursOf(Duration.sum(over, double)))
  const marked = over.filter((hours) => hours > 0).length
  const shown = people.slice(0, mostBars)
  const labels = shown.map(({ key }, at) => {
    const label = labelOf("user", Number(key), names)
    return (over[at] ?? 0) > 0 ? `${mark} ${label}` : label
  })
  const parts = [
    { colour: Charts.colours.accent, values: shown.map(({ net }, at) => hoursOf(net) - (over[at] ?? 0)) },
    { colour: Charts.colours.over, values: over.slice(0, mostBars) }
  ]
  return section(
    "Hours by person",
    thresholds === "" ? undefined : note(`${counted(marked, "person", "people")} with time over ${thresholds}.`),
    thresholds === ""
      ? undefined
      : legend([[Charts.colours.accent, "hours"], [Charts.colours.over, `${mark} over a threshold`]]),
    chart(
      "Net hours of each person; the table by person has the numbers",
      (drawn) => Charts.hoursByPerson(labels, thresholds === "" ? parts.slice(0, 1) : parts, drawn)
    ),
    leftOut(people.length, mostBars, "people, by hours; the table has all")
  )
}

const hourMillis = 3_600_000

const hoursOf = (duration: Duration.Duration): number => Duration.toMillis(duration) / hourMillis

/** People on the clock by weekday and hour. */
export const presenceSection = (presence: Presence, firstDay: Weekday = "monday"): Html => {
  const first = Weekday.literals.indexOf(firstDay)
  const days = Weekday.literals.map((_, at) => (first + at) % 7)
  const rows = days.map((day) => presence.slice(24 * day, 24 * day + 24))
  const most = Math.max(...presence)
  const peak = presence.indexOf(most)
  const day = Weekday.literals[Math.floor(peak / 24)] ?? ""
  const label = `People on the clock by weekday and hour; most on ${day} from ${peak % 24}:00: ${
    Charts.peopleText(most)
  }; the table below has the numbers`
  const nameOf = (day: number) => capital(Weekday.literals[day] ?? "").slice(0, 3)
  return section(
    "People on the clock",
    note(
      "The average number of people at each hour, by the wall clock of their location: from clock-in to clock-out, without " +
        "unpaid breaks. A night counts in the hours in which it passed, after midnight on the next weekday. An hour that " +
        "the clocks repeat has the time of both; one that they skip has none."
    ),
    chart(
      label,
      (drawn) => Charts.heatMap(days.map(nameOf), rows, drawn)
    ),
    chartNumbers(table(
      "People on the clock by hour and weekday",
      [
        { title: "hour", cell: (hour) => `${hour}:00` },
        ...days.map((day) => ({
          title: nameOf(day),
          isNumber: true,
          cell: (hour: number) => peopleQuantity(presence[24 * day + hour] ?? 0)
        }))
      ],
      Array.from({ length: 24 }, (_, hour) => hour),
      { isGrid: true }
    )),
    most > 0
      ? note(`Most: ${Charts.peopleText(most)} on ${capital(day)} from ${peak % 24}:00 to ${peak % 24 + 1}:00.`)
      : undefined
  )
}

const peopleQuantity = (people: number): Parts.Quantity => ({ value: people, text: Charts.peopleText(people) || "0" })

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

const issueColumns = (names: NameLookup | undefined): ReadonlyArray<Parts.Column<Issue>> => [
  { title: "person", cell: ({ userId }) => labelOf("user", userId, names) },
  { title: "kind", cell: ({ kind }) => kind },
  { title: "reason", cell: ({ text }) => text },
  { title: "punch", isNumber: true, cell: ({ punchId }) => `${punchId}` },
  {
    title: "clocked in",
    isTime: true,
    cell: ({ at }) => DateTime.formatIsoOffset(at).replace(/T(\d\d:\d\d).*(.{6})$/, " $1 $2")
  },
  { title: "location", cell: ({ locationId }) => labelOf("location", locationId, names) }
]

const issuesTable = "Punches with issues"

/** What a check found. @internal */
export const issuesSection = (
  found: ReadonlyArray<Finding>,
  names: NameLookup | undefined,
  notes: ReadonlyArray<string>
): Html => {
  const kinds = new Map<string, number>()
  for (const { kind } of found) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  return section(
    "Issues",
    found.length === 0
      ? note("Nothing was found.")
      : note([...kinds].map(([kind, count]) => `${kind} ${formatNumber(count)}`).join(" · ")),
    ...notes.map(note),
    found.length === 0
      ? undefined
      : table(issuesTable, issueColumns(names), found.slice(0, mostIssues).map(issueOf)),
    leftOut(found.length, mostIssues, "issues; time-punches payroll check lists all")
  )
}

const ownStyle = `${stylesheet}:root {
  --series-1: light-dark(#0a5bc4, #79b4ff);
  --series-2: light-dark(#c2410c, #ff9d66);
  --series-3: light-dark(#1a7f5a, #57cfa3);
  --series-4: light-dark(#8b3fc7, #cf9bff);
  --series-5: light-dark(#8f6a00, #e6c04a);
  --series-6: light-dark(#a11d4f, #ff8db1);
  --series-7: light-dark(#0f7f8c, #5cd0de);
  --series-8: light-dark(#57606a, #a3acb8);
  --heat: light-dark(#0a5bc4, #4a86d8);
}
body { max-width: 932px; }
header p, section > p { margin: .25rem 0; max-width: 75ch; overflow-wrap: anywhere; }
h1 { overflow-wrap: anywhere; }
figure { margin: .5rem 0; }
figure svg { display: block; width: 100%; max-width: 900px; font-family: system-ui, sans-serif; }
.narrow { display: none; }
.narrow svg { max-width: 480px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; padding: 0; margin: .5rem 0; }
.legend li { display: flex; align-items: baseline; overflow-wrap: anywhere; unicode-bidi: isolate; }
.legend svg { flex: none; width: 12px; height: 12px; margin-right: 6px; }
summary { cursor: pointer; }
caption { text-align: left; font-weight: 600; padding: 12px 0 4px; }
details .rows thead th { white-space: normal; overflow-wrap: anywhere; min-width: 6em; }
tbody th { font-weight: 400; white-space: normal; overflow-wrap: anywhere; min-width: 8em; }
tfoot th, tfoot td { font-weight: 600; border-top: 2px solid var(--line); }
@media screen and (max-width: 640px) {
  .wide { display: none; }
  .narrow { display: block; }
  .grid :is(th, td) { min-width: 0; padding-inline: 3px; font-size: 12px; }
  details .rows tbody > tr > td.number:nth-child(n) { --left: 0px; --width: auto; grid-column: 1 / -1; text-align: right; }
  details .rows td::before { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
}
#issues td:last-child, #revisions td:nth-child(n + 7):not(.number) { min-width: 8em; overflow-wrap: anywhere; } #revisions tbody th { min-width: 0; }
@media (min-width: 860px) { #issues td:nth-child(3) { min-width: 12em; } }
@media (min-width: 600px) and (max-width: 860px) { .figures { grid-template-columns: repeat(3, 1fr); } #issues :is(th, td), #revisions :is(th, td) { padding-inline: 6px; } #revisions td:is(.time, :nth-child(n + 7)):not(.number) { min-width: 6em; white-space: normal; } }
@media screen { #issues .scroll { max-height: 70vh; overflow: auto; border-bottom: 1px solid var(--line); } }
@media print {
  .scroll { overflow: visible; background: none; }
  details:not([open]) { display: none; }
  thead { display: table-header-group; }
  caption, h2 { break-after: avoid; }
  th, td { padding: 2px 6px; }
}
`

/** The hash by which the policy permits the style, and nothing else. */
const hashOf = (style: string) =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(style))),
    (hash) => Base64.encode(new Uint8Array(hash))
  )
