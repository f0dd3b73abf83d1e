/** What each command shows in a real terminal of 80 and of 140 columns, over sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { Blocker } from "../../../src/close/Blocker.ts"
import { CompanyId } from "../../../src/Ids.ts"
import { PunchCopy } from "../../../src/sql/index.ts"
import { NodeSqlite } from "../../../src/sql/node/index.ts"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { commandOf, environmentOf } from "../child.ts"
import { subcommands, temporaryFolder } from "../support.ts"
import type { Call } from "./calls.program.ts"

const generated = generatePunches({ seed: 5, count: 900, companyId: defaultCompany.id, openShare: 0.02 })

const beginning = "The same beginning of a note that is long enough ".repeat(2)

/** The punches that change between the two runs. */
const edited = generated.filter(({ deleted }) => !deleted).slice(0, 3).map(({ id }) => id)

const punches = generated.map((punch) =>
  edited.includes(punch.id)
    ? { ...punch, notes: `${beginning}one`, clocked_out: "2026-03-20T17:59:00Z" }
    : punch
)

/** Loses all punches between the two runs. */
const leaver = generated.find(({ deleted, id }) => !deleted && !edited.includes(id))?.user_id

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

const hasScript = ChildProcess.spawnSync("script", ["--version"]).status === 0

