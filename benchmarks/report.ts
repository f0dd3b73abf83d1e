/** Tables, targets, and the sections of docs/performance.md between its markers. */
import { readFile, writeFile } from "node:fs/promises"
import { cpus } from "node:os"
import { join } from "node:path"
import type { Bar } from "./chart.ts"

/** How a group is measured: where the service is, its pages of 200 punches, and whether the run is the quick one, without peers. */
export interface Setting {
  readonly url: string
  readonly pages: number
  readonly quick: boolean
}

/** What a group of measurements writes: a section of the page under its name, its targets, its bars of the chart. */
export interface Section {
  readonly name: string
  readonly text: string
  readonly targets: ReadonlyArray<Target>
  readonly chart?: ReadonlyArray<{ readonly title: string; readonly bars: ReadonlyArray<Bar> }>
}

/** One target: the figure, its limit, and whether it is met; a quick run fails where it is `isFar` beyond. */
export interface Target {
  readonly what: string
  readonly wanted: string
  readonly measured: string
  readonly isMet: boolean
  readonly isFar: boolean
}

/** By default a figure is far beyond its limit from half as much again. */
const far = 1.5

export const atMost = (what: string, limit: number, value: number, { beyond = far, digits = 2 } = {}): Target => ({
  what,
  wanted: `≤ ${number(limit, Number.isInteger(limit) ? 0 : 2)}`,
  measured: number(value, digits),
  isMet: value <= limit,
  isFar: !(value <= limit * beyond)
})

export const atLeast = (what: string, limit: number, value: number, { beyond = far, digits = 2 } = {}): Target => ({
  what,
  wanted: `≥ ${number(limit, Number.isInteger(limit) ? 0 : 2)}`,
  measured: number(value, digits),
  isMet: value >= limit,
  isFar: !(value >= limit / beyond)
})

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>): string =>
  [head, head.map((_, i) => i === 0 ? "---" : "--:"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

export const number = (value: number, digits = 2): string =>
  value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d)(?=\.|$))/g, " ")

export const range = ([low, high]: readonly [number, number]): string => `${number(low)}–${number(high)}`

export const targetTable = (targets: ReadonlyArray<Target>): string =>
  table(
    ["target", "wanted", "measured", "met"],
    targets.map((row) => [row.what, row.wanted, row.measured, row.isMet ? "yes" : "**no**"])
  )

export const machine = (): string =>
  `Node ${process.versions.node}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}`

/** Writes each section between `<!-- name -->` and `<!-- /name -->`. */
export const writeSections = async (sections: ReadonlyArray<Pick<Section, "name" | "text">>): Promise<void> => {
  const file = join(import.meta.dirname, "../docs/performance.md")
  const text = sections.reduce((page, { name, text }) => {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [from, to] = [page.indexOf(start), page.indexOf(end)]
    if (from === -1 || to === -1) throw new Error(`docs/performance.md has no section ${name}`)
    return `${page.slice(0, from + start.length)}\n\n${text}\n\n${page.slice(to)}`
  }, await readFile(file, "utf8"))
  await writeFile(file, text)
}
