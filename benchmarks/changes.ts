/**
 * Seconds and peak memory of `payroll diff` over many changed punches, beside `summary` over the same copy: a sum of both states
 * would read it twice. `npm run build && node --conditions=effect-time-punches:source benchmarks/changes.ts [--punches=93000]`.
 */
import { execFileSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { parseArgs } from "node:util"
import { median } from "./measure.ts"
import { number, table } from "./report.ts"
import { fileClient, makePages, own } from "./syncCases.ts"

const pageSize = 200

/** A copy whose every punch was edited since an instant, which it returns. */
const fill = async (file: string, punches: number): Promise<string> => {
  const made = makePages(Math.ceil(punches / pageSize))
  const writer = await own(fileClient, 1, true)(file)
  for (const [at, page] of made.pages.entries()) await writer.write(page, `first ${at}`)
  const database = new DatabaseSync(file)
  const since = Number(database.prepare("SELECT history_last FROM time_punches_sync").get()?.["history_last"])
  for (const [at, page] of made.changed.entries()) await writer.write(page, `second ${at}`)
  await writer.close()
  // The load above ends no pass. To read a copy, one must have ended, and the history is known since then.
  const [row] = database.prepare("SELECT checkpoint FROM time_punches_sync").all()
  const completed = { ...JSON.parse(String(row?.["checkpoint"])), completedAt: "2026-05-01T00:00:00Z" }
  database.prepare("UPDATE time_punches_sync SET checkpoint = ?, known_since = ?, history_last = history_last + 1").run(
    JSON.stringify(completed),
    since
  )
  database.close()
  return new Date(since).toISOString()
}

/** A child says at its end how much memory it held at most. */
const peak = "data:text/javascript,process.on('exit',()=>process._rawDebug('peak '+process.resourceUsage().maxRSS))"

const cli = join(import.meta.dirname, "..", "dist", "cli", "main.js")

const measured = (folder: string, args: ReadonlyArray<string>) => {
  const [out, log] = [join(folder, "out"), join(folder, "log")]
  const [stdout, stderr] = [openSync(out, "w"), openSync(log, "w")]
  const start = process.hrtime.bigint()
  execFileSync(process.execPath, ["--import", peak, cli, ...args], { stdio: ["ignore", stdout, stderr] })
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  for (const each of [stdout, stderr]) closeSync(each)
  const [, kilobytes] = /peak (\d+)/.exec(readFileSync(log, "utf8")) ?? []
  return { seconds, megabytes: Number(kilobytes) / 1024, bytes: statSync(out).size }
}

const { values } = parseArgs({
  options: { punches: { type: "string", default: "93000" }, samples: { type: "string", default: "3" } }
})
const folder = mkdtempSync(join(tmpdir(), "time-punches-changes-"))
try {
  const file = join(folder, "punches.db")
  const since = await fill(file, Number(values.punches))
  const copy = ["--from", "2000-01-01", "--to", "2099-12-31", "--zone", "UTC", "--company", "7", "--database", file]
  const diff = ["payroll", "diff", ...copy, "--since", since]
  const cases: Readonly<Record<string, ReadonlyArray<string>>> = {
    "summary --by user": ["summary", "--by", "user", ...copy],
    "payroll diff --format csv": [...diff, "--format", "csv"],
    "payroll diff --format csv --rows punches": [...diff, "--format", "csv", "--rows", "punches"],
    "payroll diff --json": [...diff, "--json"]
  }
  const samples = Object.entries(cases).map(([name, args]) => ({
    name,
    runs: Array.from({ length: Number(values.samples) }, () => measured(folder, args))
  }))
  const [sum = NaN] = samples.map(({ runs }) => median(runs.map(({ seconds }) => seconds)))
  process.stdout.write(`${
    table(
      [`${number(Number(values.punches), 0)} changed punches`, "seconds", "× two summaries", "peak MB", "output MB"],
      samples.map(({ name, runs }) => {
        const seconds = median(runs.map(({ seconds }) => seconds))
        return [
          `\`${name}\``,
          number(seconds),
          number(seconds / (2 * sum)),
          number(median(runs.map(({ megabytes }) => megabytes)), 0),
          number((runs[0]?.bytes ?? NaN) / 1e6)
        ]
      })
    )
  }\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
