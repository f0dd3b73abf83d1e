/**
 * The charts of a report: each one function from figures to a drawing. Colours are those of the stylesheet, so that one
 * drawing is right in light, in dark and on paper. Texts are data of other people: they cannot become markup.
 */
import { BarChart } from "echarts/charts"
import { GridComponent } from "echarts/components"
import * as ECharts from "echarts/core"
import { SVGRenderer } from "echarts/renderers"
import * as Duration from "effect/Duration"
import { formatExactHours, formatMoney, formatNumber } from "../internal/page/amounts.ts"
import { escapeHtml, type Html, markup } from "../internal/page/html.ts"
import { escaped } from "../internal/wire/issue.ts"

ECharts.use([BarChart, GridComponent, SVGRenderer])

/** What a drawing is for people who cannot see it, and how wide it is, in pixels. */
export interface Drawn {
  readonly label: string
  readonly width: number
}

/** A part of stacked bars: a length for each category. */
export interface Part {
  readonly colour: string
  readonly values: ReadonlyArray<number>
}

/** Hours of each day as bars, stacked by location. */
export const hoursByDay = (days: ReadonlyArray<string>, parts: ReadonlyArray<Part>, drawn: Drawn): Html =>
  draw(drawn, 280, {
    grid: { left: 56, right: 8, top: 12, bottom: 28 },
    xAxis: names(days, Infinity),
    yAxis: { ...scale, axisLabel: { ...muted, formatter: (hours: number) => `${hours} h` } },
    series: stacked(parts)
  })

/** The cost of each location as bars, the amounts beside them. */
export const costByLocation = (locations: ReadonlyArray<string>, cents: ReadonlyArray<number>, drawn: Drawn): Html =>
  draw(drawn, 24 + 28 * locations.length, {
    grid: { left: nameWidth(drawn), right: 96, top: 4, bottom: 4 },
    xAxis: { ...scale, show: false },
    yAxis: { ...names(locations, nameWidth(drawn) - 12), inverse: true },
    series: labelled([{ colour: colours.accent, values: cents }], cents.map(formatMoney))
  })

/** Hours of each person as bars, with the part over a threshold in another colour. */
export const hoursByPerson = (people: ReadonlyArray<string>, parts: ReadonlyArray<Part>, drawn: Drawn): Html =>
  draw(drawn, 24 + 24 * people.length, {
    grid: { left: nameWidth(drawn), right: 80, top: 4, bottom: 4 },
    xAxis: { ...scale, show: false },
    yAxis: { ...names(people, nameWidth(drawn) - 12), inverse: true },
    series: labelled(
      parts,
      people.map((_, at) => hoursText(parts.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)))
    )
  })

/**
 * People on the clock: a row for each day and a cell for each of its hours, the darker the more people. A colour of the
 * stylesheet cannot be mixed, so the opacity of a cell has the number.
 */
export const heatMap = (
  days: ReadonlyArray<string>,
  people: ReadonlyArray<ReadonlyArray<number>>,
  drawn: Drawn
): Html =>
  draw(drawn, 28 + 28 * days.length, {
    grid: { left: 40, right: 8, top: 4, bottom: 24 },
    xAxis: {
      ...scale,
      splitLine: { show: false },
      axisLabel: muted,
      min: 0,
      max: 24,
      interval: drawn.width < 600 ? 6 : 2
    },
    yAxis: { ...names(days, 36), inverse: true },
    series: hoursOfDay.map((hour) => cells(people.map((row) => row[hour] ?? 0), Math.max(...people.flat()), drawn))
  })

/** The colours of the stylesheet of a report. */
export const colours = {
  accent: "var(--series-1)",
  above: "var(--series-2)",
  others: "var(--series-8)",
  /** The colour of a location, from 0 to 6. */
  of: (location: number): string => `var(--series-${location + 1})`
} as const

const muted = { color: "var(--muted)", fontSize: 12 } as const

const line = { lineStyle: { color: "var(--line)" } } as const

const scale = { type: "value", splitLine: line, splitNumber: 4 } as const

/** At least as wide as a name needs, at most two fifths of the drawing. */
const nameWidth = ({ width }: Drawn): number => Math.min(220, Math.round(width * 0.4))

