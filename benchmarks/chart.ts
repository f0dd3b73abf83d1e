/** The chart of docs/performance.md: horizontal bars in groups. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"

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
  return writeFile(join(import.meta.dirname, "../docs/performance.svg"), svg)
}
