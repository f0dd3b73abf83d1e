/**
 * Pictures of the command in a real terminal, for the pages: `npm run images terminal` runs it against a sandbox in a
 * pseudo-terminal and writes docs/images/terminal-*.svg.
 */
import { Effect } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { hostname, tmpdir, userInfo } from "node:os"
import * as Path from "node:path"
import { CompanyId } from "../../src/Ids.ts"
import { PunchCopy } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"

/** How a cell of a terminal looks. A colour is one of the sixteen of the terminal, or `#rrggbb`. */
interface Style {
  readonly colour?: number | string | undefined
  readonly ground?: number | string | undefined
  readonly bold?: boolean | undefined
  readonly dim?: boolean | undefined
  readonly underline?: boolean | undefined
  readonly inverse?: boolean | undefined
}

interface Run {
  readonly text: string
  readonly column: number
  readonly style: Style
}

/** The colour of the 256 of a terminal: its sixteen, a cube and greys. */
const indexed = (index: number): number | string => {
  if (index < 16) return index
  const hex = (level: number) => Math.round(level).toString(16).padStart(2, "0")
  if (index >= 232) return `#${hex(8 + 10 * (index - 232)).repeat(3)}`
  const level = (step: number) => hex(step === 0 ? 0 : 55 + 40 * step)
  const at = index - 16
  return `#${level(Math.floor(at / 36))}${level(Math.floor(at / 6) % 6)}${level(at % 6)}`
}

/** The style after the codes of one `ESC [ … m`. Unknown codes change nothing. */
const restyled = (style: Style, codes: string): Style => {
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number)
  let now = style
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0
    if (code === 0) now = {}
    else if (code === 1) now = { ...now, bold: true }
    else if (code === 2) now = { ...now, dim: true }
    else if (code === 4) now = { ...now, underline: true }
    else if (code === 7) now = { ...now, inverse: true }
    else if (code === 22) now = { ...now, bold: false, dim: false }
    else if (code === 24) now = { ...now, underline: false }
    else if (code === 27) now = { ...now, inverse: false }
    else if (code >= 30 && code <= 37) now = { ...now, colour: code - 30 }
    else if (code >= 90 && code <= 97) now = { ...now, colour: code - 82 }
    else if (code === 39) now = { ...now, colour: undefined }
    else if (code >= 40 && code <= 47) now = { ...now, ground: code - 40 }
    else if (code >= 100 && code <= 107) now = { ...now, ground: code - 92 }
    else if (code === 49) now = { ...now, ground: undefined }
    else if (code === 38 || code === 48) {
      const isIndexed = numbers[at + 1] === 5
      const [red = 0, green = 0, blue = 0] = numbers.slice(at + 2, at + 5)
      const hex = [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")
      const colour = isIndexed ? indexed(numbers[at + 2] ?? 0) : `#${hex}`
      now = { ...now, [code === 38 ? "colour" : "ground"]: colour }
      at += isIndexed ? 2 : 4
    }
  }
  return now
}

/**
 * The lines that a terminal shows at the end of a transcript: a carriage return goes to the start of a line, `ESC [2K` and
 * `ESC [K` erase it, a full line continues in the next one; other sequences but colours are left out.
 */
const linesOf = (transcript: string, columns: number): ReadonlyArray<ReadonlyArray<Run>> => {
  const lines: Array<Array<{ readonly char: string; readonly style: Style } | undefined>> = [[]]
  let [column, style]: [number, Style] = [0, {}]
  // oxlint-disable-next-line no-control-regex
  const parts = transcript.matchAll(
    /\u001b\[([\d;:?]*)([A-Za-z])|\u001b\][^\u0007]*\u0007|\u001b.|[\r\n]|[^\u001b\r\n]+/g
  )
  for (const [part, codes = "", command] of parts) {
    const line = lines.at(-1) ?? []
    if (part === "\n") {
      lines.push([])
      column = 0
    } else if (part === "\r") column = 0
    else if (command === "m") style = restyled(style, codes)
    else if (command === "K") line.splice(codes === "2" ? 0 : column)
    else if (!part.startsWith("\u001b")) {
      for (const char of part) {
        const width = displayWidth(char)
        // A mark that stands on the character before it.
        if (width === 0) continue
        if (column + width > columns) {
          lines.push([])
          column = 0
        }
        const line = lines.at(-1) ?? []
        line[column] = { char, style }
        for (let each = 1; each < width; each++) line[column + each] = { char: "", style }
        column += width
      }
    }
  }
  return lines.map((line) => {
    const runs: Array<{ text: string; column: number; style: Style }> = []
    for (let at = 0; at < line.length; at++) {
      const { char, style } = line[at] ?? { char: " ", style: {} }
      const last = runs.at(-1)
      if (last !== undefined && last.style === style) last.text += char
      else runs.push({ text: char, column: at, style })
    }
    return runs.filter(({ style, text }) => text.trim() !== "" || style.ground !== undefined || style.inverse === true)
  })
}

