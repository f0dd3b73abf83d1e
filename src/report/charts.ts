/**
 * The charts of a report: each one function from figures to a drawing. Colours are those of the stylesheet, so that one
 * drawing is right in light, in dark and on paper. Texts are data of other people: they cannot become markup.
 */
import * as Duration from "effect/Duration"
import { formatHours, formatMoney, formatNumber } from "../internal/page/amounts.ts"
import { type Html, html, type Part as Shapes, visibleText } from "../internal/page/html.ts"

/** What a drawing is for people who cannot see it, and how wide it is, in pixels. */
export interface Drawn {
  readonly label: string
  readonly width: number
}

/** A part of stacked bars: a length for each category, none of which is negative. */
export interface Part {
  readonly colour: string
  readonly values: ReadonlyArray<number>
}

/** Hours of each day as bars, stacked by location. */
export const hoursByDay = (days: ReadonlyArray<string>, parts: ReadonlyArray<Part>, drawn: Drawn): Html => {
  const height = 280
  const [left, right, top, bottom] = [56, drawn.width - 8, 12, height - 28]
  const ticks = ticksOf(days.map((_, day) => sumAt(parts, day)))
  const y = linear(ticks.at(-1) ?? 1, bottom, top)
  const band = (right - left) / Math.max(1, days.length)
  const bar = Math.min(36, band * 0.7)
  // A date has five characters: as many stand in a row as there is space for.
  const step = Math.ceil(52 / band)
  return svg(drawn, height, [
    ticks.map((tick) => [line(left, y(tick), right, y(tick)), text(left - 8, y(tick), "end", `${tick} h`)]),
    days.map((day, at) => at % step > 0 ? [] : text(left + band * (at + 0.5), bottom + 14, "middle", day)),
    days.map((_, at) =>
      stacked(parts, at).map(({ colour, from, to }) =>
        rect(left + band * (at + 0.5) - bar / 2, y(to), bar, y(from) - y(to), colour)
      )
    )
  ])
}

/** The cost of each location as bars, the amounts beside them. */
export const costByLocation = (locations: ReadonlyArray<string>, cents: ReadonlyArray<number>, drawn: Drawn): Html =>
  rows(locations, [{ colour: colours.accent, values: cents }], cents.map(formatMoney), 96, 28, drawn)

/** Hours of each person as bars, with the part over a threshold in another colour. */
export const hoursByPerson = (people: ReadonlyArray<string>, parts: ReadonlyArray<Part>, drawn: Drawn): Html =>
  rows(people, parts, people.map((_, at) => hoursText(sumAt(parts, at))), 80, 24, drawn)

/**
 * People on the clock: a row for each day and a cell for each of its hours, the darker the more people. A colour of the
 * stylesheet cannot be mixed, so the opacity of a cell has the number.
 */
export const heatMap = (
  days: ReadonlyArray<string>,
  people: ReadonlyArray<ReadonlyArray<number>>,
  drawn: Drawn
): Html => {
  const most = Math.max(...people.flat())
  const isWide = drawn.width >= 600
  const x = linear(24, 40, drawn.width - 8)
  const bottom = 4 + 28 * days.length
  return svg(drawn, bottom + 24, [
    days.map((day, at) => [
      text(32, 18 + 28 * at, "end", day),
      (people[at] ?? []).map((each, hour) => [
        rect(x(hour), 5 + 28 * at, x(hour + 1) - x(hour), 26, colours.heat, most > 0 ? 0.7 * each / most : 0),
        isWide ? text((x(hour) + x(hour + 1)) / 2, 18 + 28 * at, "middle", peopleText(each), 10, "--text") : []
      ])
    ]),
    Array.from(
      { length: 25 },
      (_, hour) => hour % (isWide ? 2 : 6) > 0 ? [] : text(x(hour), bottom + 12, "middle", `${hour}`)
    )
  ])
}

/** The colours of the stylesheet of a report. */
export const colours = {
  accent: "var(--series-1)",
  over: "var(--series-2)",
  heat: "var(--heat)",
  others: "var(--series-8)",
  /** The colour of a location, from 0 to 6. */
  of: (location: number): string => `var(--series-${location + 1})`
} as const

