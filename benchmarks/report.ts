/** Tables, targets, and the sections of benchmarks/RESULTS.md between its markers. */
import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
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

const targetHead = ["target", "wanted", "measured", "met"]

const rowOf = (row: Target) => [row.what, row.wanted, row.measured, row.isMet ? "yes" : "**no**"]

export const targetTable = (targets: ReadonlyArray<Target>): string => table(targetHead, targets.map(rowOf))

export const machine = (): string =>
  `Node ${process.versions.node}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}`

const file = join(import.meta.dirname, "RESULTS.md")

/** The rows of targets as RESULTS.md has them, with those that were measured now in their places. */
export const mergedTargets = (measured: ReadonlyArray<Target>): string => {
  const [, known = ""] = /<!-- targets -->([^]*)<!-- \/targets -->/.exec(readFileSync(file, "utf8")) ?? []
  const rows = known.split("\n").filter((line) => line.startsWith("| ")).slice(2)
    .map((line) => line.slice(2, -2).split(" | ").map((cell) => cell.trim()))
  const now = new Map(measured.map((row) => [row.what, rowOf(row)]))
  const kept = rows.map(([what = "", ...rest]) => now.get(what) ?? [what, ...rest])
  const added = measured.filter(({ what }) => !rows.some(([known]) => known === what)).map(rowOf)
  return table(targetHead, [...kept, ...added])
}

/** Writes each section between `<!-- name -->` and `<!-- /name -->`. */
export const writeSections = async (sections: ReadonlyArray<Pick<Section, "name" | "text">>): Promise<void> => {
  const text = sections.reduce((page, { name, text }) => {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [from, to] = [page.indexOf(start), page.indexOf(end)]
    if (from === -1 || to === -1) throw new Error(`benchmarks/RESULTS.md has no section ${name}`)
    return `${page.slice(0, from + start.length)}\n\n${text}\n\n${page.slice(to)}`
  }, readFileSync(file, "utf8"))
  await writeFile(file, text)
}