const cell = { width: 8, height: 19, size: 13 } as const

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" }

/** A text of a drawing; what XML cannot have is left out. */
const escapeXml = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"]/g, (char) =>
    entities[char] ?? "")

/** The eighths of a cell that a character of a bar fills, from the left. */
const eighths = "▏▎▍▌▋▊▉█"

/**
 * The bars of a text, drawn: as text, a font that is narrower than a cell leaves a thin gap between two characters. What is left
 * of the text has spaces there.
 */
const drawBars = (
  text: string,
  x: number,
  y: number,
  look: string
): readonly [left: string, bars: ReadonlyArray<string>] => {
  const bars = [...text.matchAll(/█*[▏▎▍▌▋▊▉]|█+/g)].map(({ 0: bar, index }) => {
    const width = [...bar].reduce((sum, char) => sum + (eighths.indexOf(char) + 1) / 8, 0) * cell.width
    const from = x + displayWidth(text.slice(0, index)) * cell.width
    return `<rect x="${from}" y="${y + 2}" width="${width}" height="${cell.height - 4}"${look}/>`
  })
  return [text.replaceAll(/[▏▎▍▌▋▊▉█]/g, " ").trimEnd(), bars]
}

const paint = (kind: "c" | "g", colour: number | string): string =>
  typeof colour === "number" ? `class="${kind}${colour}"` : `fill="${colour}"`

/**
 * Draws a transcript as a terminal of so many columns shows it, in light and in dark. Each run of a colour has its own width,
 * so that columns stay columns in every monospaced font.
 */
