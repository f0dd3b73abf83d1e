/** Writes the measured tables into docs/performance.md, between its markers, and the chart beside it. */
import { readFile, writeFile } from "node:fs/promises"
import { cpus } from "node:os"
import { join } from "node:path"

const docs = join(import.meta.dirname, "../docs")

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>): string =>
  [head, head.map((_, i) => i === 0 ? "---" : "--:"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

export const number = (value: number, digits = 2): string =>
  value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d)(?=\.|$))/g, " ")

/** One target of the library: what is measured, the target, the figure, and whether it is met. */
export interface Target {
  readonly what: string
  readonly target: string
  readonly measured: string
  readonly met: boolean
}

export const machine = (): string =>
  `Node ${process.versions.node}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}`

/** Writes each section between `<!-- name -->` and `<!-- /name -->`. */
export const writeSections = async (sections: Readonly<Record<string, string>>): Promise<void> => {
  const file = join(docs, "performance.md")
  const text = Object.entries(sections).reduce((page, [name, content]) => {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [from, to] = [page.indexOf(start), page.indexOf(end)]
    if (from === -1 || to === -1) throw new Error(`docs/performance.md has no section ${name}`)
    return `${page.slice(0, from + start.length)}\n\n${content}\n\n${page.slice(to)}`
  }, await readFile(file, "utf8"))
  await writeFile(file, text)
}

export interface Bar {
  readonly name: string
  readonly value: number
  readonly own: boolean
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** Horizontal bars in groups; shorter is faster. */
export const writeChart = (groups: ReadonlyArray<{ readonly title: string; readonly bars: ReadonlyArray<Bar> }>) => {
  const [row, left, width] = [24, 330, 880]
  let y = 10
  const parts = groups.flatMap(({ bars, title }) => {
    const longest = Math.max(...bars.map(({ value }) => value))
    y += 24
    const lines = [`<text x="10" y="${y}" class="title">${escaped(title)}</text>`]
    for (const { name, own, value } of bars.toSorted((a, b) => a.value - b.value)) {
      y += row
      const length = Math.max(2, ((width - left - 70) * value) / longest)
      lines.push(
        `<text x="${left - 8}" y="${y}" text-anchor="end">${escaped(name)}</text>`,
        `<rect x="${left}" y="${y - 13}" width="${length.toFixed(1)}" height="17" class="${own ? "own" : "peer"}"/>`,
        `<text x="${(left + length + 6).toFixed(1)}" y="${y}">${value.toFixed(2)} ×</text>`
      )
    }
    y += 16
    return lines
  })
  const style =
    "text{font:13px system-ui,sans-serif;fill:#333}.title{font-weight:600}.own{fill:#2f6f4f}.peer{fill:#b9c4bd}"
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 10}" role="img">
<style>${style}</style>
<rect width="100%" height="100%" fill="#fff"/>
${parts.join("\n")}
</svg>
`
  return writeFile(join(docs, "performance.svg"), svg)
}
