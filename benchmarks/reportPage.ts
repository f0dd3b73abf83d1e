/**
 * `npm run build && node benchmarks/reportPage.ts [punches]`: what `time-punches report` of a copy costs beside `summary` of
 * the same, as whole processes: seconds, processor time, peak memory and bytes.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median } from "./measure.ts"

const main = join(import.meta.dirname, "../dist/cli/main.js")
const punches = process.argv[2] ?? "100000"
const rounds = 3

const folder = Fs.mkdtempSync(join(tmpdir(), "time-punches-report-"))

/** Prints what the process has used, as the last line of standard error. */
const hook = join(folder, "used.cjs")
Fs.writeFileSync(
  hook,
  `process.on("exit", () => {
    const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
    require("node:fs").writeSync(2, JSON.stringify({ cpu: (systemCPUTime + userCPUTime) / 1e6, memory: maxRSS / 1024 }))
  })`
)

const sandbox = spawn(process.execPath, [main, "sandbox", "--port", "0", "--punches", punches, "--json"], {
  stdio: ["ignore", "pipe", "ignore"]
})

try {
  const settings = await new Promise<string>((resolve) => {
    let text = ""
    sandbox.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part
      if (text.includes("}\n")) resolve(text)
    })
  })
  const env = { ...process.env, ...JSON.parse(settings) }
  const database = join(folder, "punches.db")
  execFileSync(process.execPath, [main, "sync", "--database", database], { env, stdio: "ignore" })
  const period = ["--from", "2026-03-02", "--to", "2026-06-15", "--zone", "America/New_York", "--database", database]

  const measured = (...args: ReadonlyArray<string>) => {
    const runs = Array.from({ length: rounds }, () => {
      const begun = performance.now()
      const { status, stderr, stdout } = spawnSync(process.execPath, ["--require", hook, main, ...args, ...period], {
        env,
        encoding: "utf8",
        maxBuffer: 2 ** 30
      })
      if (status !== 0) throw new Error(`${args.join(" ")} failed with ${status}: ${stderr}`)
      const used: { readonly cpu: number; readonly memory: number } = JSON.parse(stderr.slice(stderr.lastIndexOf("{")))
      return { ...used, wall: (performance.now() - begun) / 1000, bytes: Buffer.byteLength(stdout) }
    })
    const of = (name: "wall" | "cpu" | "memory" | "bytes") => median(runs.map((run) => run[name]))
    return `| \`${args.join(" ")}\` | ${of("wall").toFixed(2)} | ${of("cpu").toFixed(2)} | ${
      of("memory").toFixed(0)
    } | ${(of("bytes") / 1000).toFixed(1)} |`
  }

  process.stdout.write(
    [
      `| of ${punches} punches in SQLite | seconds | cpu seconds | peak MB | kB printed |`,
      "| --- | ---: | ---: | ---: | ---: |",
      measured("summary", "--json"),
      measured("summary", "--by", "user", "--json", "--weekly-threshold", "40h"),
      measured("report", "--weekly-threshold", "40h"),
      ""
    ].join("\n")
  )
} finally {
  sandbox.kill("SIGINT")
  Fs.rmSync(folder, { recursive: true, force: true })
}