/** The lines that a terminal shows at the end: a carriage return goes to the start of a line, `ESC [2K` erases it. */
const screenOf = (output: string): ReadonlyArray<string> => {
  const lines: Array<string> = [""]
  let column = 0
  // oxlint-disable-next-line no-control-regex
  for (const part of output.match(/\u001b\[[\d;?]*[A-Za-z]|\r|\n|[^\u001b\r\n]+|\u001b/g) ?? []) {
    if (part === "\n") lines.push("")
    if (part === "\n" || part === "\r") column = 0
    else if (part === "\u001b[2K") lines[lines.length - 1] = ""
    else if (!part.startsWith("\u001b")) {
      const line = lines.at(-1) ?? ""
      lines[lines.length - 1] = line.slice(0, column).padEnd(column) + part + line.slice(column + part.length)
      column += part.length
    }
  }
  return lines
}

const program = new URL("calls.program.ts", import.meta.url).pathname

/** What a call shows: its lines at the end, all that was written, and its exit code. */
interface Shown {
  readonly lines: ReadonlyArray<string>
  readonly written: string
  readonly code: string
}

/** Runs calls one after the other in one terminal. */
const shownBy = Effect.fnUntraced(function*(columns: number, folder: string, calls: ReadonlyArray<Call>) {
  const { url } = yield* FakeServer
  Fs.writeFileSync(`${folder}/calls.json`, JSON.stringify(calls))
  const words = [process.execPath, ...commandOf([`${folder}/calls.json`], program)].map((word) => `'${word}'`).join(" ")
  const output = yield* Effect.callback<string>((resume) => {
    const child = ChildProcess.spawn("script", ["-qec", `stty cols ${columns} rows 50; ${words}`, "/dev/null"], {
      cwd: folder,
      env: { ...environmentOf(url), TERM: "xterm", HOME: folder, TIME_PUNCHES_DATABASE_URL: "punches.db" },
      stdio: ["ignore", "pipe", "ignore"]
    })
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part))
    child.on("close", () => resume(Effect.succeed(text)))
    return Effect.sync(() => child.kill("SIGHUP"))
  })
  const shown = new Map<string, Shown>()
  // A line of progress may be erased where the mark stands.
  // oxlint-disable-next-line no-control-regex
  const marks = /^(?:\u001b\[2K)*@@ (.*)\r\n([^]*?)^(?:\u001b\[2K)*@= (.*)\r\n/gm
  for (const [, call = "", written = "", code = ""] of output.matchAll(marks)) {
    shown.set(call, { lines: screenOf(written), written, code })
  }
  assert.deepStrictEqual([...shown.keys()], calls.map(({ call }) => call), output.slice(-500))
  return shown
})

const period = "--from 2026-03-01 --to 2026-04-30 --zone America/New_York"
const named = `${period} --names names.csv`

const before: ReadonlyArray<Call> = [
  { call: "sync --history" },
  { call: "copy status --json" },
  { call: `payroll close ${named} --week-starts monday` },
  {
    call: `payroll close ${named} --week-starts monday --weekly-threshold 20h --daily-threshold 8h --accept ${
      Blocker.literals.join(",")
    }`
  }
]

const guid = defaultCompany.guid
const fleet = "--database fleet.db"

/** The calls after the punches have changed. `last`, `position`: of the state before. */
const after = (last: string, position: string): ReadonlyArray<Call> => [
  { call: `list ${named} --limit 60` },
  { call: `summary --by user ${named}` },
  { call: `payroll check ${named}` },
  { call: "sync" },
  { call: "copy sync" },
  { call: "copy status" },
  { call: `copy feed --format table --after ${position}` },
  { call: `payroll diff ${named} --since ${last}` },
  {
    call:
      `summary --by user ${named} --database punches.db --week-starts monday --weekly-threshold 20h --daily-threshold 8h`
  },
  { call: "payroll list" },
  { call: "payroll due 1 --names names.csv" },
  { call: "payroll correct 1 --names names.csv" },
  { call: "payroll diff --close 1 --names names.csv" },
  { call: "payroll void 1.2 --note unpaid" },
  { call: "payroll show 1" },
  { call: "payroll show 1.1 --names names.csv" },
  { call: "payroll file 1.1 --mapping mapping.json" },
  { call: "payroll verify" },
  { call: `report ${named} --database punches.db --output week.html` },
  { call: "export --output out.ndjson" },
  { call: "doctor --database punches.db" },
  { call: "config show" },
  { call: "mcp --database punches.db" },
  { call: "sandbox --port 0 --punches 100", until: "faults and punches." },
  { call: "copy erase --yes --closes-too" },
  { call: `fleet migrate ${fleet}` },
  { call: `fleet add ${fleet} --every 1h ${defaultCompany.id}=${guid} 4100` },
  { call: `fleet run ${fleet}`, until: "company 4100 is" },
  { call: `fleet list ${fleet}` },
  { call: `fleet status ${fleet} 4100` },
  { call: `fleet runners ${fleet}` },
  { call: `fleet sync ${fleet} ${defaultCompany.id}` },
  { call: `fleet pause ${fleet} ${defaultCompany.id}` },
  { call: `fleet resume ${fleet} ${defaultCompany.id}` },
  { call: `fleet pause --all ${fleet}` },
  { call: `fleet list ${fleet} --state active` },
  { call: `fleet resume --all ${fleet}` },
  { call: `fleet remove ${fleet} ${defaultCompany.id}` },
  ...subcommands.map((name) => ({ call: `${name} --help` }))
]

/** Calls whose lines are no table: sentences behind marks, lines for a shell, and the help, whose examples are for a shell. */
const isTable = (call: string) => !/--json|--help|^(doctor|sandbox|mcp)/.test(call)

describe("a terminal", () => {
  it.live(
    "of 80 and of 140 columns shows every command without a broken line, and in colour",
    (context) => {
      needs(context, hasScript, "script of util-linux, which opens a terminal")
      return Effect.gen(function*() {
        const service = yield* FakeService
        const users = [...new Set(punches.map(({ user_id }) => user_id))]
        const terminals = yield* Effect.forEach(
          [80, 140],
          (columns) => Effect.map(temporaryFolder, (folder) => ({ columns, folder }))
        )
        for (const { folder } of terminals) {
          const columns = [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }]
          Fs.writeFileSync(
            `${folder}/mapping.json`,
            JSON.stringify({ v: 1, by: ["user"], hours: "decimal:2", rounding: "halfUp", columns })
          )
          Fs.writeFileSync(
            `${folder}/names.csv`,
            ["kind,id,name", ...users.map((id) => `user,${id},Alexandra Featherstonehaugh ${id}`)].join("\n")
          )
        }
        const first = yield* Effect.forEach(
          terminals,
          ({ columns, folder }) => shownBy(columns, folder, before),
          { concurrency: 2 }
        )
        yield* service.edit(edited, { notes: `${beginning}two`, clocked_out: "2026-03-20T18:05:00Z" })
        yield* service.edit(
          punches.filter(({ user_id }) => user_id === leaver).map(({ id }) => id),
          { deleted: true }
        )
        const all = yield* Effect.forEach(
          terminals,
          Effect.fnUntraced(function*({ columns, folder }, at) {
            const shown = first[at] ?? new Map<string, Shown>()
            const status: { readonly history: { readonly last: string } } = JSON.parse(
              shown.get("copy status --json")?.lines[0] ?? ""
            )
            const position = yield* Effect.provide(
              PunchCopy.feedPosition(CompanyId.make(defaultCompany.id)),
              NodeSqlite.layer({ filename: `${folder}/punches.db` })
            )
            const then = yield* shownBy(columns, folder, after(status.history.last, position))
            return { columns, shown: [...shown, ...then] }
          }),
          { concurrency: 2 }
        )
        for (const { columns, shown } of all) check(columns, shown)
      }).pipe(Effect.scoped, Effect.provide(served))
    },
    180_000
  )
})