/** Names of categories. One that is too long for `width` pixels is cut; the tables have it whole. */
const names = (data: ReadonlyArray<string>, width: number) => ({
  type: "category",
  data: data.map((name) => ({ value: cut(escaped(name), width) })),
  axisLine: line,
  axisTick: { show: false },
  axisLabel: width === Infinity ? { ...muted, hideOverlap: true } : { ...muted, interval: 0 }
} as const)

/** The first characters of a name. No font of the reader is known here, so each counts as it is in a wide one. */
const cut = (name: string, width: number): string => {
  const characters = [...name]
  let left = width
  const end = characters.findIndex((char) => (left -= widthOf(char)) < 0)
  return end < 0 ? name : `${characters.slice(0, Math.max(1, end - 2)).join("")}…`
}

const widthOf = (char: string): number =>
  /[\u1100-\uffff]|[^\0-\uffff]/u.test(char) ? 13 : /[A-Zmw@%&▲]/.test(char) ? 9.5 : 7.4

const bar = { type: "bar", stack: "all", silent: true, clip: false, barMaxWidth: 36 } as const

const barsOf = ({ colour, values }: Part) => ({ ...bar, itemStyle: { color: colour }, data: [...values] })

const stacked = (parts: ReadonlyArray<Part>) => parts.map(barsOf)

/** The same with a text at the end of each bar. */
const labelled = (parts: ReadonlyArray<Part>, texts: ReadonlyArray<string>) => {
  const last = parts.length - 1
  const label = {
    show: true,
    position: "right",
    color: "var(--text)",
    textBorderWidth: 0,
    fontSize: 12,
    formatter: ({ dataIndex }: { readonly dataIndex: number }) => texts[dataIndex] ?? ""
  } as const
  return [...stacked(parts.slice(0, last)), ...parts.slice(last).map((part) => Object.assign(barsOf(part), { label }))]
}

const hoursText = (hours: number): string => formatExactHours(Duration.millis(Math.round(hours * 3_600_000)))

const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour)

/** An hour of each day in the heat map: its opacity, and the number of people in a drawing that is wide enough. */
const cells = (people: ReadonlyArray<number>, most: number, { width }: Drawn) => ({
  ...bar,
  itemStyle: { color: colours.accent },
  barMaxWidth: 28,
  barCategoryGap: "6%",
  data: people.map((each) => ({ value: 1, itemStyle: { opacity: most > 0 ? Math.round(70 * each / most) / 100 : 0 } })),
  label: {
    show: width >= 600,
    opacity: 1,
    color: "var(--text)",
    textBorderWidth: 0,
    fontSize: 10,
    formatter: ({ dataIndex }: { readonly dataIndex: number }) => peopleText(people[dataIndex] ?? 0)
  }
})

/** A number of people in little space; nothing for nobody. */
export const peopleText = (people: number): string =>
  people < 0.05 ? "" : people < 9.95 ? people.toFixed(1) : formatNumber(Math.round(people))

/** Draws without a DOM. The policy of the page permits no style but its own, so the drawing keeps attributes only. */
const draw = ({ label, width }: Drawn, height: number, option: ECharts.EChartsCoreOption): Html => {
  const chart = ECharts.init(null, null, { renderer: "svg", ssr: true, width, height })
  chart.setOption({ animation: false, ...option })
  const svg = chart.renderToSVGString({ useViewBox: true })
  chart.dispose()
  return markup(
    svg
      // No text has a quotation mark or an angle bracket of its own: they are escaped.
      .replace(/^<svg [^>]*>/, `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(label)}">`)
      .replaceAll(/<style[^]*?<\/style>\n?/g, "")
      .replaceAll(/<rect [^>]*fill="none"[^>]*><\/rect>\n/g, "")
      .replaceAll(/ (?:class|ecmeta_\w+|pointer-events)="[^"]*"/g, "")
      .replaceAll(
        / style="([^"]*)"/g,
        (_, style: string) => ` font-size="${/font-size:(\d+)px/.exec(style)?.[1] ?? 12}"`
      )
  )
}