export const drawTerminal = (title: string, transcript: string, columns: number): string => {
  const lines = linesOf(transcript.replace(/\s+$/, ""), columns)
  const [width, height] = [columns * cell.width + 32, lines.length * cell.height + 56]
  const texts = lines.flatMap((runs, row) =>
    runs.flatMap(({ column, style, text }) => {
      const [x, y] = [16 + column * cell.width, 40 + row * cell.height]
      const shown = text.trimEnd()
      const [colour, ground] = style.inverse === true ? [style.ground ?? "inverse", style.colour ?? "text"] : [
        style.colour,
        style.ground
      ]
      const look = [
        colour === undefined ? "" : colour === "inverse" ? ` class="inverse"` : ` ${paint("c", colour)}`,
        style.bold === true ? ` font-weight="700"` : "",
        style.dim === true ? ` opacity="0.65"` : "",
        style.underline === true ? ` text-decoration="underline"` : ""
      ].join("")
      const barLook = colour === undefined ? ` class="text"${look}` : look
      const [letters, bars] = drawBars(shown, x, y, barLook)
      return [
        ...ground === undefined ? [] : [
          `<rect x="${x}" y="${y}" width="${displayWidth(text) * cell.width}" height="${cell.height}" ${
            ground === "text" ? `class="text"` : paint("g", ground)
          }/>`
        ],
        ...bars,
        ...letters === ""
          ? []
          : [
            `<text x="${x}" y="${y + 14}" textLength="${
              displayWidth(letters) * cell.width
            }"${look} xml:space="preserve">${escapeXml(letters)}</text>`
          ]
      ]
    })
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${
    escapeXml(title)
  }">
<style>${style}</style>
<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<g class="buttons"><circle cx="18" cy="16" r="5"/><circle cx="34" cy="16" r="5"/><circle cx="50" cy="16" r="5"/></g>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${cell.size}">
${texts.join("\n")}
</g>
</svg>
`
}

const light =
  "1f2328 b3261e 1a6b33 8a5300 0a5bc4 8b3fc7 0f7f8c 57606a 57606a b3261e 1a6b33 8a5300 0a5bc4 8b3fc7 0f7f8c 1f2328"
const dark =
  "8b949e ff8d85 6fd08c f2b84b 79b4ff cf9bff 5cd0de c9d1d9 8b949e ff8d85 6fd08c f2b84b 79b4ff cf9bff 5cd0de ffffff"

const theme = (colours: string, text: string, ground: string, line: string): string =>
  `text,.text{fill:${text}}.inverse{fill:${ground}}.window{fill:${ground};stroke:${line}}.buttons{fill:${line}}` +
  colours.split(" ").map((colour, at) => `.c${at},.g${at}{fill:#${colour}}`).join("")

const style = `${theme(light, "#1b1f24", "#f6f8fa", "#d0d7de")}@media (prefers-color-scheme:dark){${
  theme(dark, "#e6e9ee", "#14171c", "#3a424d")
}}`

const root = Path.join(import.meta.dirname, "../..")

/** Runs one call in a terminal of so many columns, and returns what it wrote. */
const typed = (folder: string, env: Readonly<Record<string, string>>, columns: number, call: string): string => {
  const words = [
    process.execPath,
    "--conditions=effect-time-punches:source",
    "--disable-warning=ExperimentalWarning",
    `${root}/src/cli/main.ts`,
    ...call.split(" ").slice(1)
  ].map((word) => `'${word}'`).join(" ")
  const { status, stdout } = ChildProcess.spawnSync(
    "script",
    ["-qec", `stty cols ${columns} rows 60; ${words}`, "/dev/null"],
    { cwd: folder, env: { ...env, TERM: "xterm-256color" }, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
  )
  // check and close exit with 9 when they have something to show.
  if (status !== 0 && status !== 9) throw new Error(`${call} failed with ${status}:\n${stdout}`)
  return stdout
}

/** Who pauses a company, as `fleet list` shows it. A picture has another name, in the same width. */
const person = `(${userInfo().username}@${hostname()})`
const shownPerson = "(ops@db1)".padEnd(person.length)

const week = "--week 2026-03-02 --zone America/New_York"

/** The pictures, in the order in which their calls run: a name, and the call. */
const pictures: ReadonlyArray<readonly [name: string, call: string]> = [
  ["check", `time-punches payroll check ${week}`],
  [
    "close",
    `time-punches payroll close ${week} --weekly-threshold 38h --accept tooLong,unapproved,overlap`
  ],
  ["diff", `time-punches payroll diff ${week} --since SINCE`],
  ["feed", "time-punches copy feed --since SINCE --format table"],
  ["fleet-list", "time-punches fleet list"]
]

/** Starts a sandbox, and takes all pictures. */
export const takeTerminal = async (): Promise<void> => {
  const folder = Fs.mkdtempSync(Path.join(tmpdir(), "time-punches-terminal-"))
  const options = ["--conditions=effect-time-punches:source", "--disable-warning=ExperimentalWarning"]
  const sandbox = ChildProcess.spawn(
    process.execPath,
    [...options, `${root}/src/cli/main.ts`, "sandbox", "--port", "0", "--punches", "900", "--json"],
    { stdio: ["ignore", "pipe", "inherit"] }
  )
  try {
    const printed = await new Promise<string>((resolve) => {
      let text = ""
      sandbox.stdout.setEncoding("utf8").on("data", (part: string) => {
        text += part
        if (text.includes("}\n")) resolve(text)
      })
    })
    const settings: Record<string, string> = JSON.parse(printed)
    const serviceEnv = { PATH: process.env["PATH"] ?? "", ...settings }
    const env = { ...serviceEnv, TIME_PUNCHES_DATABASE_URL: "punches.db" }
    const quietly = (call: string) => typed(folder, env, 100, call)
    quietly("time-punches sync --history")
    Fs.mkdirSync(`${root}/docs/images`, { recursive: true })
    let position = ""
    for (const [name, call] of pictures) {
      let shown = call.replace("SINCE", position)
      if (name === "diff") {
        // To the second, so that the call fits into a line. The first load ended some calls before.
        shown = call.replace("SINCE", new Date().toISOString().replace(/\.\d+/, ""))
        position = await Effect.runPromise(
          Effect.provide(
            PunchCopy.feedPosition(CompanyId.make(Number(settings["TIME_PUNCHES_COMPANY_ID"]))),
            NodeSqlite.layer({ filename: `${folder}/punches.db` })
          )
        )
        for (const [id, out] of [[1002, "2026-03-03T03:00:00Z"], [1005, "2026-03-03T04:10:00Z"]] as const) {
          const { status } = await fetch(`${settings["TIME_PUNCHES_BASE_URL"]}/sandbox/time_punches/${id}`, {
            method: "PATCH",
            body: JSON.stringify({ clocked_out: out })
          })
          if (status !== 204) throw new Error(`punch ${id} was not corrected: ${status}`)
        }
        quietly("time-punches sync")
      }
      if (name === "fleet-list") {
        const company = settings["TIME_PUNCHES_COMPANY_ID"] ?? ""
        quietly("time-punches fleet migrate")
        quietly(`time-punches fleet add --every 5m ${company}=${settings["TIME_PUNCHES_COMPANY_GUID"]}`)
        quietly("time-punches fleet add --every 1h 4100 4101")
        quietly("time-punches fleet pause 4101")
        const args = [...options, `${root}/src/cli/main.ts`, "fleet", "run"]
        ChildProcess.spawnSync(process.execPath, args, {
          cwd: folder,
          env,
          stdio: "ignore",
          timeout: 8000,
          killSignal: "SIGINT"
        })
      }
      // Without a database they read the service, which knows disputes.
      const output = typed(folder, name === "check" ? serviceEnv : env, 100, shown)
      Fs.writeFileSync(
        `${root}/docs/images/terminal-${name}.svg`,
        drawTerminal(
          `${call.split(" --")[0] ?? call} in a terminal`,
          `\u001b[1m$ ${shown}\u001b[0m\n${output.replaceAll(person, shownPerson)}`,
          100
        )
      )
    }
  } finally {
    sandbox.kill("SIGINT")
    Fs.rmSync(folder, { recursive: true, force: true })
  }
}