/** A row for each name: a stacked bar, and a text behind it that needs `space` pixels. */
const rows = (
  names: ReadonlyArray<string>,
  parts: ReadonlyArray<Part>,
  texts: ReadonlyArray<string>,
  space: number,
  band: number,
  drawn: Drawn
): Html => {
  // Two fifths of the drawing: the tables have a longer name whole.
  const left = Math.min(220, Math.round(drawn.width * 0.4))
  const sums = names.map((_, at) => sumAt(parts, at))
  const x = linear(Math.max(0, ...sums), left, drawn.width - space)
  return svg(drawn, 24 + band * names.length, [
    line(x(0), 4, x(0), 20 + band * names.length),
    names.map((name, at) => {
      const middle = 12 + band * (at + 0.5)
      return [
        html`<g><title>${name}</title>${text(left - 8, middle, "end", shortened(visibleText(name), left - 12))}${
          stacked(parts, at).map(({ colour, from, to }) =>
            rect(x(from), middle - band * 0.35, x(to) - x(from), band * 0.7, colour)
          )
        }</g>`,
        text(x(sums[at] ?? 0) + 5, middle, "start", texts[at] ?? "", 12, "--text")
      ]
    })
  ])
}

const sumAt = (parts: ReadonlyArray<Part>, at: number): number =>
  parts.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)

/** The parts of one bar, each from where the one before it ends. */
const stacked = (parts: ReadonlyArray<Part>, at: number) => {
  let from = 0
  return parts.map(({ colour, values }) => ({ colour, from, to: from += values[at] ?? 0 })).filter((part) =>
    part.from !== part.to
  )
}

/** Values from 0 to `most` as pixels. */
const linear = (most: number, from: number, to: number) => (value: number): number =>
  most === 0 ? from : from + (to - from) * value / most

/** Whole multiples of 1, 2 or 5 and a power of ten, from 0 to the largest value or beyond: about four. */
const ticksOf = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const most = Math.max(0, ...values)
  const rough = Math.max(1, most) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5].find((each) => each * power >= rough) ?? 10)
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, at) => Number((at * step).toPrecision(12)))
}

/**
 * The first characters of a name, and its id, which tells it from others that begin like it. No font of the reader is known
 * here, so each character counts as it is in a wide one.
 */
const shortened = (name: string, width: number): string => {
  if (lengthOf(name) <= width) return name
  const id = / \(\d+\)$/.exec(name)?.[0] ?? ""
  let left = width - lengthOf(`…${id}`)
  const characters = Array.from(name.slice(0, name.length - id.length))
  const end = characters.findIndex((char) => (left -= widthOf(char)) < 0)
  return `${characters.slice(0, Math.max(1, end)).join("").replace(/\u00ad$/, "")}…${id}`
}

const lengthOf = (text: string): number => [...text].reduce((sum, char) => sum + widthOf(char), 0)

const widthOf = (char: string): number =>
  char === "\u00ad"
    ? 0
    : /[\u1100-\uffff]|[^\0-\uffff]/u.test(char)
    ? 13
    : /[MW@%m]/.test(char)
    ? 12
    : /[A-Zw&▲]/.test(char)
    ? 9.5
    : 7.4

const hoursText = (hours: number): string => formatHours(Duration.millis(Math.round(hours * 3_600_000)))

/** A number of people in little space; empty below 0.05. */
export const peopleText = (people: number): string =>
  people < 0.05 ? "" : people < 9.95 ? people.toFixed(1) : formatNumber(Math.round(people))

/** The policy of the page permits no style but its own, so a drawing has attributes only. */
const svg = ({ label, width }: Drawn, height: number, shapes: Shapes): Html =>
  html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${shapes}</svg>`

const pixels = (value: number): string => String(Math.round(value * 10) / 10)

const line = (x1: number, y1: number, x2: number, y2: number): Html =>
  html`<path d="M${pixels(x1)} ${pixels(y1)}L${pixels(x2)} ${pixels(y2)}" fill="none" stroke="var(--line)"></path>`

const rect = (x: number, y: number, width: number, height: number, colour: string, opacity = 1): Html =>
  html`<rect x="${pixels(x)}" y="${pixels(y)}" width="${pixels(width)}" height="${
    pixels(height)
  }" fill="${colour}" opacity="${opacity.toFixed(2)}"></rect>`

const text = (
  x: number,
  y: number,
  anchor: "start" | "middle" | "end",
  content: string,
  size = 12,
  colour = "--muted"
): Html =>
  html`<text dominant-baseline="central" text-anchor="${anchor}" font-size="${size}" x="${pixels(x)}" y="${
    pixels(y)
  }" fill="var(${colour})">${content}</text>`