const check = (columns: number, shown: ReadonlyArray<readonly [call: string, shown: Shown]>) => {
  for (const name of subcommands) {
    assert.isTrue(shown.some(([call]) => call.startsWith(name) && !call.endsWith("--help")), `no call of ${name}`)
  }
  for (const [call, { code, lines }] of shown) {
    const isSilent = call.startsWith("mcp") || call.startsWith("report")
    if (!isSilent) assert.isAbove(lines.join("").length, 10, call)
    // check, close and doctor have findings.
    assert.match(code, /^(0|9|interrupted)$/, `${call}\n${lines.join("\n")}`)
    const laidOut = isTable(call) ? lines.filter((line) => / {2}/.test(line)) : []
    for (const line of laidOut) assert.isAtMost(displayWidth(line), columns, `${call}\n${line}`)
  }
  const find = (start: string) =>
    (shown.find(([call]) => call === start) ?? shown.find(([call]) => call.startsWith(`${start} `)))?.[1]
  const text = (start: string) => (find(start)?.lines ?? []).join("\n")
  for (
    const call of [
      "list",
      "summary",
      "payroll check",
      "payroll diff",
      "payroll due",
      "payroll correct",
      "payroll show 1.1"
    ]
  ) {
    assert.include(text(call), "Alexandra", call)
  }
  assert.match(text("sync --history"), /^first load: /)
  assert.match(text("sync"), /^increment: /)
  assert.include(text("payroll diff"), "two")
  // An instant is never broken: its offset does not begin a line.
  assert.notMatch(text("payroll diff"), /^ *[-+]\d\d:\d\d\b/m)

  const bold = /^(?:.*\r\u001b\[2K)?\u001b\[1m[^\u001b]+\u001b\[0m\r$/m
  const [red, yellow] = [/\u001b\[31m[^\u001b]+\u001b\[0m/, /\u001b\[33m[^\u001b]+\u001b\[0m/]
  const written = (call: string) => find(call)?.written ?? ""
  const ofCopy = [
    "list",
    "summary",
    "payroll check",
    "copy status",
    "payroll diff",
    "payroll list",
    "payroll correct",
    "config show"
  ]
  for (const call of [...ofCopy, "fleet list", "fleet status"]) {
    assert.match(written(call), bold, call)
  }
  for (const call of ["payroll due", "payroll correct", "payroll diff"]) assert.match(written(call), red, call)
  assert.match(written("payroll correct"), /\u001b\[31mclose 1: user \d+ .* lost all hours/)
  for (const call of ["list", "summary", "payroll check", "payroll close", "fleet list", "fleet status"]) {
    assert.match(written(call), yellow, call)
  }
  for (const [call, each] of shown) if (call.includes("--json")) assert.notInclude(each.written, "\u001b")
}
